-- Beam's simulator walks through auctions and bids in order of time, and looks for expired auctions only
-- after it has taken the next of them. So a bid may come before its auction opens; and it counts as long as
-- the auction or bid just before it came before the expiry: the first one after may still win.
WITH happening AS (
    SELECT dateTime, arrival, NULL AS auction, NULL AS bidder, NULL AS price, NULL AS extra
    FROM auction
    UNION ALL
    SELECT dateTime, arrival, auction, bidder, price, extra
    FROM bid
), in_order AS (
    SELECT *, LAG(dateTime) OVER (ORDER BY dateTime, arrival) AS just_before
    FROM happening
)
SELECT
    id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
    auction, bidder, price, bid_dateTime, bid_extra
FROM (
    SELECT
        a.*, b.auction, b.bidder, b.price, b.dateTime AS bid_dateTime, b.extra AS bid_extra,
        ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.arrival) AS place
    FROM auction AS a
    JOIN in_order AS b
        ON b.auction = a.id
        AND b.price >= a.reserve
        AND (b.just_before < a.expires OR b.just_before IS NULL)
)
WHERE place = 1
