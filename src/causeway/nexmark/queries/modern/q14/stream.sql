-- Calculation: bids in a range of prices, with the time of day and the number of c's in their filling.
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price,
       CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime'
            WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
            ELSE 'otherTime' END AS bidTimeType,
       dateTime, extra,
       CAST(length(extra) - length(replace(extra, 'c', '')) AS BIGINT) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
