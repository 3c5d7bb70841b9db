"""What one row adds to the sums of a model: scores, products, lifetimes."""
