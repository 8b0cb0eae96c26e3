-- Bounded side input join: every bid with the value that a static table has for its auction.
SELECT b.auction, b.bidder, b.price, b.dateTime, s.value
FROM bid AS b
JOIN side_input AS s ON s.key = b.auction % 10000
