SELECT count(Licence) AS Count FROM Vehicles WHERE Type = 'passenger'
