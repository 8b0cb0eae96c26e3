SELECT PP.Period AS Period, max(mo_length(atperiods(V1.Trip, PP.Period))) AS Dist
FROM dataScar V1, QueryPeriods PP
WHERE present(V1.Trip, PP.Period)
GROUP BY PP.Period
