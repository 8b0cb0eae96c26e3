-- view found: groups(QueryLicences, QueryPeriods1, groups)
SELECT * FROM (
    SELECT DISTINCT found.group1 AS Group1, found.group2 AS Group2, PP.Period AS Period, C.Licence AS Licence,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN Vehicles C ON C.vehicle = found.candidate)
WHERE begin < end
