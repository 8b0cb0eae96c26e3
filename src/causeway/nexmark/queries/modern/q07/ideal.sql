-- The highest price of the last window, at its end: how far it is off.
-- distance: value
-- unit: cents
-- ours: key='the last window' value=price newest=dateTime
SELECT
    timestamp_millis((unix_millis(dateTime) DIV 10000 + 1) * 10000) AS time,
    'the last window' AS key,
    price AS value
FROM answer
