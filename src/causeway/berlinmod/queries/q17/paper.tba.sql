WITH PosCount AS (
    SELECT PP.Pos AS Pos, count(DISTINCT C.Licence) AS Hits
    FROM QueryPoints PP, dataMtrip C
    WHERE passes(C.Trip, PP.Place)
    GROUP BY PP.Pos
)
SELECT N.Pos AS Pos FROM PosCount N WHERE N.Hits = (SELECT max(Hits) FROM PosCount)
