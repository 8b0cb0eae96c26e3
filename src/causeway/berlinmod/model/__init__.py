"""What BerlinMOD is: its parameters, its calendar and the rules of driving."""
