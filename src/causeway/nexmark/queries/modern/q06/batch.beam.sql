-- Beam keeps ten winning bids of a seller and, when a further auction closes, gives up the one that was made
-- first, which need not be the one that won first. So in the end it has the last closing's bid, and of all
-- others the nine made last. Rounded to a whole number, halves up.
WITH sale AS (
    SELECT
        seller, price, bid_dateTime,
        ROW_NUMBER() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) AS place
    FROM winning_bid
), kept AS (
    SELECT
        seller, price,
        ROW_NUMBER() OVER (PARTITION BY seller ORDER BY place > 1, bid_dateTime DESC, place) AS kept_place
    FROM sale
)
SELECT seller, CAST(ROUND(SUM(price) / COUNT(*)) AS BIGINT) AS price
FROM kept
WHERE kept_place <= 10
GROUP BY seller
