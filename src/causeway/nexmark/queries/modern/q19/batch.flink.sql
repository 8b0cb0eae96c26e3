-- Flink has of equals the first to arrive.
SELECT auction, bidder, price, channel, url, dateTime, extra, rank_number
FROM (
    SELECT
        *,
        CAST(ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, arrival) AS BIGINT) AS rank_number
    FROM bid
)
WHERE rank_number <= 10
