"""What Spark says of a statement: its plan as a tree, conditions, scans, and errors in the user's words."""
