"""The ledger: budgets, charges and the answers they paid for, in SQLite or PostgreSQL."""
