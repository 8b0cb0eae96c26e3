-- Highest bid: in every window of 10 s the bids of the highest price. A window does not have its end.
WITH placed AS (
    SELECT *, MAX(price) OVER (PARTITION BY unix_millis(dateTime) DIV 10000) AS highest
    FROM bid
)
SELECT auction, price, bidder, dateTime, extra
FROM placed
WHERE price = highest
