-- view here: positions(QueryInstants1)
SELECT DISTINCT here.Licence AS Licence, PP.Pos AS Pos, II.Instant AS Instant
FROM here JOIN QueryInstants1 II ON II.Id = here.Id
JOIN QueryPoints1 PP ON here.x BETWEEN PP.Pos.x - 10 AND PP.Pos.x + 10 AND here.y BETWEEN PP.Pos.y - 10 AND PP.Pos.y + 10
WHERE is_at(named_struct('x', here.x, 'y', here.y), PP.Pos)
