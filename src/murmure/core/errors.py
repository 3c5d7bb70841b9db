"""Every error says what is wrong, where, what was expected, what was given, and a way out.

MurmureError
|-- InvalidParameter      an argument that its owner cannot use (also a ValueError)
|-- OutsideDomain         a person's value that the domain does not hold (also a ValueError)
|-- MissingColumn         a frame without a column that is needed (also a KeyError)
|-- EmptySource           nobody to add up (also a ValueError)
|-- PlanMismatch          reports or a file that answer another plan
|-- PlanRefused           a plan that cannot be run without changes
|   `-- RareCondition     exact sums that could be about too few rows, judged from public facts
|-- NoUnbiasedEstimate    a biased output has no error bar
|-- UnsafeRandomness      seeded randomness where people are at stake
|-- CannotWrite           a file that cannot be written: no part of it is left behind
|-- BudgetExhausted       a charge that the people's budget does not cover: nothing is released
|-- AlreadyPaid           the same question was answered in the meantime: nothing was charged
|-- LedgerFailed          a ledger that cannot be read, trusted or written: nothing is released
|-- AuditFailed           an answer moved further than declared, or did not repeat (murmure.attacks.replay_audit)
`-- MissingExtra          an optional part is not installed (also an ImportError)

SchemaWarning             the schema may describe another table than the one given (a UserWarning)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MurmureError(Exception):
    """The root: catch this to catch every error that Murmure raises on purpose.

    >>> import murmure as mu
    >>> try:
    ...     mu.GRR(mu.Categories(2), epsilon=-1.0)
    ... except mu.MurmureError as error:
    ...     print(type(error).__name__, "is also a ValueError:", isinstance(error, ValueError))
    ...     print(error)
    InvalidParameter is also a ValueError: True
    GRR.epsilon must be a positive finite number, got -1.0.
      Hint: epsilon=1.0 is a usual start
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n  Hint: {hint}")
        self.hint = hint


class InvalidParameter(MurmureError, ValueError):
    """An argument is not what its owner can work with."""


class SchemaWarning(UserWarning):
    """The schema may describe another table than the one given: shown before anything is read or charged."""


class OutsideDomain(MurmureError, ValueError):
    """A value that the domain does not hold: nothing is clipped or guessed."""

    row: tuple[str, int, str] | None = None  # the column or domain, the row, and the rest of the message

    @classmethod
    def at(cls, owner: str, row: int, rest: str, hint: str | None) -> OutsideDomain:
        error = cls(f"{owner}: row {row} {rest}", hint=hint)
        error.row = (owner, row, rest)
        return error

    def later(self, rows: int) -> OutsideDomain:
        """The same error, with the row counted from the start of the data: `rows` rows came before this batch."""
        if self.row is None:
            return self
        owner, row, rest = self.row
        return OutsideDomain.at(owner, row + rows, rest, self.hint)


class MissingColumn(MurmureError, KeyError):
    """The frame has no such column."""

    __str__ = Exception.__str__  # KeyError would print the message's repr


class EmptySource(MurmureError, ValueError):
    """No rows: there is nobody to add up."""


class PlanMismatch(MurmureError):
    """These reports were made for another plan."""


class PlanRefused(MurmureError):
    """The plan cannot be run without changes."""


class RareCondition(PlanRefused):
    """Exact sums over a condition that too few rows may fulfil, or whose weights lift some rows above the others."""


class NoUnbiasedEstimate(MurmureError):
    """A biased output carries no error bar; the message says why it is biased."""


class UnsafeRandomness(MurmureError):
    """A seeded generator where real people are at stake."""


class CannotWrite(MurmureError):
    """The result cannot be written to this place; no part of it is left behind."""


class BudgetExhausted(MurmureError):
    """The budget of these people does not cover the charge, or they have none; nothing was charged."""


class AlreadyPaid(MurmureError):
    """Somebody paid for the same answer in the meantime: it is free now."""


class LedgerFailed(MurmureError):
    """The ledger cannot be read, trusted or written; without a charge nothing is released."""


class MissingExtra(MurmureError, ImportError):
    """An optional dependency is needed for this."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs {package}, which is not installed.",
            hint=f"install it with: pip install 'murmure[{extra}]' (in a clone: script/setup {extra})",
        )


def shorten(value: object, limit: int = 60) -> str:
    """A repr that fits in a message, for any value that a caller passed."""
    try:
        text = repr(value)
    except ValueError:  # Python prints no whole number of more than 4300 digits
        text = f"a {type(value).__name__} that is too long to print"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """A hint such as "did you mean 'Age'?", where a known word is close."""
    by_lower = {str(k).strip().lower(): k for k in known}
    near = difflib.get_close_matches(word.strip().lower(), by_lower, 1)
    return f"did you mean {by_lower[near[0]]!r}?" if near else None


def pluralise(n: int, one: str, many: str) -> str:
    """1 party, 2 parties."""
    return f"{n} {one if n == 1 else many}"
