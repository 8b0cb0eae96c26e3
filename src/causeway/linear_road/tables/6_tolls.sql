-- Every minute: what vehicles are told in the minute that begins with the tick, in each segment where that
-- is not the default (LAV -1, TOLL 0, no accident).
--
--   CARS      vehicles in the minute before
--   LAV       the floor of the mean, over those of the five minutes before that had vehicles, of their mean
--             speeds: the floor of a sum of fractions SPEEDS / CARS, whose whole parts and remainders are
--             added apart, the remainders over the product of all CARS; nothing is rounded
--   TOLL      2 (CARS - 50)² if LAV is from 0 to 39, CARS above 50, and no accident is ahead
--   ACCIDENT  the nearest segment with an accident among the vehicle's own and the next four downstream

CREATE VIEW IF NOT EXISTS TOLLS (XWAY, DIR, SEG, CARS, LAV, TOLL, ACCIDENT) RANGE INTERVAL '1' DAY AS (
  SELECT XWAY, DIR, SEG, CARS, LAV,
         IF(LAV BETWEEN 0 AND 39 AND CARS > 50 AND ACCIDENT IS NULL, 2 * (CARS - 50) * (CARS - 50), 0),
         ACCIDENT
  FROM (SELECT XWAY, DIR, SEG, CARS, ACCIDENT,
               IF(MINUTES = 0, -1,
                  (S1 DIV C1 + S2 DIV C2 + S3 DIV C3 + S4 DIV C4 + S5 DIV C5
                   + (S1 % C1 * C2 * C3 * C4 * C5 + S2 % C2 * C1 * C3 * C4 * C5 + S3 % C3 * C1 * C2 * C4 * C5
                      + S4 % C4 * C1 * C2 * C3 * C5 + S5 % C5 * C1 * C2 * C3 * C4)
                     DIV (C1 * C2 * C3 * C4 * C5))
                  DIV (720720 * MINUTES)) AS LAV
        FROM (SELECT XWAY, DIR, SEG,
                     COUNT(CARS) AS MINUTES,
                     COALESCE(MAX(IF(AGO = 0, CARS, NULL)), 0) AS CARS,
                     COALESCE(MAX(IF(AGO = 0, CARS, NULL)), 1) AS C1,
                     COALESCE(MAX(IF(AGO = 1, CARS, NULL)), 1) AS C2,
                     COALESCE(MAX(IF(AGO = 2, CARS, NULL)), 1) AS C3,
                     COALESCE(MAX(IF(AGO = 3, CARS, NULL)), 1) AS C4,
                     COALESCE(MAX(IF(AGO = 4, CARS, NULL)), 1) AS C5,
                     COALESCE(MAX(IF(AGO = 0, SPEEDS, NULL)), 0) AS S1,
                     COALESCE(MAX(IF(AGO = 1, SPEEDS, NULL)), 0) AS S2,
                     COALESCE(MAX(IF(AGO = 2, SPEEDS, NULL)), 0) AS S3,
                     COALESCE(MAX(IF(AGO = 3, SPEEDS, NULL)), 0) AS S4,
                     COALESCE(MAX(IF(AGO = 4, SPEEDS, NULL)), 0) AS S5,
                     MIN_BY(ACCIDENT, DISTANCE) AS ACCIDENT
              FROM (SELECT XWAY, DIR, SEG, CARS, SPEEDS, (NOW() - T) DIV 60 AS AGO,
                           CAST(NULL AS INT) AS ACCIDENT, CAST(NULL AS INT) AS DISTANCE
                    FROM SEGSTAT [WINDOW INTERVAL '4' MINUTE]
                    UNION ALL
                    SELECT XWAY, DIR, SEG + DISTANCE * (2 * DIR - 1), NULL, NULL, NULL, SEG, DISTANCE
                    FROM ACCIDENTS [WINDOW INTERVAL '0' SECOND]
                    CROSS JOIN (VALUES (0), (1), (2), (3), (4)) AS REACH (DISTANCE))
              WHERE SEG BETWEEN 0 AND 99
              GROUP BY XWAY, DIR, SEG))
  SAMPLE INTERVAL '1' MINUTE);
