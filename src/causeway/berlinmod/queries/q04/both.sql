-- view visits: visits(QueryPoints)
SELECT DISTINCT PP.Pos AS Pos, visits.Licence AS Licence
FROM visits JOIN QueryPoints PP ON PP.Id = visits.Id
