"""What every statistic is built on: rows as codes, rows that are left out, designs on a grid."""
