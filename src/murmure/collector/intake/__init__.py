"""Reports on their way to the disk: a log, an index of tokens, one writer, and a database that is folded behind."""
