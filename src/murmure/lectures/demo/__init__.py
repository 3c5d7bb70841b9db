"""The demonstration: a simulated survey, in the terminal and as a page."""
