WITH places AS (
    SELECT vehicle, Instant, ST_Point(placed(x0, x1, t0, t1, Instant), placed(y0, y1, t0, t1, Instant)) AS place
    FROM QueryInstants1 JOIN units ON t0 <= Instant AND Instant < t1
)
SELECT DISTINCT r.Region, s.Instant, c.Licence
FROM places s JOIN QueryRegions1 r ON ST_Intersects(s.place, r.area) JOIN dataMcar c USING (vehicle)
