-- The winning bids, when their auctions close: how many one has told and the other has not.
-- distance: rows
-- unit: auctions
SELECT expires AS time
FROM answer
