-- Query 7, Highest Bid: every ten minutes the bids of the highest price in the ten minutes before, the end
-- itself not included.
WITH placed AS (
    SELECT
        itemid, price, unix_millis(bidTime) DIV 600000 AS fixed_range,
        MAX(price) OVER (PARTITION BY unix_millis(bidTime) DIV 600000) AS highest
    FROM bid
)
SELECT timestamp_millis((fixed_range + 1) * 600000) AS time, price, itemid
FROM placed
WHERE price = highest
