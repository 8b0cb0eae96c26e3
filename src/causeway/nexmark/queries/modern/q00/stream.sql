-- Pass through: every bid as it is, which measures what moving it costs.
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT auction, bidder, price, dateTime, extra
FROM bid
