"""Expressions of columns, and their exact sums: parsed text, terms, factors, functions of a row."""
