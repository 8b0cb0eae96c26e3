-- Flink's mean of whole numbers is a whole number, the rest cut off.
SELECT category, SUM(price) DIV COUNT(*) AS price
FROM winning_bid
GROUP BY category
