WITH hits AS (
    SELECT p.Pos, count(DISTINCT t.vehicle) AS vehicles
    FROM QueryPoints p JOIN trips t ON ST_DWithin(t.line, p.place, 0.01) GROUP BY p.Pos
)
SELECT Pos FROM hits WHERE vehicles = (SELECT max(vehicles) FROM hits)
