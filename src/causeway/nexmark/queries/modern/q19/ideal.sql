-- The highest bid of an auction, the first of its ten: how far its price is off, mean over auctions.
-- distance: value
-- unit: cents
-- ours: key=if(rank_number = 1, concat('auction ', auction), NULL) value=price
SELECT
    dateTime AS time, concat('auction ', auction) AS key,
    MAX(price) OVER (PARTITION BY auction ORDER BY dateTime) AS value
FROM bid
