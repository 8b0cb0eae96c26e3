SELECT LL1.Licence AS Licence1, LL2.Licence AS Licence2,
       min(line_distance(trajectory(T1.Trip), trajectory(T2.Trip))) AS Dist
FROM dataMtrip T1, dataMtrip T2, QueryLicences1 LL1, QueryLicences2 LL2
WHERE T1.Licence = LL1.Licence AND T2.Licence = LL2.Licence AND T1.Licence <> T2.Licence
GROUP BY LL1.Licence, LL2.Licence
