-- Every minute: the segments with an accident that stood in the minute that ends with the tick. Two vehicles
-- that are stopped at one place of a travel lane at the same time are an accident.

CREATE VIEW IF NOT EXISTS ACCIDENTS (XWAY, DIR, SEG) RANGE INTERVAL '1' DAY AS (
  SELECT DISTINCT A.XWAY, A.DIR, CAST(A.POS DIV 5280 AS INT)
  FROM STOPPED [WINDOW INTERVAL '0' SECOND] A
  JOIN STOPPED [WINDOW INTERVAL '0' SECOND] B
    ON B.XWAY = A.XWAY AND B.DIR = A.DIR AND B.LANE = A.LANE AND B.POS = A.POS AND B.VID > A.VID
   AND GREATEST(A.SINCE, B.SINCE) < LEAST(A.UNTIL, B.UNTIL)
  WHERE GREATEST(A.SINCE, B.SINCE) < NOW() AND LEAST(A.UNTIL, B.UNTIL) > NOW() - INTERVAL '1' MINUTE
  SAMPLE INTERVAL '1' MINUTE);
