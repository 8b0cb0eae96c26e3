-- Calculation: bids of a range of prices in euros. Counting letters is a function of nexmark/nexmark's own in Java;
-- here the letters that go when it is taken out.
SELECT
    auction, bidder, 0.908 * price AS price,
    CASE
        WHEN HOUR(happened) BETWEEN 8 AND 18 THEN 'dayTime'
        WHEN HOUR(happened) <= 6 OR HOUR(happened) >= 20 THEN 'nightTime'
        ELSE 'otherTime'
    END AS bidTimeType,
    happened AS `dateTime`, extra,
    CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
