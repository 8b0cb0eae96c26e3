-- Winning bids: each auction with its winning bid.
SELECT *
FROM winning_bid
