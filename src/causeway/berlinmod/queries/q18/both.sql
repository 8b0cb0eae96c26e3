-- kept view here: positions(QueryInstants1)
WITH Apart AS (
    SELECT II.Instant AS Instant, Q.Licence AS Licence, N.Licence AS Neighbour,
           sqrt(power(N.x - Q.x, 2) + power(N.y - Q.y, 2)) AS Dist
    FROM here Q JOIN here N ON N.Id = Q.Id AND N.vehicle <> Q.vehicle
    JOIN (SELECT DISTINCT vehicle FROM QueryLicences1) LL ON LL.vehicle = Q.vehicle
    JOIN QueryInstants1 II ON II.Id = Q.Id
)
-- Ties are all told: equal is what rounding alone may part.
SELECT DISTINCT Licence, Instant, Neighbour, Dist
FROM (SELECT *, max(CASE WHEN place <= 10 THEN Dist END) OVER (PARTITION BY Licence, Instant) AS tenth
      FROM (SELECT *, rank() OVER (PARTITION BY Licence, Instant ORDER BY Dist) AS place
            FROM (SELECT DISTINCT * FROM Apart)))
WHERE Dist <= tenth + 1e-8D
