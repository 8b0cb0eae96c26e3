-- view here: positions(QueryInstants1, QueryLicences1)
SELECT DISTINCT here.Licence AS Licence, II.Instant AS Instant, named_struct('x', here.x, 'y', here.y) AS Pos
FROM here JOIN QueryInstants1 II ON II.Id = here.Id
