-- Every second: the reports at which something happens, each compared with the same vehicle's report exactly
-- 30 s earlier from the same road (B, "before"). Without one, the report starts a trip.
--
--   ENTERS  the vehicle is in a segment that it was not in before: it starts a trip, or its segment differs
--   LEAVES  it leaves a segment by driving on, so that the toll quoted there is due; who was in the exit lane
--           leaves by the ramp, and is not charged
--   STANDS  it is where it was before

CREATE VIEW IF NOT EXISTS MOVES (VID, XWAY, DIR, SEG, LANE, POS, ENTERS, LEAVES, STANDS)
  RANGE INTERVAL '10' MINUTE AS (
  SELECT P.VID, P.XWAY, P.DIR, P.SEG, P.LANE, P.POS,
         B.VID IS NULL OR B.SEG <> P.SEG,
         B.VID IS NOT NULL AND B.SEG <> P.SEG AND B.LANE <> 4,
         B.VID IS NOT NULL AND B.LANE = P.LANE AND B.POS = P.POS
  FROM POSREPORTS [WINDOW INTERVAL '30' SECOND] P
  LEFT JOIN POSREPORTS [WINDOW INTERVAL '30' SECOND] B
    ON B.VID = P.VID AND B.XWAY = P.XWAY AND B.DIR = P.DIR AND B.T = NOW() - INTERVAL '30' SECOND
  WHERE P.T = NOW() AND (B.VID IS NULL OR B.SEG <> P.SEG OR (B.LANE = P.LANE AND B.POS = P.POS))
  SAMPLE REALTIME);
