SELECT DISTINCT LL.Licence AS Licence, C.Model AS Model
FROM dataScar C, QueryLicences LL
WHERE C.Licence = LL.Licence
