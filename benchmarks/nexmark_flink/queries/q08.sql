-- Monitor new users: who registered and opened an auction in the same window of 10 s.
SELECT p.id, p.name, p.window_start AS starttime
FROM (
    SELECT id, name, window_start, window_end
    FROM TUMBLE(TABLE person, DESCRIPTOR(happened), INTERVAL '10' SECOND)
    GROUP BY id, name, window_start, window_end
) AS p
JOIN (
    SELECT seller, window_start, window_end
    FROM TUMBLE(TABLE auction, DESCRIPTOR(happened), INTERVAL '10' SECOND)
    GROUP BY seller, window_start, window_end
) AS a
ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end
