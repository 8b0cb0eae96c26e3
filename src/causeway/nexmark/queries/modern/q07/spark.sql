-- Highest bid: the bids of every ten seconds, joined with the highest price of their window.
-- reads: bid(auction, price, bidder, dateTime, extra)
-- State: all bids of the windows that the watermark has not ended.
WITH placed AS (
    -- Spark takes one event time a stream, here the window: the sum is a plain timestamp.
    SELECT auction, price, bidder, dateTime + INTERVAL 0 SECONDS AS dateTime, extra,
           window(dateTime, '10 seconds') AS ten_seconds
    FROM bid
), highest AS (
    SELECT window, max(price) AS price
    FROM bid
    GROUP BY window(dateTime, '10 seconds')
)
SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra
FROM placed B
JOIN highest H ON B.ten_seconds = H.window AND B.price = H.price
