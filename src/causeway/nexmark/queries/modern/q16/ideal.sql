-- The bids of a channel and day: how many are not counted yet, mean over channels and days.
-- distance: value
-- unit: bids
-- ours: key=concat(channel, ', ', day) value=total_bids
WITH counted AS (
    SELECT dateTime, concat(channel, ', ', date_format(dateTime, 'yyyy-MM-dd')) AS key, COUNT(*) AS bids
    FROM bid
    GROUP BY channel, dateTime
)
SELECT dateTime AS time, key, SUM(bids) OVER (PARTITION BY key ORDER BY dateTime) AS value
FROM counted
