SELECT DISTINCT C.Licence AS Licence, PP.Pos AS Pos, II.Instant AS Instant
FROM dataMtrip C, QueryPoints1 PP, QueryInstants1 II
WHERE is_at(val(atinstant(C.Trip, II.Instant)), PP.Pos)
