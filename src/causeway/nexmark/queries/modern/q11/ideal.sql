-- The sessions, when ten seconds have passed without a bid: how many one has told and the other has not.
-- distance: rows
-- unit: sessions
SELECT endtime AS time
FROM answer
