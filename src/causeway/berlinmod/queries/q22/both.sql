-- view found: nearest_vehicles(QueryPoints, 1, always, QueryLicences)
SELECT * FROM (
    SELECT DISTINCT LL.Licence AS Licence, PO.Id AS Id, PO.Pos AS Pos, round(found.begin) AS begin, round(found.end) AS end
    FROM found JOIN QueryPoints PO ON PO.Id = found.reference JOIN QueryLicences LL ON LL.vehicle = found.candidate)
WHERE begin < end
