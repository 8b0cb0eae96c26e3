-- Query 3, Local Item Suggestion: auctions of items of category 10 by sellers in Oregon. The seller may
-- register before or after the auction opens, but not once it has closed.
SELECT p.name, p.city, p.state, o.id
FROM open_auction AS o
JOIN person AS p ON p.id = o.sellerId
JOIN item AS i ON i.id = o.itemid
WHERE p.state = 'OR'
  AND i.categoryId = 10
  AND p.time < o.`end`
