-- The bids whose channel has a number, when they are made: how many one has told and the other has not.
-- distance: rows
-- unit: bids
SELECT dateTime AS time
FROM bid
WHERE LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
   OR regexp_like(url, '(&|^)channel_id=([^&]*)')
