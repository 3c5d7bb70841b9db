"""Is this row in the table that a model learned from? What an attacker can compute to decide it."""
