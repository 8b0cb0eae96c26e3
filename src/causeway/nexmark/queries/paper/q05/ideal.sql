-- The hot items of the last hour, at each minute: the share of both systems' that only one of them has.
-- distance: set
-- unit: of 1
-- ours: key=itemid newest=time
SELECT time, itemid AS key
FROM answer
