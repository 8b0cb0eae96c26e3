-- kept view visits: visits(QueryRegions1, QueryLicences1, QueryLicences2)
-- view meetings: meetings(QueryLicences1, QueryLicences2, same)
WITH Inside AS (     -- who is in a region during a period, and when: at both ends closed or open
    SELECT visits.vehicle, visits.Licence, visits.Id AS region, PP.Id AS period,
           greatest(visits.begin, PP.Period.begin) AS begin, least(visits.end, PP.Period.end) AS end,
           visits.end_closed OR visits.end > PP.Period.end AS end_closed
    FROM visits JOIN QueryPeriods1 PP ON visits.begin <= PP.Period.end
        AND (visits.end > PP.Period.begin OR (visits.end = PP.Period.begin AND visits.end_closed))
),
Met AS (
    SELECT vehicle1, vehicle2, span.begin, span.end, span.begin_closed, span.end_closed
    FROM (SELECT vehicle1, vehicle2, explode(arrays_zip(begin, end, begin_closed, end_closed)) AS span FROM meetings)
),
Pairs AS (
    SELECT DISTINCT A.period, A.region, A.vehicle AS vehicle1, B.vehicle AS vehicle2,
                    A.Licence AS Licence1, B.Licence AS Licence2
    FROM Inside A JOIN Inside B ON A.region = B.region AND A.period = B.period
    WHERE A.Licence < B.Licence AND A.vehicle IN (SELECT vehicle FROM QueryLicences1)
        AND B.vehicle IN (SELECT vehicle FROM QueryLicences2)
)
SELECT DISTINCT PP.Period AS Period, RR.Region AS Region, Licence1, Licence2
FROM Pairs JOIN QueryPeriods1 PP ON PP.Id = Pairs.period JOIN QueryRegions1 RR ON RR.Id = Pairs.region
WHERE NOT EXISTS (
    SELECT 1
    FROM Met JOIN Inside ON Inside.vehicle = Met.vehicle1
    WHERE Met.vehicle1 = Pairs.vehicle1 AND Met.vehicle2 = Pairs.vehicle2
        AND Inside.region = Pairs.region AND Inside.period = Pairs.period
        AND (Met.begin < Inside.end OR (Met.begin = Inside.end AND Met.begin_closed AND Inside.end_closed))
        AND (Inside.begin < Met.end OR (Inside.begin = Met.end AND Met.end_closed))
)
