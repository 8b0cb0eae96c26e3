-- Processing time windows: when a bid is processed differs from run to run, so that only a bidder's total
-- over all windows can be checked.
SELECT bidder, COUNT(*) AS bid_count
FROM bid
GROUP BY bidder
