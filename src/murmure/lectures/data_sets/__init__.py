"""Data sets of the lectures: where they come from, and what is done when they are not there."""
