-- A period that is drawn twice counts once.
WITH Distances AS (
    SELECT sum(mo_length(atperiods(V1.Trip, PP.Period))) AS Length, PP.Period AS Period, V1.Licence AS Licence
    FROM dataMtrip V1, (SELECT DISTINCT Period FROM QueryPeriods) PP
    WHERE present(V1.Trip, PP.Period)
    GROUP BY PP.Period, V1.Licence
)
SELECT Period, max(Length) AS Dist FROM Distances GROUP BY Period
