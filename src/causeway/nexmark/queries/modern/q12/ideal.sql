-- The bids of a bidder, over all windows of the clock: how many are not counted yet, mean over bidders.
-- distance: value
-- unit: bids
-- ours: key=concat('bidder ', bidder) part=starttime value=bid_count
SELECT
    dateTime AS time, concat('bidder ', bidder) AS key,
    SUM(COUNT(*)) OVER (PARTITION BY bidder ORDER BY dateTime) AS value
FROM bid
GROUP BY bidder, dateTime
