SELECT DISTINCT PP.Pos AS Pos, II.Instant AS Instant, C1.Licence AS Licence1, C2.Licence AS Licence2
FROM dataMtrip C1, dataMtrip C2, QueryPoints1 PP, QueryInstants1 II
WHERE is_at(val(atinstant(C1.Trip, II.Instant)), PP.Pos)
  AND is_at(val(atinstant(C2.Trip, II.Instant)), PP.Pos)
  AND C1.Licence < C2.Licence
