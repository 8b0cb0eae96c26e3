-- Highest bid: bids of a window's highest price, the window's end included. All bids stay in state.
SELECT b.auction, b.price, b.bidder, b.happened AS `dateTime`, b.extra
FROM bid AS b
JOIN (
    SELECT MAX(price) AS price, window_end
    FROM TUMBLE(TABLE bid, DESCRIPTOR(happened), INTERVAL '10' SECOND)
    GROUP BY window_start, window_end
) AS highest
ON b.price = highest.price
WHERE b.happened BETWEEN highest.window_end - INTERVAL '10' SECOND AND highest.window_end
