-- view found: nearest_points(QueryLicences1, QueryPoints, 3, QueryPeriods1)
SELECT * FROM (
    SELECT DISTINCT LL.Licence AS Licence, PP.Period AS Period, PO.Id AS Id, PO.Pos AS Pos,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN QueryLicences1 LL ON LL.vehicle = found.reference JOIN QueryPoints PO ON PO.Id = found.candidate)
WHERE begin < end
