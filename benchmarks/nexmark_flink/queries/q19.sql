-- Auction top ten: the ten highest bids of each auction. Flink ranks equals as they arrive.
SELECT auction, bidder, price, channel, url, happened AS `dateTime`, extra, rank_number
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
    FROM bid
)
WHERE rank_number <= 10
