-- Local item suggestion: auctions of category 10 by sellers of three states. The seller may register before
-- or after the auction opens, but not once it has closed.
SELECT p.name, p.city, p.state, a.id
FROM auction AS a
JOIN person AS p ON p.id = a.seller
WHERE a.category = 10
  AND p.state IN ('OR', 'ID', 'CA')
  AND p.dateTime < a.expires
