-- Selection: bids on every 123rd auction.
-- reads: bid(auction, price)
SELECT auction, price
FROM bid
WHERE auction % 123 = 0
