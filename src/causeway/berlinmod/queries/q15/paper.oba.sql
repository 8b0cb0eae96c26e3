SELECT DISTINCT PO.Pos AS Pos, PR.Period AS Period, C.Licence AS Licence
FROM dataScar C, QueryPoints1 PO, QueryPeriods1 PR
WHERE NOT isempty(at(atperiods(C.Trip, PR.Period), PO.Place))
