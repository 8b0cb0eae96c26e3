-- Log to file system: every bid with its day and its minute.
SELECT
    auction, bidder, price, happened AS `dateTime`, extra,
    DATE_FORMAT(happened, 'yyyy-MM-dd') AS dt, DATE_FORMAT(happened, 'HH:mm') AS hm
FROM bid
