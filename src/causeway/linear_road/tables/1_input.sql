-- The input: position reports, which stay for two weeks, and the requests of types 2, 3 and 4.
-- Both come from the driver's spool. The names of its files tell which seconds are whole, so that the time of
-- both tables is closed up to a second as soon as its file is in them.

CREATE STREAMING TABLE IF NOT EXISTS POSREPORTS (VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, POS INT)
  RANGE INTERVAL '2' WEEK COMPARTMENT INTERVAL '5' MINUTE;

CREATE INDEX IF NOT EXISTS IDX_VID ON POSREPORTS (VID);

CREATE STREAMING TABLE IF NOT EXISTS REQUESTS
  (TYPE INT, VID INT, XWAY INT, QID INT, SINIT INT, SEND INT, DOW INT, TOD INT, DAY INT)
  RANGE INTERVAL '2' WEEK COMPARTMENT INTERVAL '1' HOUR;
