-- Three statements over the position reports of a run that is going on (`make run` asks them).
WAIT FOR POSREPORTS UNTIL 3480;

-- Live: the second that has just arrived.
SELECT T, COUNT(*) AS reports, ROUND(AVG(SPD), 1) AS speed, COUNT(DISTINCT SEG) AS segments
  FROM POSREPORTS WHERE T = NOW() GROUP BY T;

-- Recent: what one vehicle has done in the last three minutes, by the value index.
SELECT T, SEG, LANE, POS, SPD FROM POSREPORTS WHERE VID = 21000 AND T >= NOW() - INTERVAL '3' MINUTE;

-- Old: who passed near segment 40 in the first minutes of the simulation.
SELECT COUNT(DISTINCT VID) AS witnesses, MIN(T) AS first, MAX(T) AS last
  FROM POSREPORTS P WHERE NEAR(SEG, 40) AND VALID(P) OVERLAPS (300, 420);
