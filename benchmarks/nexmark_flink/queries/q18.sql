-- Find last bid: of each bidder on each auction. Flink takes the last to arrive of bids at the same time.
SELECT auction, bidder, price, channel, url, happened AS `dateTime`, extra
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY happened DESC) AS place
    FROM bid
)
WHERE place = 1
