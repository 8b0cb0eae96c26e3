-- Winning bids: each auction with its highest bid so far, the earliest of equals.
SELECT
    id, itemName, description, initialBid, reserve, `dateTime`, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT
        a.id, a.itemName, a.description, a.initialBid, a.reserve, a.happened AS `dateTime`, a.expired AS expires,
        a.seller, a.category, a.extra,
        b.auction, b.bidder, b.price, b.happened AS bid_dateTime, b.extra AS bid_extra,
        ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.happened) AS place
    FROM auction AS a
    JOIN bid AS b ON a.id = b.auction AND b.happened BETWEEN a.happened AND a.expired
)
WHERE place = 1
