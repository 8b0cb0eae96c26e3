-- The mean price of a seller's last ten sales, anew at each closing: how far it is off, mean over sellers.
-- distance: value
-- unit: dollars
-- ours: key=concat('seller ', sellerId) value=price
WITH mean_price AS (
    SELECT
        time, sellerId,
        AVG(price) OVER (PARTITION BY sellerId ORDER BY time, id ROWS 9 PRECEDING) AS price,
        ROW_NUMBER() OVER (PARTITION BY sellerId, time ORDER BY id DESC) AS place
    FROM closing_price
)
SELECT time, concat('seller ', sellerId) AS key, price AS value
FROM mean_price
WHERE place = 1
