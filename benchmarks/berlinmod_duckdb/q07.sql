WITH visited AS (
    SELECT p.Pos, t.vehicle, t.trip
    FROM QueryPoints p JOIN trips t ON ST_DWithin(t.line, p.place, 0.01) JOIN dataMcar c USING (vehicle)
    WHERE c.Type = 'passenger'
),
arrivals AS (
    SELECT v.Pos, vehicle,
           min(t0 + (t1 - t0) * part_entered(x0 - Pos.x, y0 - Pos.y, x1 - Pos.x, y1 - Pos.y, 0.01)) AS first
    FROM visited v JOIN units u USING (vehicle, trip)
    WHERE least_square(x0 - Pos.x, y0 - Pos.y, x1 - Pos.x, y1 - Pos.y) <= 0.01 ** 2
    GROUP BY v.Pos, vehicle
)
SELECT DISTINCT Pos, Licence FROM arrivals JOIN dataMcar USING (vehicle)
QUALIFY first = min(first) OVER (PARTITION BY Pos)
