-- view visits: visits(QueryPoints)
SELECT DISTINCT Pos, Licence
FROM (SELECT PP.Pos AS Pos, visits.Licence AS Licence, visits.begin AS begin,
             min(visits.begin) OVER (PARTITION BY PP.Pos) AS first
      FROM visits JOIN QueryPoints PP ON PP.Id = visits.Id JOIN Vehicles C ON C.vehicle = visits.vehicle
      WHERE C.Type = 'passenger')
WHERE begin = first
