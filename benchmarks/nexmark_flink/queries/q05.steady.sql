-- q5 with the times that its latency is computed from: an answer is complete when its window ends.
SELECT
    counted.auction, counted.num,
    counted.window_end AS completed, CAST(PROCTIME() AS TIMESTAMP_LTZ(3)) AS at_sink
FROM (
    SELECT auction, COUNT(*) AS num, window_start, window_end
    FROM HOP(TABLE bid, DESCRIPTOR(happened), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
    GROUP BY auction, window_start, window_end
) AS counted
JOIN (
    SELECT MAX(num) AS most, window_start, window_end
    FROM (
        SELECT COUNT(*) AS num, window_start, window_end
        FROM HOP(TABLE bid, DESCRIPTOR(happened), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
        GROUP BY auction, window_start, window_end
    )
    GROUP BY window_start, window_end
) AS hottest
ON counted.window_start = hottest.window_start
    AND counted.window_end = hottest.window_end
    AND counted.num >= hottest.most
