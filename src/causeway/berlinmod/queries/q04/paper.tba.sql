SELECT DISTINCT PP.Pos AS Pos, C.Licence AS Licence
FROM dataMtrip C, QueryPoints PP
WHERE passes(C.Trip, PP.Place)
