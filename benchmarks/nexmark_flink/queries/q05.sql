-- Hot items: windows of 10 s, one each 2 s; Flink finds that both sides of the join count the same bids.
SELECT counted.auction, counted.num
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
