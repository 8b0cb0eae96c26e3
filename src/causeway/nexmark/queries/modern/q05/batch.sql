-- Hot items: in every window of 10 s, one each 2 s, the auctions with the most bids.
WITH placed AS (
    SELECT
        auction,
        timestamp_millis(unix_millis(dateTime) - unix_millis(dateTime) % 2000 - 2000 * hop) AS starttime
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
SELECT starttime, starttime + INTERVAL 10 SECONDS AS endtime, auction, num
FROM compared
WHERE num = most
