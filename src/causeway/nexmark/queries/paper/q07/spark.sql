-- Query 7, Highest Bid: the bids of every ten minutes, joined with the highest price of their window.
-- reads: bid(itemid, price, bidTime)
-- State: all bids of the windows that the watermark has not ended.
WITH placed AS (
    SELECT itemid, price, window(bidTime, '10 minutes') AS ten_minutes
    FROM bid
), highest AS (
    SELECT window, max(price) AS price
    FROM bid
    GROUP BY window(bidTime, '10 minutes')
)
SELECT H.window.end AS time, B.price, B.itemid
FROM placed B
JOIN highest H ON B.ten_minutes = H.window AND B.price = H.price
