-- view found: nearest_vehicles(QueryLicences1, 10, QueryPeriods1)
SELECT * FROM (
    SELECT DISTINCT LL.Licence AS Licence, PP.Period AS Period, C.Licence AS Neighbour,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN QueryLicences1 LL ON LL.vehicle = found.reference JOIN Vehicles C ON C.vehicle = found.candidate)
WHERE begin < end
