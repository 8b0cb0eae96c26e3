-- Once, at the end of a run: the traffic of every segment and minute, accidents, and what was told from then on.

SELECT CAST(C.T DIV 60 AS INT) AS Minute, C.XWAY AS XWay, C.DIR AS Dir, C.SEG AS Seg,
       CAST(C.CARS AS INT) AS Cars, CAST(COALESCE(S.LAV, -1) AS INT) AS Lav, CAST(COALESCE(S.TOLL, 0) AS INT) AS Toll,
       CAST(COALESCE(C.ACCIDENT, 0) AS INT) AS Accident
FROM (SELECT XWAY, DIR, SEG, T, MAX(CARS) AS CARS, MAX(ACCIDENT) AS ACCIDENT
      FROM (SELECT XWAY, DIR, SEG, T, CARS, 0 AS ACCIDENT FROM SEGSTAT
            UNION ALL
            SELECT XWAY, DIR, SEG, T, 0, 1 FROM ACCIDENTS)
      GROUP BY XWAY, DIR, SEG, T) C
LEFT JOIN TOLLS S ON S.XWAY = C.XWAY AND S.DIR = C.DIR AND S.SEG = C.SEG AND S.T = C.T
