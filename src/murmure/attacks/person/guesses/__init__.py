"""The best guess from a report: how often it is right, computed from the law or drawn from it."""
