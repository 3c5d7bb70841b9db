"""What every noise is built on: the gate, noise bound to what it protects, budgets, noise in shares."""
