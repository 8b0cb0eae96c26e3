-- The mean price of a category, anew whenever an auction closes: how far it is off, mean over categories.
-- distance: value
-- unit: dollars
-- ours: key=concat('category ', id) value=price
SELECT
    sale.time, concat('category ', c.id) AS key,
    AVG(sale.price) OVER (PARTITION BY c.id ORDER BY sale.time) AS value
FROM closing_price AS sale
JOIN item AS i ON i.id = sale.itemid
JOIN category AS c ON c.id = i.categoryId
