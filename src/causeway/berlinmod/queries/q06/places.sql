-- view meetings: meetings(truck, truck, 10)
SELECT Licence1, Licence2, Pos.t[0] AS t, Pos.x[0] AS x, Pos.y[0] AS y FROM meetings WHERE Licence1 < Licence2
