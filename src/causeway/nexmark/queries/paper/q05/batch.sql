-- Query 5, Hot Items: at every full minute the items with the most bids in the 60 minutes before it, the
-- minute itself not included. The bids of one minute are counted first: they share their sixty windows.
WITH minute_count AS (
    SELECT itemid, unix_millis(bidTime) DIV 60000 AS minute, COUNT(*) AS num
    FROM bid
    GROUP BY itemid, unix_millis(bidTime) DIV 60000
), counted AS (
    SELECT minute + later AS window_end, itemid, SUM(num) AS num
    FROM minute_count
    LATERAL VIEW explode(sequence(1, 60)) AS later
    GROUP BY minute + later, itemid
), compared AS (
    SELECT *, MAX(num) OVER (PARTITION BY window_end) AS most
    FROM counted
)
SELECT timestamp_millis(window_end * 60000) AS time, itemid
FROM compared
WHERE num = most
