-- Beam has a row for every auction, with its reserve.
SELECT p.id, p.name, a.reserve
FROM person AS p
JOIN auction AS a
    ON a.seller = p.id
    AND unix_millis(a.dateTime) DIV 10000 = unix_millis(p.dateTime) DIV 10000
