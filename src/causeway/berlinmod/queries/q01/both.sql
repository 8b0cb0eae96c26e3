SELECT DISTINCT LL.Licence AS Licence, C.Model AS Model
FROM Vehicles C JOIN QueryLicences LL ON C.Licence = LL.Licence
