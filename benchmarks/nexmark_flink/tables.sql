-- The modern model's streams as Flink has them, and the table that q13 looks up. Their times are milliseconds since 1970 in JSON and timestamps in
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
    WATERMARK FOR happened AS happened - INTERVAL '{delay}' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/person', 'format' = '{format}'{source});

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
    WATERMARK FOR happened AS happened - INTERVAL '{delay}' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/auction', 'format' = '{format}'{source});

CREATE TABLE bid (
    auction BIGINT,
    bidder BIGINT,
    price BIGINT,
    channel STRING,
    url STRING,
    `dateTime` {time},
    extra STRING,
    happened AS {happened},
    arrived AS PROCTIME(),
    WATERMARK FOR happened AS happened - INTERVAL '{delay}' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/bid', 'format' = '{format}'{source});


-- What q13 looks up: a table with one version, which is older than all bids.
CREATE TABLE side_input (
    key BIGINT,
    `value` STRING,
    known_since TIMESTAMP_LTZ(3),
    WATERMARK FOR known_since AS known_since,
    PRIMARY KEY (key) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '{folder}/side_input', 'format' = 'json');
