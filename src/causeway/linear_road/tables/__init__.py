"""Linear Road in SQL: streaming tables and views, and three procedures in Python.

1_input.sql … 7_crossings.sql   the benchmark, in the order of the data; 8_feed.sql begins the inserts
statements                      runs these files on a warehouse
accounts, procedures            what SQL over streaming tables does not say well, and why
answering                       hands the rows of the last view and the procedures' answers over
"""
