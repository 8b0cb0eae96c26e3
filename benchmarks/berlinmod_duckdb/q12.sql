WITH places AS (
    SELECT vehicle, Instant, placed(x0, x1, t0, t1, Instant) AS x, placed(y0, y1, t0, t1, Instant) AS y
    FROM QueryInstants1 JOIN units ON t0 <= Instant AND Instant < t1
),
visits AS (
    SELECT DISTINCT c.Licence, p.Pos, s.Instant
    FROM places s JOIN QueryPoints1 p ON (s.x - Pos.x) ** 2 + (s.y - Pos.y) ** 2 <= 0.01 ** 2
    JOIN dataMcar c USING (vehicle)
)
SELECT a.Pos, a.Instant, a.Licence AS Licence1, b.Licence AS Licence2
FROM visits a JOIN visits b ON a.Pos = b.Pos AND a.Instant = b.Instant AND a.Licence < b.Licence
