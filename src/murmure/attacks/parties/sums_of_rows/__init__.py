"""What attacks on exact sums share: questions about one row, and rows from sums."""
