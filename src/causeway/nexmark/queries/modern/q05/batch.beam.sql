-- Beam's windows of 10 s begin each 5 s; they are not told.
WITH placed AS (
    SELECT auction, unix_millis(dateTime) - unix_millis(dateTime) % 5000 - 5000 * hop AS starttime
    FROM bid
    LATERAL VIEW explode(sequence(0, 1)) AS hop
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
