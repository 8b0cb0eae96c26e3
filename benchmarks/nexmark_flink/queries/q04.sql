-- Average price for a category, told anew whenever a bid is the highest of its auction so far.
SELECT category, AVG(final) AS price
FROM (
    SELECT a.id, a.category, MAX(b.price) AS final
    FROM auction AS a
    JOIN bid AS b ON a.id = b.auction
    WHERE b.happened BETWEEN a.happened AND a.expired
    GROUP BY a.id, a.category
)
GROUP BY category
