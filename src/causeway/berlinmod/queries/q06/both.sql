-- view meetings: meetings(truck, truck, 10)
SELECT DISTINCT Licence1, Licence2 FROM meetings WHERE Licence1 < Licence2
