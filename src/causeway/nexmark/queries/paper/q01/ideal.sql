-- Every bid, when it is made: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT bidTime AS time
FROM answer
