-- Average selling price by seller: the mean of the winning prices of the seller's last ten sales, in order
-- of their closing. An auction without a winning bid is no sale.
WITH sale AS (
    SELECT seller, price, ROW_NUMBER() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) AS place
    FROM winning_bid
)
SELECT seller, AVG(price) AS price
FROM sale
WHERE place <= 10
GROUP BY seller
