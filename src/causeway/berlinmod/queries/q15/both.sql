-- view visits: visits(QueryPoints1)
SELECT DISTINCT PO.Pos AS Pos, PR.Period AS Period, visits.Licence AS Licence
FROM visits JOIN QueryPoints1 PO ON PO.Id = visits.Id
JOIN QueryPeriods1 PR ON visits.begin <= PR.Period.end
    AND (visits.end > PR.Period.begin OR (visits.end = PR.Period.begin AND visits.end_closed))
