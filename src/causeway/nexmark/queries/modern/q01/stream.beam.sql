-- Currency conversion, in whole cents: the fraction is cut off.
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT auction, bidder, price * 89 DIV 100 AS price, dateTime, extra
FROM bid
