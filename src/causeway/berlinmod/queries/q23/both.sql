-- view found: nearest_nodes(QueryPoints1)
SELECT * FROM (
    SELECT DISTINCT PO.Pos AS Pos, PP.Period AS Period, C.Licence AS Licence,
                    round(greatest(found.begin, PP.Period.begin)) AS begin, round(least(found.end, PP.Period.end)) AS end
    FROM found JOIN QueryPeriods1 PP ON found.begin < PP.Period.end AND found.end > PP.Period.begin
    JOIN QueryPoints1 PO ON PO.Id = found.reference JOIN Vehicles C ON C.vehicle = found.candidate)
WHERE begin < end
