"""What a warehouse holds: streaming tables and those beside them, views, inserts, standard tables."""
