-- Beam converts in whole numbers: 89 hundredths, the rest cut off.
SELECT auction, bidder, price * 89 DIV 100 AS price, dateTime, extra
FROM bid
