-- view found: groups(QueryLicences, QueryPeriods1, QueryPoints)
WITH Joined AS (     -- intervals that follow each other are one
    SELECT group2, candidate, min(begin) AS begin, max(end) AS end
    FROM (SELECT *, sum(CASE WHEN begin <= before + 0.5 THEN 0 ELSE 1 END)
                    OVER (PARTITION BY group2, candidate ORDER BY begin, end) AS piece
          FROM (SELECT *, max(end) OVER (PARTITION BY group2, candidate ORDER BY begin, end
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                FROM found))
    GROUP BY group2, candidate, piece
)
SELECT * FROM (
    SELECT DISTINCT Joined.group2 AS Group, PP.Period AS Period, PO.Id AS Id, PO.Pos AS Pos,
                round(greatest(Joined.begin, PP.Period.begin)) AS begin,
                round(least(Joined.end, PP.Period.end)) AS end
    FROM Joined JOIN QueryPeriods1 PP ON Joined.begin < PP.Period.end AND Joined.end > PP.Period.begin
    JOIN QueryPoints PO ON PO.Id = Joined.candidate)
WHERE begin < end
