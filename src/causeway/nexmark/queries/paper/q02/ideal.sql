-- The bids on the five items, when they are made: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT bidTime AS time
FROM bid
WHERE itemid IN (1007, 1020, 2001, 2019, 1087)
