"""Estimates and their error bars: what an estimate keeps, and how intervals invert a law."""
