"""Pages and tables that show a data set."""
