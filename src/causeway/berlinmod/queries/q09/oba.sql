-- view driven: lengths(QueryPeriods)
SELECT PP.Period AS Period, max(driven.Dist) AS Dist
FROM driven JOIN QueryPeriods PP ON PP.Id = driven.Id
GROUP BY PP.Period
