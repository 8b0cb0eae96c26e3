-- Hot items: the auctions with the most bids of the last ten seconds, every two seconds.
-- reads: bid(auction, dateTime)
-- State: a count for each auction and window, and one list for each window, until the watermark ends it.
WITH counted AS (
    SELECT auction, window, count(*) AS num
    FROM bid
    GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
), compared AS (
    SELECT window, max(num) AS most, collect_list(struct(auction, num)) AS auctions
    FROM counted
    GROUP BY window
)
SELECT window.start AS starttime, window.end AS endtime, hot.auction, hot.num
FROM compared
LATERAL VIEW explode(filter(auctions, one -> one.num = most)) AS hot
