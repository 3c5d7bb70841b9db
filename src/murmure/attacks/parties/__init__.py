"""Attacks on exact sums between parties."""
