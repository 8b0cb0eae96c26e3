-- Expand bid with auction: bids on auctions of category 10, as a join of two streams.
-- reads: bid(auction, bidder, price, channel, url, dateTime, extra)
-- reads: auction(id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra)
-- State: bids for ten seconds, in which their auction must come, and auctions of the category for a day.
SELECT B.auction, B.bidder, B.price, B.channel, B.url, B.dateTime AS bid_dateTime, B.extra AS bid_extra,
       A.itemName, A.description, A.initialBid, A.reserve, A.dateTime AS auction_dateTime, A.expires,
       A.seller, A.category, A.extra AS auction_extra
FROM bid B
JOIN auction A
    ON A.id = B.auction
    AND B.dateTime >= A.dateTime - INTERVAL 10 SECONDS
    AND B.dateTime <= A.dateTime + INTERVAL 1 DAY
WHERE A.category = 10
