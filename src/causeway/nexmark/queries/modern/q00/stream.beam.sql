-- Pass through: every event as it is; one of the three columns is not null.
-- reads: person(id, name, emailAddress, creditCard, city, state, dateTime, extra)
-- reads: auction(id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra)
-- reads: bid(auction, bidder, price, dateTime, extra)
SELECT named_struct('id', id, 'name', name, 'emailAddress', emailAddress, 'creditCard', creditCard,
                    'city', city, 'state', state, 'dateTime', dateTime, 'extra', extra) AS newPerson,
       NULL AS newAuction, NULL AS bid
FROM person
UNION ALL
SELECT NULL,
       named_struct('id', id, 'itemName', itemName, 'description', description, 'initialBid', initialBid,
                    'reserve', reserve, 'dateTime', dateTime, 'expires', expires, 'seller', seller,
                    'category', category, 'extra', extra),
       NULL
FROM auction
UNION ALL
SELECT NULL, NULL,
       named_struct('auction', auction, 'bidder', bidder, 'price', price, 'dateTime', dateTime, 'extra', extra)
FROM bid
