-- Beam passes every event through, not bids alone; one of the three columns is not null.
SELECT
    struct(id, name, emailAddress, creditCard, city, state, dateTime, extra) AS newPerson,
    NULL AS newAuction,
    NULL AS bid
FROM person
UNION ALL
SELECT
    NULL,
    struct(id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra),
    NULL
FROM auction
UNION ALL
SELECT
    NULL,
    NULL,
    struct(auction, bidder, price, dateTime, extra)
FROM bid
