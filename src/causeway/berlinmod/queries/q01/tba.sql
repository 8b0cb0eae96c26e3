SELECT DISTINCT LL.Licence AS Licence, C.Model AS Model
FROM dataMcar C JOIN QueryLicences LL ON C.Licence = LL.Licence
