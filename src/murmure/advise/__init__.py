"""Choosing before asking: mechanisms and solutions ranked by exact variance."""
