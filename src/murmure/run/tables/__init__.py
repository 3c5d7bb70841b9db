"""Tables of randomised records: written row by row, and estimated from."""
