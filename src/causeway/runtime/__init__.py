"""What every part needs of the machine: errors, output folders, progress, child processes, caches."""
