SELECT DISTINCT LL1.Licence AS Licence1, LL2.Licence AS Licence2,
       line_distance(trajectory(V1.Trip), trajectory(V2.Trip)) AS Dist
FROM dataScar V1, dataScar V2, QueryLicences1 LL1, QueryLicences2 LL2
WHERE V1.Licence = LL1.Licence AND V2.Licence = LL2.Licence AND V1.Licence <> V2.Licence
