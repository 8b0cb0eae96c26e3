-- view found: nearest_vehicles(QueryRegions1, 10, QueryPeriods1)
SELECT * FROM (
    SELECT DISTINCT RR.Id AS Id, PP.Period AS Period, C.Licence AS Licence,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN QueryRegions1 RR ON RR.Id = found.reference JOIN Vehicles C ON C.vehicle = found.candidate)
WHERE begin < end
