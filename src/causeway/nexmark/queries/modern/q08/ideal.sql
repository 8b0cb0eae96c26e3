-- The new users, when registered and first auction opened: how many one has told and the other has not.
-- distance: rows
-- unit: persons
SELECT GREATEST(p.dateTime, MIN(a.dateTime)) AS time
FROM person AS p
JOIN auction AS a
    ON a.seller = p.id
    AND unix_millis(a.dateTime) DIV 10000 = unix_millis(p.dateTime) DIV 10000
GROUP BY p.id, p.dateTime
