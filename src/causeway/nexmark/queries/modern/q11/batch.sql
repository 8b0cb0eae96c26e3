-- User sessions: a bidder's bids with at most 10 s from each to the next; a session ends 10 s after its last
-- bid. Spark's and Flink's sessions that touch are one: a bid exactly 10 s after the last still belongs.
WITH marked AS (
    SELECT
        bidder, dateTime,
        COALESCE(
            dateTime > LAG(dateTime) OVER (PARTITION BY bidder ORDER BY dateTime) + INTERVAL 10 SECONDS, TRUE
        ) AS begins
    FROM bid
), numbered AS (
    SELECT bidder, dateTime, COUNT_IF(begins) OVER (PARTITION BY bidder ORDER BY dateTime) AS session
    FROM marked
)
SELECT
    bidder,
    COUNT(*) AS bid_count,
    MIN(dateTime) AS starttime,
    MAX(dateTime) + INTERVAL 10 SECONDS AS endtime
FROM numbered
GROUP BY bidder, session
