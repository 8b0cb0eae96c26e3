SELECT count(Licence) AS Count FROM dataMcar WHERE Type = 'passenger'
