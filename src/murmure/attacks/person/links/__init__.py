"""Linking reports to people by their likelihood: scores, ranks with ties, and tables read for it."""
