-- What the driver delivers, as it comes. 'SPOOL' stands for the run's own spool.

INSERT INTO POSREPORTS VALUES FROM 'SPOOL' OPTIONS (stream = 'reports');

INSERT INTO REQUESTS VALUES FROM 'SPOOL' OPTIONS (stream = 'requests');
