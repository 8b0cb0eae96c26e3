-- Find last bid: the last bid of every bidder on every auction. Of bids at the same time the highest.
-- reads: bid(auction, bidder, price, channel, url, dateTime, extra, arrival)
-- state store: rocksdb
-- update by: bidder, auction
-- State: the last bid of every pair, for ever: Spark removes groups only by a time among their columns.
-- In RocksDB: in Java's memory, rows that come and go fill a heap of 4 GB, and collecting it can take a minute.
SELECT auction, bidder, last.price, last.channel, last.url, last.dateTime, last.extra
FROM (
    SELECT auction, bidder,
           max_by(struct(price, channel, url, dateTime, extra), struct(dateTime, price, arrival)) AS last
    FROM bid
    GROUP BY auction, bidder
)
