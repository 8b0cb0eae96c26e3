SELECT DISTINCT V1.Licence AS Licence, PP.Period AS Period, mo_length(atperiods(V1.Trip, PP.Period)) AS Dist
FROM dataScar V1, QueryPeriods1 PP, QueryLicences1 LL
WHERE V1.Licence = LL.Licence AND present(V1.Trip, PP.Period)
