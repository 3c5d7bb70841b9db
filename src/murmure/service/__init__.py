"""A study between organisations, over HTTP: the coordinator's side, and each party's own."""
