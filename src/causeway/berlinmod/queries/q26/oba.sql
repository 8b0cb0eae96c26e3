-- view found: groups(QueryLicences, QueryPeriods1, groups)
WITH Joined AS (     -- intervals that follow each other are one
    SELECT group1, group2, candidate, min(begin) AS begin, max(end) AS end
    FROM (SELECT *, sum(CASE WHEN begin <= before + 0.5 THEN 0 ELSE 1 END)
                    OVER (PARTITION BY group1, group2, candidate ORDER BY begin, end) AS piece
          FROM (SELECT *, max(end) OVER (PARTITION BY group1, group2, candidate ORDER BY begin, end
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                FROM found))
    GROUP BY group1, group2, candidate, piece
)
SELECT * FROM (
    SELECT DISTINCT Joined.group1 AS Group1, Joined.group2 AS Group2, PP.Period AS Period, C.Licence AS Licence,
                round(greatest(Joined.begin, PP.Period.begin)) AS begin,
                round(least(Joined.end, PP.Period.end)) AS end
    FROM Joined JOIN QueryPeriods1 PP ON Joined.begin < PP.Period.end AND Joined.end > PP.Period.begin
    JOIN dataScar C ON C.vehicle = Joined.candidate)
WHERE begin < end
