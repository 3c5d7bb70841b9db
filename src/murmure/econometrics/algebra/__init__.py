"""Linear algebra in fractions, and the tails of the laws that tests are compared with."""
