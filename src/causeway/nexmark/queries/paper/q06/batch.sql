-- Query 6, Average Selling Price by Seller: the mean of the prices of the seller's last ten sales, in order
-- of their closing.
WITH sale AS (
    SELECT sellerId, price, ROW_NUMBER() OVER (PARTITION BY sellerId ORDER BY time DESC, id DESC) AS place
    FROM closing_price
)
SELECT sellerId, AVG(price) AS price
FROM sale
WHERE place <= 10
GROUP BY sellerId
