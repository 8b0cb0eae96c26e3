SELECT DISTINCT LL.Licence AS Licence, C.Model AS Model
FROM dataMcar C, QueryLicences LL
WHERE C.Licence = LL.Licence
