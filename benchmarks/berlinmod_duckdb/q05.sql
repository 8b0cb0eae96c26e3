-- Points on straight ways are left out first: the work grows with the product of both sides' points.
WITH lines AS (SELECT vehicle, ST_Collect(list(ST_Simplify(line, 0.0001))) AS line FROM trips
               WHERE vehicle IN (SELECT vehicle FROM QueryLicences WHERE Id <= 20) GROUP BY vehicle)
SELECT a.Licence AS Licence1, b.Licence AS Licence2, ST_Distance(m.line, n.line) AS Dist
FROM QueryLicences1 a, QueryLicences2 b, lines m, lines n
WHERE a.vehicle = m.vehicle AND b.vehicle = n.vehicle AND a.vehicle <> b.vehicle
