-- The mean price of a seller's last ten sales, anew at each closing: how far it is off, mean over sellers.
-- distance: value
-- unit: cents
-- ours: key=concat('seller ', seller) value=price
WITH mean_price AS (
    SELECT
        expires, seller,
        AVG(price) OVER (PARTITION BY seller ORDER BY expires, id ROWS 9 PRECEDING) AS price,
        ROW_NUMBER() OVER (PARTITION BY seller, expires ORDER BY id DESC) AS place
    FROM winning_bid
)
SELECT expires AS time, concat('seller ', seller) AS key, price AS value
FROM mean_price
WHERE place = 1
