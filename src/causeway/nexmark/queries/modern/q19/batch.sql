-- Auction top ten: the ten highest bids of each auction. Of equals the earlier, then the lower bidder's, then
-- the first to arrive.
SELECT auction, bidder, price, channel, url, dateTime, extra, rank_number
FROM (
    SELECT
        *,
        CAST(ROW_NUMBER() OVER (
            PARTITION BY auction ORDER BY price DESC, dateTime, bidder, arrival
        ) AS BIGINT) AS rank_number
    FROM bid
)
WHERE rank_number <= 10
