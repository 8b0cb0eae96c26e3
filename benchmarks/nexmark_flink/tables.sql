-- The modern model's streams as Flink has them. Their times are milliseconds since 1970 in JSON and timestamps in
-- Parquet. Windows and joins go by the columns computed from them.
CREATE TABLE person (
    id BIGINT,
    name STRING,
    emailAddress STRING,
    creditCard STRING,
    city STRING,
    state STRING,
    `dateTime` {time},
    extra STRING,
    happened AS {happened},
    WATERMARK FOR happened AS happened - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/person', 'format' = '{format}');

CREATE TABLE auction (
    id BIGINT,
    itemName STRING,
    description STRING,
    initialBid BIGINT,
    reserve BIGINT,
    `dateTime` {time},
    expires {time},
    seller BIGINT,
    category BIGINT,
    extra STRING,
    happened AS {happened},
    expired AS {expired},
    WATERMARK FOR happened AS happened - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/auction', 'format' = '{format}');

CREATE TABLE bid (
    auction BIGINT,
    bidder BIGINT,
    price BIGINT,
    channel STRING,
    url STRING,
    `dateTime` {time},
    extra STRING,
    happened AS {happened},
    WATERMARK FOR happened AS happened - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/bid', 'format' = '{format}');
