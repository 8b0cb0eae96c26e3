-- view driven: lengths(QueryPeriods1, QueryLicences1)
SELECT DISTINCT driven.Licence AS Licence, PP.Period AS Period, driven.Dist AS Dist
FROM driven JOIN QueryPeriods1 PP ON PP.Id = driven.Id
