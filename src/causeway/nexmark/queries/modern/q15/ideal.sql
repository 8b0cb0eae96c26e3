-- The bids of a day: how many are not counted yet, mean over days.
-- distance: value
-- unit: bids
-- ours: key=day value=total_bids
SELECT
    dateTime AS time, date_format(dateTime, 'yyyy-MM-dd') AS key,
    SUM(COUNT(*)) OVER (PARTITION BY date_format(dateTime, 'yyyy-MM-dd') ORDER BY dateTime) AS value
FROM bid
GROUP BY dateTime
