"""The types, errors and randomness that everything else is written in; NumPy only."""
