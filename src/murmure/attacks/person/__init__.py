"""Attacks on what people send: their reports."""
