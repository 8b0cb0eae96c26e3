SELECT DISTINCT p.Pos, c.Licence
FROM QueryPoints p JOIN trips t ON ST_DWithin(t.line, p.place, 0.01) JOIN dataMcar c USING (vehicle)
