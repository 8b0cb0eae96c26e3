SELECT V1.Licence AS QueryLicence, V2.Licence AS OtherLicence,
       mo_concat(collect_list(
           atperiods(V1.Trip, deftime(at_bool(le(distance(V1.Trip, V2.Trip), 3.0), TRUE))))) AS Pos
FROM dataMtrip V1, dataMtrip V2, (SELECT DISTINCT Licence FROM QueryLicences1) LL
WHERE V1.Licence = LL.Licence AND V2.Licence <> V1.Licence
  AND sometimes(le(distance(V1.Trip, V2.Trip), 3.0))
GROUP BY V1.Licence, V2.Licence
