-- Flink's winning bid: the highest while the auction was open, the moment of its expiry included; there is
-- no reserve. Of equals the earliest, then the first to arrive.
SELECT
    id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT
        a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
        ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.arrival) AS place
    FROM auction AS a
    JOIN bid AS b
        ON b.auction = a.id
        AND b.dateTime BETWEEN a.dateTime AND a.expires
)
WHERE place = 1
