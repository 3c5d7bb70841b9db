"""Generic checks: list a thing in EXAMPLES and these come to it."""
