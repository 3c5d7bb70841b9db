"""The lectures redrawn: every figure, table, exercise and claim has a living counterpart. See `course` and `items`."""
