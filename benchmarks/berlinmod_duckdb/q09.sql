WITH moments AS (
    SELECT vehicle, p.Period, unnest([p.Period.begin, p.Period.end]) AS moment, unnest([-1, 1]) AS sign
    FROM dataMcar, (SELECT DISTINCT Period FROM QueryPeriods) p
),
lengths AS (
    SELECT m.vehicle, Period,
           sum(sign * (driven + sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2) * least((moment - t0) / (t1 - t0), 1))) AS metres
    FROM moments m ASOF JOIN units u ON m.vehicle = u.vehicle AND u.t0 <= m.moment
    GROUP BY m.vehicle, Period
)
SELECT Period, max(metres) AS Dist FROM lengths GROUP BY Period
