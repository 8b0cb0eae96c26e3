-- Intervals instead of a moving point: a row for each pair of units while they are near.
WITH mine AS (SELECT u.*, Licence FROM unit_cells u JOIN QueryLicences1 USING (vehicle)),
pairs AS (
    SELECT a.Licence AS QueryLicence, b.vehicle AS other, greatest(a.t0, b.t0) AS s, least(a.t1, b.t1) AS e,
           placed(a.x0, a.x1, a.t0, a.t1, s) - placed(b.x0, b.x1, b.t0, b.t1, s) AS dx0,
           placed(a.y0, a.y1, a.t0, a.t1, s) - placed(b.y0, b.y1, b.t0, b.t1, s) AS dy0,
           placed(a.x0, a.x1, a.t0, a.t1, e) - placed(b.x0, b.x1, b.t0, b.t1, e) AS dx1,
           placed(a.y0, a.y1, a.t0, a.t1, e) - placed(b.y0, b.y1, b.t0, b.t1, e) AS dy1
    FROM mine a JOIN unit_cells b USING (cell_x, cell_y)
    WHERE a.t0 < b.t1 AND b.t0 < a.t1 AND a.vehicle <> b.vehicle
      AND least(a.x0, a.x1) - 3 <= greatest(b.x0, b.x1) AND least(b.x0, b.x1) - 3 <= greatest(a.x0, a.x1)
      AND least(a.y0, a.y1) - 3 <= greatest(b.y0, b.y1) AND least(b.y0, b.y1) - 3 <= greatest(a.y0, a.y1)
)
SELECT DISTINCT QueryLicence, c.Licence AS OtherLicence, s + (e - s) * part_entered(dx0, dy0, dx1, dy1, 3) AS begin,
       s + (e - s) * part_left(dx0, dy0, dx1, dy1, 3) AS end
FROM pairs JOIN dataMcar c ON c.vehicle = other
WHERE least_square(dx0, dy0, dx1, dy1) <= 9
