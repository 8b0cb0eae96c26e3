SELECT count(*) AS Count FROM dataMcar WHERE Type = 'passenger'
