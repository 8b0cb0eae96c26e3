-- kept view here: positions(QueryInstants1)
WITH There AS (
    SELECT DISTINCT PP.Pos AS Pos, II.Instant AS Instant, here.Licence AS Licence
    FROM here JOIN QueryInstants1 II ON II.Id = here.Id
    JOIN QueryPoints1 PP ON here.x BETWEEN PP.Pos.x - 10 AND PP.Pos.x + 10 AND here.y BETWEEN PP.Pos.y - 10 AND PP.Pos.y + 10
    WHERE is_at(named_struct('x', here.x, 'y', here.y), PP.Pos)
)
SELECT A.Pos AS Pos, A.Instant AS Instant, A.Licence AS Licence1, B.Licence AS Licence2
FROM There A JOIN There B ON A.Pos = B.Pos AND A.Instant = B.Instant AND A.Licence < B.Licence
