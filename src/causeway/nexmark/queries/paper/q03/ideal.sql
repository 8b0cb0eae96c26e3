-- The suggestions, when auction, item and seller have come: how many one has told and the other has not.
-- distance: rows
-- unit: auctions
SELECT GREATEST(o.time, p.time, i.time) AS time
FROM open_auction AS o
JOIN person AS p ON p.id = o.sellerId
JOIN item AS i ON i.id = o.itemid
WHERE p.state = 'OR'
  AND i.categoryId = 10
  AND p.time < o.`end`
