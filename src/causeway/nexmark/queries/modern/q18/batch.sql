-- Find last bid: each bidder's last bid on each auction. Of bids at the same time the highest, then the last to
-- arrive.
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, arrival DESC
        ) AS place
    FROM bid
)
WHERE place = 1
