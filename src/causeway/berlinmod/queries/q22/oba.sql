-- view found: nearest_vehicles(QueryPoints, 1, always, QueryLicences)
WITH Joined AS (     -- intervals that follow each other are one
    SELECT reference, candidate, min(begin) AS begin, max(end) AS end
    FROM (SELECT *, sum(CASE WHEN begin <= before + 0.5 THEN 0 ELSE 1 END)
                    OVER (PARTITION BY reference, candidate ORDER BY begin, end) AS piece
          FROM (SELECT *, max(end) OVER (PARTITION BY reference, candidate ORDER BY begin, end
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
                FROM found))
    GROUP BY reference, candidate, piece
)
SELECT * FROM (
    SELECT DISTINCT LL.Licence AS Licence, PO.Id AS Id, PO.Pos AS Pos, round(Joined.begin) AS begin, round(Joined.end) AS end
    FROM Joined JOIN QueryPoints PO ON PO.Id = Joined.reference JOIN QueryLicences LL ON LL.vehicle = Joined.candidate)
WHERE begin < end
