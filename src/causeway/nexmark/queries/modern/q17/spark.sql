-- Auction statistics: bids and prices of every auction by day.
-- reads: bid(auction, price, dateTime)
-- update by: auction, day
-- State: the auctions of days that the watermark has not passed.
SELECT auction, date_format(window.start, 'yyyy-MM-dd') AS day,
       count(*) AS total_bids,
       count_if(price < 10000) AS rank1_bids,
       count_if(price >= 10000 AND price < 1000000) AS rank2_bids,
       count_if(price >= 1000000) AS rank3_bids,
       min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
FROM bid
GROUP BY auction, window(dateTime, '1 day')
