-- The suggestions, when auction and seller have come: how many one has told and the other has not.
-- distance: rows
-- unit: auctions
SELECT GREATEST(a.dateTime, p.dateTime) AS time
FROM auction AS a
JOIN person AS p ON p.id = a.seller
WHERE a.category = 10
  AND p.state IN ('OR', 'ID', 'CA')
  AND p.dateTime < a.expires
