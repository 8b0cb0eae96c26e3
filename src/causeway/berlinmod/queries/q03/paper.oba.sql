SELECT DISTINCT LL.Licence AS Licence, II.Instant AS Instant, val(atinstant(C.Trip, II.Instant)) AS Pos
FROM dataScar C, QueryLicences1 LL, QueryInstants1 II
WHERE C.Licence = LL.Licence AND present(C.Trip, II.Instant)
