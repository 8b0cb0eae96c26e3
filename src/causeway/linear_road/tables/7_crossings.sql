-- Every second: who enters a segment, with what is told and quoted there. In the exit lane (4) nobody is told
-- anything, but the toll of the segment that was left is due.
-- The tolls in force are those of the last tick of TOLLS, at most 59 s ago.

CREATE VIEW IF NOT EXISTS CROSSINGS (VID, XWAY, DIR, LANE, LEAVES, LAV, TOLL, ACCIDENT)
  RANGE INTERVAL '1' DAY AS (
  SELECT M.VID, M.XWAY, M.DIR, M.LANE, M.LEAVES,
         CAST(COALESCE(S.LAV, -1) AS INT), CAST(COALESCE(S.TOLL, 0) AS INT), S.ACCIDENT
  FROM MOVES [WINDOW INTERVAL '59' SECOND] M
  LEFT JOIN TOLLS [WINDOW INTERVAL '59' SECOND] S
    ON S.XWAY = M.XWAY AND S.DIR = M.DIR AND S.SEG = M.SEG
   AND S.T BETWEEN NOW() - INTERVAL '59' SECOND AND NOW()
  WHERE M.T = NOW() AND M.ENTERS
  SAMPLE REALTIME);
