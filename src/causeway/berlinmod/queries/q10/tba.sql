-- view meetings: meetings(QueryLicences1, all, 3)
SELECT Licence1 AS QueryLicence, Licence2 AS OtherLicence, mo_concat(collect_list(Pos)) AS Pos
FROM meetings
GROUP BY Licence1, Licence2
