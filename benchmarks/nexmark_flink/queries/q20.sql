-- Expand bid with auction: the bids on auctions of category 10, with the auction.
SELECT
    b.auction, b.bidder, b.price, b.channel, b.url, b.happened AS bid_dateTime, b.extra AS bid_extra,
    a.itemName, a.description, a.initialBid, a.reserve, a.happened AS auction_dateTime, a.expired AS expires,
    a.seller, a.category, a.extra AS auction_extra
FROM bid AS b
JOIN auction AS a ON b.auction = a.id
WHERE a.category = 10
