"""Attacks on what a curator releases."""
