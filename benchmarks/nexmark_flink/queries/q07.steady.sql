-- q7 with the times that its latency is computed from: an answer is complete when its window ends.
SELECT
    b.auction, b.price, b.bidder, b.extra,
    b.window_end AS completed, CAST(PROCTIME() AS TIMESTAMP_LTZ(3)) AS at_sink
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
