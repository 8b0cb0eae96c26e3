-- Query 8, Monitor New Users: persons who open an auction within twelve hours of registering, as a join of two
-- streams.
-- reads: person(id, name, time)
-- reads: open_auction(id, sellerId, time)
-- State: persons for twelve hours, and auctions until the watermark has passed them.
SELECT P.id, P.name, O.id AS auction
FROM person P
JOIN open_auction O
    ON O.sellerId = P.id
    AND O.time >= P.time
    AND O.time <= P.time + INTERVAL 12 HOURS
