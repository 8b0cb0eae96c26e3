-- Local item suggestion: auctions of category 10 by sellers in three states, as a join of two streams.
-- reads: person(id, name, city, state, dateTime)
-- reads: auction(id, seller, category, dateTime, expires)
-- State: the persons of these states and the auctions of the category, all of them: a seller may have
-- registered at any time before, and Spark removes rows of a join only by a bound between event times.
SELECT P.name, P.city, P.state, A.id
FROM auction A
JOIN person P ON P.id = A.seller AND P.dateTime < A.expires
WHERE A.category = 10 AND P.state IN ('OR', 'ID', 'CA')
