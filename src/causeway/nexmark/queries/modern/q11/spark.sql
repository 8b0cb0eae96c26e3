-- User sessions: how many bids a bidder makes without a pause of ten seconds.
-- reads: bid(bidder, dateTime)
-- State: the sessions that the watermark has not ended.
SELECT bidder, count(*) AS bid_count, session_window.start AS starttime, session_window.end AS endtime
FROM bid
GROUP BY bidder, session_window(dateTime, '10 seconds')
