-- Every minute: the stops that reach into the minute that ends with the tick.
--
-- A vehicle is stopped from its fourth report in a row at one place: it stands at three reports, each 30 s
-- after the other. A report keeps it stopped for 30 s, or until its first report from elsewhere on the road.
-- Nothing here depends on reports of the tick's own second, so that the answer is at hand when it comes.

CREATE VIEW IF NOT EXISTS STOPPED (VID, XWAY, DIR, LANE, POS, SINCE, UNTIL) RANGE INTERVAL '10' MINUTE AS (
  SELECT S.VID, S.XWAY, S.DIR, S.LANE, S.POS, S.T AS SINCE,
         LEAST(S.T + 30, MIN(IF(E.LANE <> S.LANE OR E.POS <> S.POS, E.T, NULL))) AS UNTIL
  FROM MOVES [WINDOW INTERVAL '150' SECOND] S
  JOIN MOVES [WINDOW INTERVAL '150' SECOND] S2
    ON S2.VID = S.VID AND S2.XWAY = S.XWAY AND S2.DIR = S.DIR AND S2.STANDS AND S2.T = S.T - 30 AND S2.T < NOW()
  JOIN MOVES [WINDOW INTERVAL '150' SECOND] S3
    ON S3.VID = S.VID AND S3.XWAY = S.XWAY AND S3.DIR = S.DIR AND S3.STANDS AND S3.T = S.T - 60 AND S3.T < NOW()
  JOIN MOVES [WINDOW INTERVAL '150' SECOND] E
    ON E.VID = S.VID AND E.XWAY = S.XWAY AND E.DIR = S.DIR AND E.T >= S.T AND E.T < S.T + 30
   AND E.T < NOW()
  WHERE S.STANDS AND S.LANE BETWEEN 1 AND 3 AND S.T > NOW() - INTERVAL '90' SECOND AND S.T < NOW()
  GROUP BY S.VID, S.XWAY, S.DIR, S.LANE, S.POS, S.T
  SAMPLE INTERVAL '1' MINUTE);
