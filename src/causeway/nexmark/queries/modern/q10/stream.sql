-- Log to files: every bid with the day and the minute that its file is found by.
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT auction, bidder, price, dateTime, extra,
       date_format(dateTime, 'yyyy-MM-dd') AS dt, date_format(dateTime, 'HH:mm') AS hm
FROM bid
