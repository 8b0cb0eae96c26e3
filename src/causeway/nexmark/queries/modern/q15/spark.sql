-- Bidding statistics: a day's bids, bidders and auctions, by rank of the price.
-- reads: bid(auction, bidder, price, dateTime)
-- update by: day
-- State: one row for a day, in it the sets of all that is counted once. Spark counts no distinct values in a
-- stream, and chains no aggregations whose answers are updates.
SELECT date_format(window.start, 'yyyy-MM-dd') AS day,
       count(*) AS total_bids,
       count_if(price < 10000) AS rank1_bids,
       count_if(price >= 10000 AND price < 1000000) AS rank2_bids,
       count_if(price >= 1000000) AS rank3_bids,
       size(collect_set(bidder)) AS total_bidders,
       size(collect_set(bidder) FILTER (WHERE price < 10000)) AS rank1_bidders,
       size(collect_set(bidder) FILTER (WHERE price >= 10000 AND price < 1000000)) AS rank2_bidders,
       size(collect_set(bidder) FILTER (WHERE price >= 1000000)) AS rank3_bidders,
       size(collect_set(auction)) AS total_auctions,
       size(collect_set(auction) FILTER (WHERE price < 10000)) AS rank1_auctions,
       size(collect_set(auction) FILTER (WHERE price >= 10000 AND price < 1000000)) AS rank2_auctions,
       size(collect_set(auction) FILTER (WHERE price >= 1000000)) AS rank3_auctions
FROM bid
GROUP BY window(dateTime, '1 day')
