WITH listed AS (SELECT vehicle FROM QueryLicences1 UNION SELECT vehicle FROM QueryLicences2),
clipped AS (
    SELECT u.*, p.Id AS period, greatest(t0, p.Period.begin) AS s, least(t1, p.Period.end) AS e,
           placed(x0, x1, t0, t1, s) AS xs, placed(y0, y1, t0, t1, s) AS ys,
           placed(x0, x1, t0, t1, e) AS xe, placed(y0, y1, t0, t1, e) AS ye
    FROM units u SEMI JOIN listed USING (vehicle)
    JOIN QueryPeriods1 p ON t0 <= p.Period.end AND t1 > p.Period.begin
),
inside AS (
    SELECT s.*, r.Id AS region, r.area
    FROM clipped s JOIN QueryRegions1 r ON ST_Intersects(way(xs, ys, xe, ye), r.area)
),
here AS (SELECT DISTINCT vehicle, Licence, period, region FROM inside JOIN dataMcar USING (vehicle)),
pairs AS (
    SELECT a.vehicle AS vehicle1, b.vehicle AS vehicle2, a.Licence AS Licence1, b.Licence AS Licence2, period, region
    FROM here a JOIN here b USING (period, region)
    WHERE a.Licence < b.Licence AND a.vehicle IN (SELECT vehicle FROM QueryLicences1)
      AND b.vehicle IN (SELECT vehicle FROM QueryLicences2)
),
together AS (
    SELECT p.*, a.area, greatest(a.s, b.s) AS since, least(a.e, b.e) AS until,
           placed(a.x0, a.x1, a.t0, a.t1, since) AS x_since, placed(a.y0, a.y1, a.t0, a.t1, since) AS y_since,
           placed(a.x0, a.x1, a.t0, a.t1, until) AS x_until, placed(a.y0, a.y1, a.t0, a.t1, until) AS y_until,
           x_since - placed(b.x0, b.x1, b.t0, b.t1, since) AS dx0, y_since - placed(b.y0, b.y1, b.t0, b.t1, since) AS dy0,
           x_until - placed(b.x0, b.x1, b.t0, b.t1, until) AS dx1, y_until - placed(b.y0, b.y1, b.t0, b.t1, until) AS dy1
    FROM pairs p JOIN inside a ON p.vehicle1 = a.vehicle AND p.period = a.period AND p.region = a.region
    JOIN clipped b ON p.vehicle2 = b.vehicle AND p.period = b.period AND a.s <= b.e AND b.s <= a.e
),
met AS (
    SELECT period, region, vehicle1, vehicle2, area, x_since AS xs, y_since AS ys, x_until AS xe, y_until AS ye,
           part_entered(dx0, dy0, dx1, dy1, 0.01) AS f, part_left(dx0, dy0, dx1, dy1, 0.01) AS g
    FROM together WHERE least_square(dx0, dy0, dx1, dy1) <= 0.01 ** 2
),
met_there AS (
    SELECT period, region, vehicle1, vehicle2 FROM met
    WHERE ST_Intersects(way(xs + f * (xe - xs), ys + f * (ye - ys), xs + g * (xe - xs), ys + g * (ye - ys)), area)
)
SELECT DISTINCT p.Period, r.Region, Licence1, Licence2
FROM pairs ANTI JOIN met_there USING (period, region, vehicle1, vehicle2)
JOIN QueryPeriods1 p ON p.Id = pairs.period JOIN QueryRegions1 r ON r.Id = pairs.region
