WITH clipped AS (
    SELECT u.vehicle, p.Period, q.Pos, greatest(t0, p.Period.begin) AS s, least(t1, p.Period.end) AS e,
           placed(x0, x1, t0, t1, s) - q.Pos.x AS xs, placed(y0, y1, t0, t1, s) - q.Pos.y AS ys,
           placed(x0, x1, t0, t1, e) - q.Pos.x AS xe, placed(y0, y1, t0, t1, e) - q.Pos.y AS ye
    FROM QueryPoints1 q JOIN trips t ON ST_DWithin(t.line, q.place, 0.01)
    JOIN units u USING (vehicle, trip)
    JOIN QueryPeriods1 p ON t0 <= p.Period.end AND t1 > p.Period.begin
)
SELECT DISTINCT s.Pos, s.Period, c.Licence
FROM clipped s JOIN dataMcar c USING (vehicle) WHERE least_square(xs, ys, xe, ye) <= 0.01 ** 2
