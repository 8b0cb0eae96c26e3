-- Query 1, Currency Conversion: every bid with its price in euros, by the authors' factor.
-- reads: bid(itemid, price, bidderId, bidTime)
SELECT itemid, CAST(round(price * 1.0838, 2) AS DECIMAL(20, 2)) AS price, bidderId, bidTime
FROM bid
