"""What statistics are built on: rows as codes, one-hot cells, moments, exact sums of terms, designs on a grid."""
