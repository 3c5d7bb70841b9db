"""What several items of a lecture share: the experiments that they repeat."""
