-- The last bid of a bidder on an auction: of how many such pairs it is another, or not told yet.
-- distance: rows
-- unit: bids
-- ours: key=concat(bidder, ' on ', auction) value=unix_millis(dateTime)
SELECT dateTime AS time, concat(bidder, ' on ', auction) AS key, unix_millis(dateTime) AS value
FROM bid
