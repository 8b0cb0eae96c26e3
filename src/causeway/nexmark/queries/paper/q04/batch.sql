-- Query 4, Average Price for a Category: the mean of the closing prices of its items.
SELECT c.id, AVG(ca.price) AS price
FROM category AS c
JOIN item AS i ON i.categoryId = c.id
JOIN closing_price AS ca ON ca.itemid = i.id
GROUP BY c.id
