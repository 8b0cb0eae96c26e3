SELECT 1
%%
select 1 as one, 'two' two, 3.0 `three`
%%
  SELECT 1  
%%


-- a comment first
/* and another */ SELECT 1 -- and one last
%%
SELECT 1 /* outer /* inner */ still outer */ AS one
%%
SELECT 1 -- no end of line, then SAMPLE REALTIME
%%
SELECT 1 -- continued \
 FROM posreports [ROWS 3]
 AS one
%%
SELECT * FROM plain
%%
SELECT DISTINCT a, b FROM plain WHERE a IS NOT NULL AND NOT b IN (1, 2, 3)
%%
SELECT ALL a FROM plain p
%%
SELECT p.* FROM plain AS p
%%
SELECT * EXCEPT (a, b) FROM plain
%%
SELECT a, count(*) FROM plain GROUP BY a HAVING count(*) > 1 ORDER BY a DESC NULLS LAST LIMIT 10 OFFSET 5
%%
SELECT a, b, sum(c) FROM plain GROUP BY GROUPING SETS ((a, b), (a), ())
%%
SELECT a, b, sum(c) FROM plain GROUP BY ROLLUP (a, b)
%%
SELECT a, b, sum(c) FROM plain GROUP BY a, b WITH CUBE
%%
SELECT a FROM plain CLUSTER BY a
%%
SELECT a FROM plain DISTRIBUTE BY a SORT BY a ASC
%%
SELECT CASE WHEN a > 1 THEN 'x' WHEN a = 1 THEN 'y' ELSE 'z' END FROM plain
%%
SELECT CASE a WHEN 1 THEN b[0] END AS x FROM plain
%%
SELECT CAST(a AS DECIMAL(10, 2)), a::string, TRY_CAST(b AS INT) FROM plain
%%
SELECT a BETWEEN 1 AND 2, a LIKE 'x%' ESCAPE '!', a RLIKE r'\d+', a ILIKE ANY ('a', 'b') FROM plain
%%
SELECT a <=> b, a != b, a <> b, a == b, a >= b, a <= b, a || b, ~a, -a, a % b, a DIV b, a & b, a ^ b FROM plain
%%
SELECT EXTRACT(YEAR FROM d), TRIM(BOTH 'x' FROM s), TRIM(FROM s), SUBSTRING(s FROM 2 FOR 3) FROM plain
%%
SELECT OVERLAY(s PLACING 'x' FROM 3), POSITION('a' IN s) FROM plain
%%
SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b FROM plain
%%
SELECT a FROM plain WHERE a IS DISTINCT FROM b AND m[b] = 2
%%
SELECT now(), NOW() - INTERVAL '15' MINUTE, current_timestamp() FROM plain
%%
SELECT now() AS now FROM plain WHERE d > now() - INTERVAL 1 DAY 2 HOURS
%%
SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND, INTERVAL 3 MONTHS, INTERVAL '5 minutes'
%%
SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', X'1F', TIMESTAMP_NTZ '2020-01-01 00:00:00'
%%
SELECT 1L, 2S, 3Y, 4.5D, 5.5F, 6.5BD, .5, 1e10, 1.5E-3, 7e3D
%%
SELECT ?, :name FROM plain WHERE a = :value
%%
SELECT t.1a FROM (SELECT 1 AS 1a) t
%%
SELECT 'SELECT * FROM posreports [WINDOW ROWS 3] SAMPLE REALTIME'
%%
SELECT "FROM posreports [ROWS 1]", 'it''s; NOW()', "say ""hi""; PREV(P1)"
%%
SELECT 'a\'; b', r'raw \', R"raw \", 'one' 'two'
%%
SELECT `FROM posreports [ROWS 3]`, `a``b; c` FROM `pla``in table`
%%
SELECT 'unlike -- a comment', "/* nor this */", `-- nor that` FROM plain
%%
SELECT '--', 1 /* ' */, 2 -- "
, 3
%%
CREATE VIEW v (a) WITH METRICS LANGUAGE YAML AS $$FROM posreports [ROWS 3]; it's$$
%%
SELECT 'line one
line two; SAMPLE INTERVAL ''1'' MINUTE'
%%
SELECT '', "", ''''
%%
SELECT 'ünïcode ; ☃', 'a	b' FROM plain WHERE `größe` > 1
%%
SELECT a[1], m['key'], a[b[0]], s.f[1].g, (SELECT x)[0], f(x)[0] FROM plain
%%
SELECT a[window], a[sample], m[rows] FROM plain
%%
SELECT p.a[0] FROM plain p JOIN other o ON p.a[0] = o.b[1] AND p.m['x'] = o.m['y'], third t
%%
SELECT * FROM plain p LEFT JOIN other o ON p.id = o.ids[0] WHERE p.a[size(p.a) - 1] > 0
%%
SELECT * FROM plain p, other o WHERE p.a [ 1 ] = o.a [0]
%%
SELECT array(1, 2, 3)[0], map('a', 1)['a'], named_struct('a', array(1))['a'][0]
%%
SELECT a[0] x, a[1] y FROM plain ORDER BY a[0], m['k'] DESC
%%
SELECT posreports[0] FROM plain
%%
SELECT posreports.vid, segstat[1] FROM (SELECT 1 AS a) posreports, plain
%%
SELECT transform(a, x -> x + 1), filter(a, x -> x[0] > 1), aggregate(a, 0, (acc, x) -> acc + x) FROM plain
%%
SELECT transform(a, (x, i) -> x[i]), exists(a, x -> x IS DISTINCT FROM 1) FROM plain
%%
SELECT near(1, 2), prev(a), trj(a), valid(b) FROM plain
%%
SELECT prev(a) = b, b = prev(a), near(seg, 3, 1) FROM plain WHERE valid(a) AND near(a, b)
%%
SELECT count(*) FILTER (WHERE a > 1), sum(DISTINCT b), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM plain
%%
SELECT first(a) IGNORE NULLS, any_value(b), f(x => 1, y => 2) FROM plain
%%
SELECT struct(a AS x, b y), named_struct('a', 1).a, if(a > 1, b, c), left(s, 2), right(s, 2) FROM plain
%%
SELECT window(d, '5 minutes'), window.start, session_window(d, '5 minutes') FROM plain GROUP BY window(d, '5 minutes')
%%
SELECT range.id FROM range(10) AS range
%%
SELECT * FROM range(0, 10, 2) r, explode(array(1, 2)) AS t(x)
%%
SELECT * FROM f(TABLE(plain) PARTITION BY a ORDER BY b)
%%
SELECT * FROM f(TABLE(SELECT a FROM plain), x => 1)
%%
SELECT * FROM IDENTIFIER('pla' || 'in')
%%
SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM plain
%%
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM plain
%%
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND UNBOUNDED FOLLOWING) FROM plain
%%
SELECT sum(a) OVER w, lag(a, 1) OVER w FROM plain WINDOW w AS (PARTITION BY b ORDER BY c)
%%
SELECT sum(a) OVER w, max(b) OVER v FROM plain WINDOW w AS (PARTITION BY b), v AS (ORDER BY c)
%%
SELECT a FROM plain QUALIFY row_number() OVER (ORDER BY a) = 1
%%
SELECT a sample, b window, c prev, d near, e valid, f trj, g range FROM plain
%%
SELECT a AS sample, b AS window, c AS prev, d AS near, e AS valid, f AS trj, g AS range, h AS `from` FROM plain
%%
SELECT sample.a, window.b FROM plain sample, other window
%%
SELECT sample realtime
%%
SELECT a, sample realtime FROM plain
%%
SELECT a * sample realtime FROM plain
%%
SELECT sample FROM plain sample
%%
SELECT * FROM plain AS sample JOIN other AS window ON sample.a = window.a
%%
SELECT * FROM sample, window, prev, near, valid, trj, range, stream, interval, realtime
%%
SELECT * FROM plain range WHERE range.a > 1
%%
SELECT sample, interval FROM plain ORDER BY sample
%%
SELECT * FROM plain stream, stream s
%%
SELECT prev, near, valid, trj, now, overlaps FROM plain
%%
SELECT * FROM db.posreports, cat.db.segstat s
%%
SELECT * FROM `db`.`posreports` p
%%
SELECT * FROM plain AS posreports
%%
SELECT * FROM plain AS t (a, b, c)
%%
SELECT posreports.vid FROM plain posreports (vid, spd)
%%
SELECT posreports FROM plain
%%
SELECT from FROM plain
%%
SELECT select, a AS from FROM plain WHERE a[0] = 1
%%
SELECT * FROM plain for, other limit
%%
SELECT * FROM plain TABLESAMPLE (10 PERCENT)
%%
SELECT * FROM plain TABLESAMPLE (5 ROWS) REPEATABLE (7) AS p
%%
SELECT * FROM plain TABLESAMPLE (BUCKET 4 OUT OF 10) p WHERE a[0] = 1
%%
SELECT * FROM plain LATERAL VIEW explode(m) x AS k, v
%%
SELECT * FROM plain LATERAL VIEW OUTER explode(a) x AS k LATERAL VIEW posexplode(b) y AS i, w WHERE w[0] > 1
%%
SELECT * FROM plain p, LATERAL (SELECT * FROM other o WHERE o.a = p.a) q
%%
SELECT * FROM plain JOIN LATERAL explode(a) AS t(x)
%%
SELECT * FROM plain PIVOT (sum(a) AS s FOR b IN ('x' AS x, 'y'))
%%
SELECT * FROM plain UNPIVOT (v FOR k IN (a, b AS c))
%%
SELECT * FROM plain UNPIVOT INCLUDE NULLS (v FOR k IN (a, b)) AS u
%%
SELECT * FROM a CROSS JOIN b NATURAL JOIN c LEFT SEMI JOIN d USING (x, y) FULL OUTER JOIN e ON a.x = e.x
%%
SELECT * FROM a LEFT ANTI JOIN b ON a.x = b.x INNER JOIN c USING (x) RIGHT JOIN d ON true
%%
SELECT * FROM (a JOIN b ON a.x = b.x) JOIN (c CROSS JOIN d) ON true
%%
SELECT * FROM (SELECT a FROM plain) AS p, (VALUES (1), (2)) AS v (x), ((SELECT 1)) w
%%
SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t (x, y), plain p
%%
SELECT * FROM VALUES 1, 2, 3 AS t (x)
%%
SELECT * FROM plain VERSION AS OF 3
%%
SELECT * FROM plain FOR TIMESTAMP AS OF '2020-01-01' AS p
%%
SELECT * FROM plain WITH ('split' = '5') p
%%
SELECT * FROM parquet.`/a/folder [ROWS 3]`
%%
SELECT * FROM STREAM plain
%%
SELECT * FROM STREAM(plain) AS s
%%
FROM plain SELECT a, b WHERE a > 1
%%
FROM plain
%%
FROM plain |> WHERE a[0] > 1 |> SELECT a, b |> AGGREGATE sum(a) AS s GROUP BY b |> ORDER BY s |> LIMIT 5
%%
FROM plain |> JOIN other USING (a) |> EXTEND a + 1 AS c |> DROP b |> AS q |> UNION ALL (SELECT 1)
%%
TABLE plain
%%
VALUES (1, 2), (3, 4)
%%
VALUES 1, 2
%%
(SELECT 1)
%%
((SELECT 1) UNION (SELECT 2)) ORDER BY 1
%%
SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4 MINUS SELECT 5
%%
SELECT a FROM plain UNION DISTINCT TABLE other
%%
(SELECT a FROM plain LIMIT 1) UNION ALL (SELECT b FROM other ORDER BY b) LIMIT 3
%%
SELECT TRANSFORM (a, b) USING 'cat' AS (c STRING, d INT) FROM plain
%%
SELECT * FROM plain WHERE EXISTS (SELECT 1 FROM other WHERE other.a = plain.a) AND a IN (SELECT b FROM third)
%%
SELECT (SELECT max(a) FROM plain) AS m, (SELECT array(1))[0]
%%
WITH x AS (SELECT 1 AS a) SELECT * FROM x
%%
WITH posreports AS (SELECT 1 AS vid) SELECT * FROM posreports
%%
WITH posreports (vid, spd) AS (SELECT 1, 2), y AS (SELECT * FROM posreports) SELECT * FROM y, POSREPORTS p
%%
WITH RECURSIVE posreports(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM posreports WHERE n < 5) TABLE posreports
%%
WITH a AS (WITH posreports AS (SELECT 1) SELECT * FROM posreports) SELECT * FROM a
%%
SELECT * FROM (WITH posreports AS (SELECT 1 x) SELECT * FROM posreports) q
%%
WITH segstat AS (SELECT 1 x) SELECT * FROM plain WHERE a IN (SELECT x FROM segstat)
%%
WITH x AS (SELECT 1 a) INSERT INTO plain SELECT * FROM x
%%
SELECT /*+ BROADCAST(p), MERGE(o) */ * FROM plain p JOIN other o ON p.a = o.a
%%
SELECT /*+ REPARTITION(3, a) */ /*+ COALESCE(1) */ a FROM plain
%%
SELECT /*+ hint('*/ posreports [ROWS 3]') */ a FROM plain
%%
CREATE STREAMING TABLE st AS SELECT * FROM STREAM plain
%%
CREATE STREAMING TABLE IF NOT EXISTS st (a INT, b STRING) USING parquet TBLPROPERTIES ('range' = 'RANGE INTERVAL 5')
%%
CREATE STREAMING TABLE posreports (vid INT)
%%
CREATE STREAMING TABLE st COMMENT 'RANGE' AS SELECT range FROM STREAM plain
%%
CREATE MATERIALIZED VIEW mv AS SELECT a FROM plain
%%
CREATE VIEW v AS SELECT * FROM plain
%%
CREATE OR REPLACE VIEW v (a COMMENT 'RANGE INTERVAL 5', b) COMMENT 'x' TBLPROPERTIES ('a' = 'b') AS SELECT a, b FROM plain
%%
CREATE VIEW IF NOT EXISTS range AS (SELECT range FROM plain)
%%
CREATE OR REPLACE GLOBAL TEMPORARY VIEW v AS SELECT 1
%%
CREATE TEMP VIEW v USING csv OPTIONS (path 'x', header 'true')
%%
CREATE TEMPORARY VIEW sample AS SELECT 1 AS realtime
%%
CREATE TABLE t (a INT NOT NULL COMMENT 'x', b STRUCT<x: INT, y: ARRAY<MAP<STRING, INT>>>, c DECIMAL(10, 2) DEFAULT 1) USING parquet PARTITIONED BY (a)
%%
CREATE TABLE t USING parquet OPTIONS (a = 1) CLUSTERED BY (a) INTO 4 BUCKETS LOCATION '/x' AS SELECT * FROM plain
%%
CREATE OR REPLACE TABLE t AS WITH x AS (SELECT 1) SELECT * FROM x
%%
CREATE TABLE t LIKE plain USING csv
%%
CREATE INDEX idx ON TABLE plain (a)
%%
CREATE INDEX IF NOT EXISTS idx ON plain USING kind (a, b) OPTIONS ('x' = 'y')
%%
DROP INDEX idx ON TABLE plain
%%
DROP TABLE IF EXISTS plain PURGE
%%
DROP VIEW IF EXISTS db.posreports
%%
DROP TEMPORARY FUNCTION f
%%
ALTER TABLE plain ADD COLUMNS (c INT AFTER a)
%%
ALTER TABLE plain RENAME TO other
%%
ALTER VIEW v AS SELECT 1
%%
CREATE FUNCTION near(a INT, b INT) RETURNS BOOLEAN RETURN abs(a - b) <= 1
%%
CREATE TEMPORARY FUNCTION prev AS 'com.example.Prev' USING JAR '/a.jar'
%%
CREATE FUNCTION f(a INT) RETURNS TABLE (b INT) RETURN SELECT a AS b FROM plain
%%
CREATE SCHEMA IF NOT EXISTS s COMMENT 'x' LOCATION '/x' WITH DBPROPERTIES (a = 'b')
%%
CREATE DATABASE d
%%
DECLARE OR REPLACE VARIABLE v INT DEFAULT 5
%%
COMMENT ON TABLE plain IS 'SAMPLE REALTIME'
%%
INSERT INTO plain VALUES (1, 'a'), (2, 'b')
%%
INSERT INTO TABLE plain (a, b) SELECT a, b FROM other WHERE c[0] = 1
%%
INSERT INTO plain BY NAME SELECT 1 AS a
%%
INSERT OVERWRITE TABLE plain PARTITION (a = 1) IF NOT EXISTS SELECT b FROM other
%%
INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT * FROM plain
%%
INSERT INTO plain REPLACE WHERE a = 1 SELECT * FROM other
%%
INSERT INTO plain TABLE other
%%
FROM plain INSERT INTO a SELECT x INSERT INTO b SELECT y WHERE z > 1
%%
DELETE FROM plain WHERE a IN (SELECT b FROM other) AND m['x'] = 1
%%
DELETE FROM plain
%%
UPDATE plain SET a = 1, b = array(1, 2)[0] WHERE c = 'SET'
%%
MERGE INTO plain p USING other o ON p.a = o.a WHEN MATCHED AND o.b[0] > 1 THEN UPDATE SET p.c = o.c WHEN NOT MATCHED THEN INSERT (a, c) VALUES (o.a, o.c) WHEN NOT MATCHED BY SOURCE THEN DELETE
%%
MERGE INTO plain USING (SELECT * FROM other) o ON plain.a = o.a WHEN MATCHED THEN DELETE
%%
TRUNCATE TABLE plain
%%
LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE plain
%%
SET
%%
SET -v
%%
SET spark.sql.shuffle.partitions=2
%%
SET spark.a.b = it's no string
%%
SET causeway.other = 1
%%
SET spark.a.b = SELECT * FROM plain [ROWS 3] SAMPLE REALTIME
%%
SET TIME ZONE 'UTC'
%%
SET TIME ZONE INTERVAL '08:30' HOUR TO MINUTE
%%
SET VAR v = (SELECT max(a) FROM plain)
%%
RESET spark.sql.shuffle.partitions
%%
DESCRIBE plain
%%
DESC TABLE EXTENDED plain
%%
DESCRIBE FORMATTED db.posreports
%%
DESCRIBE TABLE plain a
%%
DESCRIBE FUNCTION EXTENDED near
%%
DESCRIBE QUERY SELECT 1
%%
DESCRIBE SCHEMA default
%%
SHOW TABLES IN default LIKE 'p*'
%%
SHOW VIEWS FROM default
%%
SHOW DATABASES
%%
SHOW CREATE TABLE plain
%%
SHOW COLUMNS FROM plain
%%
SHOW PARTITIONS plain
%%
SHOW FUNCTIONS LIKE 'n*'
%%
SHOW TBLPROPERTIES plain
%%
SHOW TABLE EXTENDED LIKE 'p*'
%%
EXPLAIN SELECT 1
%%
EXPLAIN EXTENDED SELECT * FROM plain
%%
EXPLAIN CODEGEN WITH x AS (SELECT 1) SELECT * FROM x
%%
EXPLAIN COST INSERT INTO plain VALUES (1)
%%
ANALYZE TABLE plain COMPUTE STATISTICS FOR COLUMNS a, b
%%
CACHE LAZY TABLE plain OPTIONS ('storageLevel' = 'DISK_ONLY')
%%
CACHE TABLE c AS SELECT a FROM plain
%%
UNCACHE TABLE IF EXISTS plain
%%
CLEAR CACHE
%%
REFRESH TABLE plain
%%
REFRESH 'hdfs://a--b/c'
%%
MSCK REPAIR TABLE plain
%%
USE default
%%
SET CATALOG spark_catalog
%%
ADD JAR '/a;b.jar'
%%
ADD FILE hdfs://host/a--b
%%
LIST FILES
%%
EXECUTE IMMEDIATE 'SELECT * FROM posreports WHERE vid = ?' USING 3
%%
CALL proc(1, x => 2)
