"""Linear algebra in fractions, and the tail probabilities that tests need."""
