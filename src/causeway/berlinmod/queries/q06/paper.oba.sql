SELECT V1.Licence AS Licence1, V2.Licence AS Licence2
FROM dataScar V1, dataScar V2
WHERE V1.Licence < V2.Licence AND V1.Type = 'truck' AND V2.Type = 'truck'
  AND sometimes(le(distance(V1.Trip, V2.Trip), 10.0))
