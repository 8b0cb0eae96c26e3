-- Bounded side input: every bid with what a static table says of its auction.
-- reads: bid(auction, bidder, price, dateTime)
SELECT B.auction, B.bidder, B.price, B.dateTime, S.value
FROM bid B
JOIN side_input S ON B.auction % 10000 = S.key
