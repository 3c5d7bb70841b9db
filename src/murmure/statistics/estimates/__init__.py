"""What exact sums say once they are added up: fractions, counts of cells, and the noise in them."""
