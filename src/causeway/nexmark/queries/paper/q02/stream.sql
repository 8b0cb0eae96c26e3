-- Query 2, Selection: bids on five items.
-- reads: bid(itemid, price)
SELECT itemid, price
FROM bid
WHERE itemid IN (1007, 1020, 2001, 2019, 1087)
