-- Highest bid, as a window Top-N: one of those that tie. Windows are half-open.
SELECT auction, price, bidder, happened AS `dateTime`, extra
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place
    FROM TUMBLE(TABLE bid, DESCRIPTOR(happened), INTERVAL '10' SECOND)
)
WHERE place = 1
