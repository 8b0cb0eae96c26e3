-- Flink has of bids at the same time the last to arrive.
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, arrival DESC) AS place
    FROM bid
)
WHERE place = 1
