-- view apart: trajectories(QueryLicences1, QueryLicences2)
SELECT Licence1, Licence2, Dist FROM apart
