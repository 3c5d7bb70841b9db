"""One model per file."""
