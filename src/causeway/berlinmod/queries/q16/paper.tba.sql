-- Licences are sets here: one that is drawn twice counts once. `same_place` is 1 cm; 10 m in disturbed data.
WITH Here AS (
    SELECT RR.Region AS Region, PP.Period AS Period, C.Licence AS Licence, C.Trip AS Trip
    FROM dataMtrip C, QueryRegions1 RR, QueryPeriods1 PP
    WHERE C.Licence IN (SELECT Licence FROM QueryLicences1 UNION SELECT Licence FROM QueryLicences2)
      AND passes(atperiods(C.Trip, PP.Period), RR.Region)
),
Pairs AS (
    SELECT C1.Region AS Region, C1.Period AS Period, C1.Licence AS Licence1, C2.Licence AS Licence2,
           C1.Trip AS Trip1, C2.Trip AS Trip2
    FROM Here C1, Here C2
    WHERE C1.Region = C2.Region AND C1.Period = C2.Period AND C1.Licence < C2.Licence
      AND C1.Licence IN (SELECT Licence FROM QueryLicences1)
      AND C2.Licence IN (SELECT Licence FROM QueryLicences2)
)
(SELECT Period, Region, Licence1, Licence2 FROM Pairs GROUP BY Region, Period, Licence1, Licence2)
EXCEPT
(SELECT Period, Region, Licence1, Licence2 FROM Pairs
 WHERE NOT isempty(at(atperiods(intersection(Trip1, Trip2, same_place()), Period), Region))
 GROUP BY Region, Period, Licence1, Licence2)
