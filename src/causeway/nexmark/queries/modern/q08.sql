-- Monitor new users: who registered and opened an auction in the same ten seconds, once for each.
-- State: the persons and sellers of windows that the watermark has not passed.
SELECT P.id, P.name, P.window.start AS starttime
FROM (SELECT id, name, window(dateTime, '10 seconds') AS window
      FROM person
      GROUP BY id, name, window(dateTime, '10 seconds')) P
JOIN (SELECT seller, window(dateTime, '10 seconds') AS window
      FROM auction
      GROUP BY seller, window(dateTime, '10 seconds')) A
  ON P.id = A.seller AND P.window = A.window
