SELECT DISTINCT PP.Pos AS Pos, C.Licence AS Licence
FROM dataScar C, QueryPoints PP
WHERE passes(C.Trip, PP.Place)
