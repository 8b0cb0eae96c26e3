-- view driven: lengths(QueryPeriods1, QueryLicences1)
SELECT DISTINCT Licence, Period, Dist
FROM (SELECT driven.Licence AS Licence, PP.Id AS Id, first(PP.Period) AS Period, sum(driven.Dist) AS Dist
      FROM driven JOIN QueryPeriods1 PP ON PP.Id = driven.Id
      GROUP BY driven.Licence, PP.Id)
