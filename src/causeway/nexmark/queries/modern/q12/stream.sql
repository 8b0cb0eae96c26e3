-- Processing time windows: how many bids of a bidder arrive in each ten seconds of the clock.
-- reads: bid(bidder)
-- update by: bidder, starttime
-- State: bidders of the windows that the clock has not passed by a minute.
SELECT bidder, count(*) AS bid_count, window.start AS starttime, window.end AS endtime
FROM arriving_bid
GROUP BY bidder, window(arrived, '10 seconds')
