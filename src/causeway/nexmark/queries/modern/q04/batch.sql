-- Average price for a category: the mean of its auctions' winning prices.
SELECT category, AVG(price) AS price
FROM winning_bid
GROUP BY category
