-- The highest price of the last ten minutes, at their end: how far it is off.
-- distance: value
-- unit: dollars
-- ours: key='the last ten minutes' value=price newest=time
SELECT time, 'the last ten minutes' AS key, price AS value
FROM answer
