SELECT DISTINCT l.Licence, i.Instant,
       {'x': placed(x0, x1, t0, t1, i.Instant), 'y': placed(y0, y1, t0, t1, i.Instant)} AS Pos
FROM QueryLicences1 l JOIN units u USING (vehicle) JOIN QueryInstants1 i ON t0 <= i.Instant AND i.Instant < t1
