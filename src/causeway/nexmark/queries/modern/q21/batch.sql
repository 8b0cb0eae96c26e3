-- Add channel id: four channels have a number; others have one if the bid's address tells it.
SELECT
    auction, bidder, price, channel,
    CASE LOWER(channel)
        WHEN 'apple' THEN '0'
        WHEN 'google' THEN '1'
        WHEN 'facebook' THEN '2'
        WHEN 'baidu' THEN '3'
        ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)
    END AS channel_id
FROM bid
WHERE LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')
   OR regexp_like(url, '(&|^)channel_id=([^&]*)')
