-- The auctions of new users, when they open: how many one has told and the other has not.
-- distance: rows
-- unit: auctions
SELECT o.time
FROM person AS p
JOIN open_auction AS o
    ON o.sellerId = p.id
    AND o.time BETWEEN p.time AND p.time + INTERVAL 12 HOURS
