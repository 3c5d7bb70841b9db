"""Experiments of lecture 003 that attack records: which attribute is real, and whose reports these are."""
