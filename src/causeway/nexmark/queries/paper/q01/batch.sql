-- Query 1, Currency Conversion: the price in euros, at the authors' rate, rounded to cents.
SELECT itemid, CAST(ROUND(price * 1.0838, 2) AS DECIMAL(23, 2)) AS price, bidderId, bidTime
FROM bid
