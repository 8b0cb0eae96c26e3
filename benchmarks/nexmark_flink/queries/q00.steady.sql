-- q0 with the times that its latency is computed from: a bid is complete when it is made.
SELECT
    auction, bidder, price, extra,
    happened AS completed, CAST(PROCTIME() AS TIMESTAMP_LTZ(3)) AS at_sink
FROM bid
