-- Flink joins whenever both are there: an auction that has closed is suggested too.
SELECT p.name, p.city, p.state, a.id
FROM auction AS a
JOIN person AS p ON p.id = a.seller
WHERE a.category = 10
  AND p.state IN ('OR', 'ID', 'CA')
