-- The relations are in an order in which Spark has not all pairs of vehicles before it asks where they are.
SELECT DISTINCT PP.Pos AS Pos, II.Instant AS Instant, C1.Licence AS Licence1, C2.Licence AS Licence2
FROM dataMtrip C1, QueryPoints1 PP, QueryInstants1 II, dataMtrip C2
WHERE is_at(val(atinstant(C1.Trip, II.Instant)), PP.Pos)
  AND is_at(val(atinstant(C2.Trip, II.Instant)), PP.Pos)
  AND C1.Licence < C2.Licence
