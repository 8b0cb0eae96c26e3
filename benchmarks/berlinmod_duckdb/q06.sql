WITH trucks AS (SELECT u.*, Licence FROM unit_cells u JOIN dataMcar USING (vehicle) WHERE Type = 'truck'),
pairs AS (
    SELECT a.Licence AS Licence1, b.Licence AS Licence2, greatest(a.t0, b.t0) AS s, least(a.t1, b.t1) AS e,
           placed(a.x0, a.x1, a.t0, a.t1, s) - placed(b.x0, b.x1, b.t0, b.t1, s) AS dx0,
           placed(a.y0, a.y1, a.t0, a.t1, s) - placed(b.y0, b.y1, b.t0, b.t1, s) AS dy0,
           placed(a.x0, a.x1, a.t0, a.t1, e) - placed(b.x0, b.x1, b.t0, b.t1, e) AS dx1,
           placed(a.y0, a.y1, a.t0, a.t1, e) - placed(b.y0, b.y1, b.t0, b.t1, e) AS dy1
    FROM trucks a JOIN trucks b USING (cell_x, cell_y)
    WHERE a.t0 < b.t1 AND b.t0 < a.t1 AND a.Licence < b.Licence
      AND least(a.x0, a.x1) - 10 <= greatest(b.x0, b.x1) AND least(b.x0, b.x1) - 10 <= greatest(a.x0, a.x1)
      AND least(a.y0, a.y1) - 10 <= greatest(b.y0, b.y1) AND least(b.y0, b.y1) - 10 <= greatest(a.y0, a.y1)
)
SELECT DISTINCT Licence1, Licence2 FROM pairs WHERE least_square(dx0, dy0, dx1, dy1) <= 100
