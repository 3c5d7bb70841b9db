"""How the real attribute of a record is guessed: estimated shares, the exact rule, trees, and the exact success."""
