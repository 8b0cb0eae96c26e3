-- Query 3, Local Item Suggestion: new auctions of category 10 by sellers in Oregon, as a join of three streams.
-- reads: person(id, name, city, state, time)
-- reads: item(id, categoryId, time)
-- reads: open_auction(id, itemid, sellerId, time, end)
-- State: Oregon's persons, items of the category and auctions, all of them: a seller may have registered at
-- any time before, and Spark removes rows of a join only by a bound between event times.
SELECT P.name, P.city, P.state, O.id
FROM open_auction O
JOIN item I ON I.id = O.itemid
JOIN person P ON P.id = O.sellerId AND P.time < O.`end`
WHERE P.state = 'OR' AND I.categoryId = 10
