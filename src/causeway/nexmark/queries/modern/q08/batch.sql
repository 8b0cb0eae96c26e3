-- Monitor new users: who registered and opened an auction in the same window of 10 s; once per window.
SELECT DISTINCT p.id, p.name, timestamp_millis(unix_millis(p.dateTime) DIV 10000 * 10000) AS starttime
FROM person AS p
JOIN auction AS a
    ON a.seller = p.id
    AND unix_millis(a.dateTime) DIV 10000 = unix_millis(p.dateTime) DIV 10000
