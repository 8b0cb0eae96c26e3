-- The bids in the range of prices, when they are made: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT dateTime AS time
FROM answer
