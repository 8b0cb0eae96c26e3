-- Currency conversion, in whole cents: the fraction is cut off.
SELECT auction, bidder, price * 89 DIV 100 AS price, dateTime, extra
FROM bid
