"""Audits: lower bounds on epsilon from samples alone, and the replay audit, which freezes the noise and compares."""
