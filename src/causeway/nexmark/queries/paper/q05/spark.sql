-- Query 5, Hot Items: the items with the most bids of the past hour, every minute. The bids of a minute are
-- counted first: they share their sixty windows.
-- reads: bid(itemid, bidTime)
-- State: a count for each item and minute, one for each item and hour, and a list for each hour, until the
-- watermark ends it.
WITH minutes AS (
    SELECT itemid, window AS minute, count(*) AS num
    FROM bid
    GROUP BY itemid, window(bidTime, '1 minute')
), hours AS (
    SELECT itemid, window, sum(num) AS num
    FROM minutes
    GROUP BY itemid, window(window_time(minute), '60 minutes', '1 minute')
), compared AS (
    SELECT window, max(num) AS most, collect_list(struct(itemid, num)) AS items
    FROM hours
    GROUP BY window
)
SELECT window.end AS time, hot.itemid
FROM compared
LATERAL VIEW explode(filter(items, one -> one.num = most)) AS hot
