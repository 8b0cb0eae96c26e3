-- Beam's mean is over windows of 10 s that begin every 5 s, by the auctions' expiry. What stands in the end
-- is the last window in which a winning bid of the category fell: all closings since the multiple of 5 s
-- before the category's last one. Rounded to a whole number, halves up.
WITH closing AS (
    SELECT category, price, expires, MAX(expires) OVER (PARTITION BY category) AS last_expires
    FROM winning_bid
)
SELECT category, CAST(ROUND(SUM(price) / COUNT(*)) AS BIGINT) AS price
FROM closing
WHERE unix_millis(expires) >= unix_millis(last_expires) - unix_millis(last_expires) % 5000
GROUP BY category
