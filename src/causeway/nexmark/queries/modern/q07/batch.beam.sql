-- Beam has one bid per window: of equals the last.
WITH placed AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY unix_millis(dateTime) DIV 10000 ORDER BY price DESC, dateTime DESC, arrival DESC
        ) AS place
    FROM bid
)
SELECT auction, price, bidder, dateTime, extra
FROM placed
WHERE place = 1
