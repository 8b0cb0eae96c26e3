-- Highest bid, as a join of windows: all that tie. Windows are half-open; bids stay in state until theirs ends.
SELECT b.auction, b.price, b.bidder, b.happened AS `dateTime`, b.extra
FROM (
    SELECT *
    FROM TUMBLE(TABLE bid, DESCRIPTOR(happened), INTERVAL '10' SECOND)
) AS b
JOIN (
    SELECT MAX(price) AS price, window_start, window_end
    FROM TUMBLE(TABLE bid, DESCRIPTOR(happened), INTERVAL '10' SECOND)
    GROUP BY window_start, window_end
) AS highest
ON b.window_start = highest.window_start AND b.window_end = highest.window_end AND b.price = highest.price
