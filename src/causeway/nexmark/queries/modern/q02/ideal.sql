-- The bids on every 123rd auction, when they are made: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT dateTime AS time
FROM bid
WHERE auction % 123 = 0
