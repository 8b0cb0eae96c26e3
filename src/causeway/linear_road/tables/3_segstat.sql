-- Every minute: the traffic of the minute that ends with the tick, in each segment that had any.
--
--   CARS    the distinct vehicles that reported from it
--   SPEEDS  the sum of each vehicle's mean speed, in units of 1/720720 mph: a whole number of them for the
--           mean of up to 16 reports, so that nothing is rounded

CREATE VIEW IF NOT EXISTS SEGSTAT (XWAY, DIR, SEG, CARS, SPEEDS) RANGE INTERVAL '1' DAY AS (
  SELECT XWAY, DIR, SEG, COUNT(*), SUM(SPEED)
  FROM (SELECT XWAY, DIR, SEG, VID, 720720 * SUM(SPD) DIV COUNT(*) AS SPEED
        FROM POSREPORTS [WINDOW INTERVAL '1' MINUTE]
        WHERE T < NOW()
        GROUP BY XWAY, DIR, SEG, VID)
  GROUP BY XWAY, DIR, SEG
  SAMPLE INTERVAL '1' MINUTE);
