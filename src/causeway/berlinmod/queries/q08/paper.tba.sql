-- A licence or period that is drawn twice counts once.
SELECT V1.Licence AS Licence, PP.Period AS Period, sum(mo_length(atperiods(V1.Trip, PP.Period))) AS Dist
FROM dataMtrip V1, (SELECT DISTINCT Period FROM QueryPeriods1) PP, (SELECT DISTINCT Licence FROM QueryLicences1) LL
WHERE V1.Licence = LL.Licence AND present(V1.Trip, PP.Period)
GROUP BY V1.Licence, PP.Period
