-- view driven: lengths(QueryPeriods)
WITH Distances AS (SELECT Id, vehicle, sum(Dist) AS Length FROM driven GROUP BY Id, vehicle)
SELECT PP.Period AS Period, max(Distances.Length) AS Dist
FROM Distances JOIN QueryPeriods PP ON PP.Id = Distances.Id
GROUP BY PP.Period
