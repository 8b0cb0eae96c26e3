SELECT count(Licence) AS Count FROM dataScar WHERE Type = 'passenger'
