-- Channel statistics: a day's bids, bidders and auctions of every channel, by rank of the price.
-- reads: bid(channel, auction, bidder, price, dateTime)
-- update by: channel, day
-- State: one row for a channel and day, in it the sets of all that is counted once, as in q15.
SELECT channel,
       date_format(window.start, 'yyyy-MM-dd') AS day,
       max(date_format(dateTime, 'HH:mm')) AS minute,
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
GROUP BY channel, window(dateTime, '1 day')
