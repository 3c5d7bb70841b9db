"""Which rows a question is about, and whether they could be too few: judged from public facts alone."""
