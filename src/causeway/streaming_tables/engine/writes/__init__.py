"""What adds rows to tables or changes them: statements, continuous inserts, views."""
