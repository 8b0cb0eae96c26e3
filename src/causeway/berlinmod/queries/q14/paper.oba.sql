SELECT DISTINCT RR.Region AS Region, II.Instant AS Instant, C.Licence AS Licence
FROM dataScar C, QueryRegions1 RR, QueryInstants1 II
WHERE inside(val(atinstant(C.Trip, II.Instant)), RR.Region)
