-- Flink joins the highest price of a window with the bids of that price from its start to its end, the end
-- included: a bid at the end may come out for the window before its own, for its own, or for both.
WITH highest AS (
    SELECT unix_millis(dateTime) DIV 10000 * 10000 AS starttime, MAX(price) AS price
    FROM bid
    GROUP BY unix_millis(dateTime) DIV 10000
)
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b
JOIN highest AS h
    ON b.price = h.price
    AND unix_millis(b.dateTime) BETWEEN h.starttime AND h.starttime + 10000
