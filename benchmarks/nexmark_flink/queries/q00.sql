-- Pass through: every bid as it is.
SELECT auction, bidder, price, happened AS `dateTime`, extra
FROM bid
