-- Pass through: every bid as it is, which measures what moving it costs.
SELECT auction, bidder, price, dateTime, extra
FROM bid
