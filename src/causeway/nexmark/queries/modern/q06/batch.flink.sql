-- The statement that nexmark/nexmark has for Flink (which Flink refuses): the mean of a row and the ten before
-- it, eleven in all, in order of the winning bids' times; the rest cut off. The last of them per seller.
WITH sale AS (
    SELECT seller, price, ROW_NUMBER() OVER (PARTITION BY seller ORDER BY bid_dateTime DESC, id DESC) AS place
    FROM winning_bid
)
SELECT seller, SUM(price) DIV COUNT(*) AS price
FROM sale
WHERE place <= 11
GROUP BY seller
