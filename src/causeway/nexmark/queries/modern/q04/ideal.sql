-- The mean price of a category, anew whenever an auction closes: how far it is off, mean over categories.
-- distance: value
-- unit: cents
-- ours: key=concat('category ', category) value=price
SELECT
    expires AS time, concat('category ', category) AS key,
    AVG(price) OVER (PARTITION BY category ORDER BY expires) AS value
FROM winning_bid
