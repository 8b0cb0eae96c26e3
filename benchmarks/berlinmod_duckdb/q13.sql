WITH clipped AS (
    SELECT u.vehicle, p.Period, greatest(t0, p.Period.begin) AS s, least(t1, p.Period.end) AS e,
           placed(x0, x1, t0, t1, s) AS xs, placed(y0, y1, t0, t1, s) AS ys,
           placed(x0, x1, t0, t1, e) AS xe, placed(y0, y1, t0, t1, e) AS ye
    FROM units u JOIN QueryPeriods1 p ON t0 <= p.Period.end AND t1 > p.Period.begin
)
SELECT DISTINCT r.Region, s.Period, c.Licence
FROM clipped s JOIN QueryRegions1 r ON ST_Intersects(way(xs, ys, xe, ye), r.area) JOIN dataMcar c USING (vehicle)
