-- The winning bid of every auction that has one: the highest of at least the reserve, made when the auction
-- had opened and not yet expired. Of equals the earliest, then the lowest bidder's, then the first to arrive.
SELECT
    id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT
        a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
        ROW_NUMBER() OVER (
            PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.bidder, b.arrival
        ) AS place
    FROM auction AS a
    JOIN bid AS b
        ON b.auction = a.id
        AND b.price >= a.reserve
        AND b.dateTime >= a.dateTime
        AND b.dateTime < a.expires
)
WHERE place = 1
