-- view found: groups(QueryLicences, QueryPeriods1, QueryPoints)
SELECT * FROM (
    SELECT DISTINCT found.group2 AS Group, PP.Period AS Period, PO.Id AS Id, PO.Pos AS Pos,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN QueryPoints PO ON PO.Id = found.candidate)
WHERE begin < end
