WITH moments AS (
    SELECT l.Licence, l.vehicle, p.Period, unnest([p.Period.begin, p.Period.end]) AS moment, unnest([-1, 1]) AS sign
    FROM QueryLicences1 l, (SELECT DISTINCT Period FROM QueryPeriods1) p
)
SELECT Licence, Period,
       sum(sign * (driven + sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2) * least((moment - t0) / (t1 - t0), 1))) AS Dist
FROM moments m ASOF JOIN units u ON m.vehicle = u.vehicle AND u.t0 <= m.moment
GROUP BY Licence, Period
