-- Tables for the queries. $DATASET is the folder of the data set.
-- DuckDB reads the columns `trip` and `Trip` as `trip` and `Trip_1`, since names are the same in any case.
-- Flat columns in the order of vehicle and time, so that zone maps work, and geometries where they are asked for.
CREATE TABLE dataMcar AS SELECT vehicle, Licence, Type, Model FROM read_parquet('$DATASET/dataMcar.parquet');
CREATE TABLE QueryPoints AS SELECT Id, Pos, ST_Point(Pos.x, Pos.y) AS place FROM read_parquet('$DATASET/QueryPoints.parquet');
CREATE TABLE QueryRegions AS
SELECT Id, Region, ST_MakePolygon(ST_MakeLine(list_transform(range(1, len(Region.x) + 2),
       lambda i: ST_Point(Region.x[(i - 1) % len(Region.x) + 1], Region.y[(i - 1) % len(Region.x) + 1])))) AS area
FROM read_parquet('$DATASET/QueryRegions.parquet');
CREATE TABLE QueryInstants AS SELECT * FROM read_parquet('$DATASET/QueryInstants.parquet');
CREATE TABLE QueryPeriods AS SELECT * FROM read_parquet('$DATASET/QueryPeriods.parquet');
CREATE TABLE QueryLicences AS SELECT * FROM read_parquet('$DATASET/QueryLicences.parquet');
CREATE VIEW QueryPoints1 AS FROM QueryPoints WHERE Id <= 10;
CREATE VIEW QueryRegions1 AS FROM QueryRegions WHERE Id <= 10;
CREATE VIEW QueryInstants1 AS FROM QueryInstants WHERE Id <= 10;
CREATE VIEW QueryPeriods1 AS FROM QueryPeriods WHERE Id <= 10;
CREATE VIEW QueryLicences1 AS SELECT DISTINCT Licence, vehicle FROM QueryLicences WHERE Id <= 10;
CREATE VIEW QueryLicences2 AS SELECT DISTINCT Licence, vehicle FROM QueryLicences WHERE Id BETWEEN 11 AND 20;

-- One row a unit: from (x0, y0) at t0 to (x1, y1) just before t1. `driven` is what the vehicle drove before t0.
CREATE TABLE units AS
WITH pieces AS (
    SELECT vehicle, trip, unnest(Trip_1.t[1:-2]) AS t0, unnest(Trip_1.t[2:]) AS t1,
           unnest(Trip_1.x[1:-2]) AS x0, unnest(Trip_1.y[1:-2]) AS y0,
           unnest(Trip_1.x[2:]) AS x1, unnest(Trip_1.y[2:]) AS y1
    FROM read_parquet('$DATASET/dataMtrip/*.parquet')
)
SELECT *, sum(sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)) OVER (PARTITION BY vehicle ORDER BY t0)
          - sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2) AS driven
FROM pieces ORDER BY vehicle, t0;

CREATE TABLE trips AS
SELECT vehicle, trip, t_min, t_max,
       ST_MakeLine(list_transform(range(1, len(Trip_1.t) + 1), lambda i: ST_Point(Trip_1.x[i], Trip_1.y[i]))) AS line
FROM read_parquet('$DATASET/dataMtrip/*.parquet') ORDER BY vehicle, t_min;
CREATE INDEX trips_line ON trips USING RTREE (line);

-- The squares of 100 m that a unit touches with a margin of 5 m, for joins: what is within 10 m shares a square.
CREATE TABLE unit_cells AS
SELECT vehicle, t0, t1, x0, y0, x1, y1, cell_x, cell_y
FROM units, unnest(range(((least(x0, x1) - 5) // 100)::INT, ((greatest(x0, x1) + 5) // 100)::INT + 1)) AS columns(cell_x),
     unnest(range(((least(y0, y1) - 5) // 100)::INT, ((greatest(y0, y1) + 5) // 100)::INT + 1)) AS lines(cell_y)
ORDER BY cell_x, cell_y, t0;

-- A coordinate at time t of a unit.
CREATE MACRO placed(c0, c1, t0, t1, t) AS c0 + (c1 - c0) * (t - t0) / (t1 - t0);
-- Of a vector that goes evenly from (x0, y0) to (x1, y1): where the line through both is nearest to the origin, as a
-- part of the way, and the smallest square of the vector on the way itself.
CREATE MACRO line_part(x0, y0, x1, y1) AS
    CASE WHEN x0 = x1 AND y0 = y1 THEN 0.0
         ELSE -(x0 * (x1 - x0) + y0 * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2) END;
CREATE MACRO square_at(x0, y0, x1, y1, part) AS (x0 + part * (x1 - x0)) ** 2 + (y0 + part * (y1 - y0)) ** 2;
CREATE MACRO least_square(x0, y0, x1, y1) AS
    square_at(x0, y0, x1, y1, least(greatest(line_part(x0, y0, x1, y1), 0.0), 1.0));
-- How far from there, as a part of the way, it is r away from the origin.
CREATE MACRO half_part(x0, y0, x1, y1, r) AS
    sqrt(greatest(r ** 2 - square_at(x0, y0, x1, y1, line_part(x0, y0, x1, y1)), 0.0)
         / ((x1 - x0) ** 2 + (y1 - y0) ** 2));
-- The parts at which it comes within r of the origin, and at which it leaves; only if it does.
CREATE MACRO part_entered(x0, y0, x1, y1, r) AS
    CASE WHEN x0 ** 2 + y0 ** 2 <= r ** 2 THEN 0.0
         ELSE line_part(x0, y0, x1, y1) - half_part(x0, y0, x1, y1, r) END;
CREATE MACRO part_left(x0, y0, x1, y1, r) AS
    CASE WHEN x1 ** 2 + y1 ** 2 <= r ** 2 THEN 1.0
         ELSE line_part(x0, y0, x1, y1) + half_part(x0, y0, x1, y1, r) END;
-- A piece of a way as a geometry; a piece without a length is a point.
CREATE MACRO way(x0, y0, x1, y1) AS
    CASE WHEN x0 = x1 AND y0 = y1 THEN ST_Point(x0, y0) ELSE ST_MakeLine(ST_Point(x0, y0), ST_Point(x1, y1)) END;
