SELECT DISTINCT RR.Region AS Region, PP.Period AS Period, C.Licence AS Licence
FROM dataMtrip C, QueryRegions1 RR, QueryPeriods1 PP
WHERE NOT isempty(at(atperiods(C.Trip, PP.Period), RR.Region))
