"""Experiments that several items of a lecture share."""
