-- The bids on the category, when bid and auction have come: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT GREATEST(bid_dateTime, auction_dateTime) AS time
FROM answer
