-- Flink's windows are as ours, one each 2 s; they are not told.
WITH placed AS (
    SELECT auction, unix_millis(dateTime) - unix_millis(dateTime) % 2000 - 2000 * hop AS starttime
    FROM bid
    LATERAL VIEW explode(sequence(0, 4)) AS hop
), counted AS (
    SELECT starttime, auction, COUNT(*) AS num
    FROM placed
    GROUP BY starttime, auction
), compared AS (
    SELECT *, MAX(num) OVER (PARTITION BY starttime) AS most
    FROM counted
)
SELECT auction, num
FROM compared
WHERE num = most
