"""The ledger: budgets, charges and the answers they paid for, in SQLite or PostgreSQL."""

from murmure.core.errors import BudgetExhausted, LedgerFailed
from murmure.ledger.entries import Answers, Entry, Part
from murmure.ledger.ledger import Account, Ledger, default_ledger, default_place
from murmure.ledger.sums import Budget, Left, Spent

__all__ = [
    "Account",
    "Answers",
    "Budget",
    "BudgetExhausted",
    "Entry",
    "Ledger",
    "LedgerFailed",
    "Left",
    "Part",
    "Spent",
    "default_ledger",
    "default_place",
]
