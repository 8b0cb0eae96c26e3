-- view meetings: meetings(QueryLicences1, all, 3)
SELECT Licence1 AS QueryLicence, Licence2 AS OtherLicence, Pos FROM meetings
