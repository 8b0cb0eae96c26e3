-- view here: positions(QueryInstants1)
SELECT DISTINCT RR.Region AS Region, II.Instant AS Instant, here.Licence AS Licence
FROM here JOIN QueryInstants1 II ON II.Id = here.Id
JOIN QueryRegions1 RR ON here.x BETWEEN array_min(RR.Region.x) AND array_max(RR.Region.x)
    AND here.y BETWEEN array_min(RR.Region.y) AND array_max(RR.Region.y)
WHERE inside(named_struct('x', here.x, 'y', here.y), RR.Region)
