-- User sessions: the bids of a bidder up to a pause of 10 s.
SELECT
    bidder, COUNT(*) AS bid_count,
    SESSION_START(happened, INTERVAL '10' SECOND) AS starttime,
    SESSION_END(happened, INTERVAL '10' SECOND) AS endtime
FROM bid
GROUP BY bidder, SESSION(happened, INTERVAL '10' SECOND)
