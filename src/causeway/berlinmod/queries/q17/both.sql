-- view visits: visits(QueryPoints)
WITH PosCount AS (
    SELECT PP.Pos AS Pos, count(DISTINCT visits.vehicle) AS Hits
    FROM visits JOIN QueryPoints PP ON PP.Id = visits.Id
    GROUP BY PP.Pos
)
SELECT Pos FROM (SELECT Pos, Hits, max(Hits) OVER () AS most FROM PosCount) WHERE Hits = most
