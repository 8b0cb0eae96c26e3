-- The bids of an auction and day: how many are not counted yet, mean over auctions and days.
-- distance: value
-- unit: bids
-- ours: key=concat('auction ', auction, ', ', day) value=total_bids
WITH counted AS (
    SELECT
        dateTime, concat('auction ', auction, ', ', date_format(dateTime, 'yyyy-MM-dd')) AS key,
        COUNT(*) AS bids
    FROM bid
    GROUP BY auction, dateTime
)
SELECT dateTime AS time, key, SUM(bids) OVER (PARTITION BY key ORDER BY dateTime) AS value
FROM counted
