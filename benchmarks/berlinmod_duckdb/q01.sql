SELECT DISTINCT c.Licence, c.Model FROM QueryLicences JOIN dataMcar c USING (Licence)
