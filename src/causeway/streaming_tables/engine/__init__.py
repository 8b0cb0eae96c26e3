"""Statements over streaming tables on Spark. The rooms, from the bottom up:

plans        what Spark says of a statement: its plan, conditions, scans, errors
catalog      what a warehouse holds: tables, views, inserts, standard tables
reads        one-time reads: Spark's relations of a snapshot, and scans without Spark
windows      sliding windows on arrays, and their state
continuous   queries that are answered at ticks, in four ways
writes       changes, continuous inserts, views

`connection` is what a user has, `statements` runs each kind of statement.
"""
