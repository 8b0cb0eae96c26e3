-- What each closed auction fetched: the highest bid on its item of at least the reserve (if there is one)
-- since it opened and before it closed. An auction without such a bid was no sale.
SELECT c.id, c.itemid, c.sellerId, c.time, MAX(b.price) AS price
FROM closed_auction AS c
JOIN open_auction AS o ON o.id = c.id
JOIN bid AS b
    ON b.itemid = c.itemid
    AND b.price >= COALESCE(o.reserve, 0)
    AND b.bidTime >= o.time
    AND b.bidTime < c.time
GROUP BY c.id, c.itemid, c.sellerId, c.time
