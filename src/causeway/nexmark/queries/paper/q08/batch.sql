-- Query 8, Monitor New Users: every auction that its seller opened within twelve hours of registering, both
-- ends included.
SELECT p.id, p.name, o.id AS auction
FROM person AS p
JOIN open_auction AS o
    ON o.sellerId = p.id
    AND o.time BETWEEN p.time AND p.time + INTERVAL 12 HOURS
