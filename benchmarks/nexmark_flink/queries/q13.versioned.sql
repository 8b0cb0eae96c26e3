-- Bounded side input: what the table said when the bid was made; bids wait until the watermark has passed them.
SELECT b.auction, b.bidder, b.price, b.happened AS `dateTime`, s.`value`
FROM (SELECT *, MOD(auction, 10000) AS side_key FROM bid) AS b
JOIN side_input FOR SYSTEM_TIME AS OF b.happened AS s ON b.side_key = s.key
