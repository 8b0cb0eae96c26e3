-- The paper's `<= ALL (subquery)`, which Spark does not have, is `=` the smallest.
WITH Arrivals AS (
    SELECT PP.Pos AS Pos, V.Licence AS Licence, inst(initial(at(V.Trip, PP.Place))) AS FirstTime
    FROM dataScar V, QueryPoints PP
    WHERE V.Type = 'passenger' AND passes(V.Trip, PP.Place)
)
SELECT DISTINCT V1.Pos AS Pos, V1.Licence AS Licence
FROM Arrivals V1
WHERE V1.FirstTime = (SELECT min(V2.FirstTime) FROM Arrivals V2 WHERE V2.Pos = V1.Pos)
