-- Auction top ten: the ten highest bids of every auction, with their rank. Of equals the earlier, then the
-- lower bidder's.
-- reads: bid(auction, bidder, price, channel, url, dateTime, extra, arrival)
-- state store: rocksdb
-- update by: auction, rank_number
-- State: ten bids of every auction, for ever: Spark removes groups only by a time among their columns.
-- In RocksDB: in Java's memory, rows that come and go fill a heap of 4 GB, and collecting it can take a minute.
SELECT auction, top.bidder, top.price, top.channel, top.url, top.dateTime, top.extra, place + 1 AS rank_number
FROM (
    SELECT auction,
           max_by(
               struct(bidder, price, channel, url, dateTime, extra),
               struct(price, -unix_millis(dateTime), -bidder, -arrival),
               10
           ) AS best
    FROM bid
    GROUP BY auction
)
LATERAL VIEW posexplode(best) AS place, top
