-- The hot items of the last hour, at each minute: the share of both systems' that only one of them has.
-- distance: set
-- unit: of the hot items (0 all the same, 1 none)
-- ours: key=itemid newest=time
SELECT time, itemid AS key
FROM answer
