-- The hot auctions of the last window, at its end: the share of both systems' that only one of them has.
-- distance: set
-- unit: of 1
-- ours: key=auction newest=endtime
SELECT endtime AS time, auction AS key
FROM answer
