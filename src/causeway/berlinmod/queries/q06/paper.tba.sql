SELECT DISTINCT T1.Licence AS Licence1, T2.Licence AS Licence2
FROM dataMtrip T1, dataMcar C1, dataMtrip T2, dataMcar C2
WHERE T1.Licence < T2.Licence AND T1.Licence = C1.Licence AND T2.Licence = C2.Licence
  AND C1.Type = 'truck' AND C2.Type = 'truck'
  AND sometimes(le(distance(T1.Trip, T2.Trip), 10.0))
