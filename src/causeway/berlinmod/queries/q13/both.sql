-- view visits: visits(QueryRegions1)
SELECT DISTINCT RR.Region AS Region, PP.Period AS Period, visits.Licence AS Licence
FROM visits JOIN QueryRegions1 RR ON RR.Id = visits.Id
JOIN QueryPeriods1 PP ON visits.begin <= PP.Period.end
    AND (visits.end > PP.Period.begin OR (visits.end = PP.Period.begin AND visits.end_closed))
