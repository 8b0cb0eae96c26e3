-- Bounded side input: a join that keeps both sides, since Flink 2 has no lookup into a file.
SELECT b.auction, b.bidder, b.price, b.happened AS `dateTime`, s.`value`
FROM bid AS b
JOIN side_input AS s ON MOD(b.auction, 10000) = s.key
