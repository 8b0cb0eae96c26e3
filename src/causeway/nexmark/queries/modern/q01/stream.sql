-- Currency conversion: every bid with its price in euros.
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price, dateTime, extra
FROM bid
