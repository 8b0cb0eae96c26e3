-- Hot items, as a window Top-N: one of those that tie.
SELECT auction, num
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS place
    FROM (
        SELECT auction, COUNT(*) AS num, window_start, window_end
        FROM HOP(TABLE bid, DESCRIPTOR(happened), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
        GROUP BY auction, window_start, window_end
    )
)
WHERE place = 1
