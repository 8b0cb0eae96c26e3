-- Licences are sets here: one that is drawn twice counts once. `same_place` is 1 cm; 10 m in disturbed data.
SELECT DISTINCT PP.Period AS Period, RR.Region AS Region, C1.Licence AS Licence1, C2.Licence AS Licence2
FROM dataScar C1, dataScar C2, QueryRegions1 RR, QueryPeriods1 PP,
     (SELECT DISTINCT Licence FROM QueryLicences1) LL1, (SELECT DISTINCT Licence FROM QueryLicences2) LL2
WHERE C1.Licence = LL1.Licence AND C2.Licence = LL2.Licence
  AND LL1.Licence < LL2.Licence
  AND passes(atperiods(C1.Trip, PP.Period), RR.Region)
  AND passes(atperiods(C2.Trip, PP.Period), RR.Region)
  AND isempty(at(atperiods(intersection(C1.Trip, C2.Trip, same_place()), PP.Period), RR.Region))
