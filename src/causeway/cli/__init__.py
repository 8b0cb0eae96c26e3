"""The command line: one module for each benchmark; read from top to bottom, they are the tour."""
