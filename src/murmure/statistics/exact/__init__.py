"""The questions that econometric models ask, answered by exact sums. One question per file."""
