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
|-- AuditFailed           an answer moved further than declared, or did not repeat (murmure.attacks.audits.replay_audit)
`-- MissingExtra          an optional part is not installed (also an ImportError)

SchemaWarning             the schema may describe another table than the one given (a UserWarning)

A raise names a sentence with placeholders and gives their values, so `error.render(translate)` can put the same values
into the sentence of another language. Every sentence is a `str.format` template: a literal brace is written twice.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable, Iterable
from typing import Any, Self

from murmure.show.phrase import Phrase as Phrase
from murmure.show.phrase import Plural as Plural


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

    `message` and `hint` are the two sentences (`hint` may be None), `fields` the values in both of them.
    """

    message: Phrase
    hint: Phrase | None

    def __init__(self, template: str, /, *, hint: str | None = None, **fields: Any) -> None:
        self.message = Phrase(template, **fields)
        self.hint = None if hint is None else Phrase(hint, **fields)
        super().__init__(str(self.text))

    @property
    def template(self) -> str:
        """The sentence, with placeholders."""
        return self.message.template

    @property
    def hint_template(self) -> str | None:
        """The way out, with placeholders, if there is one."""
        return None if self.hint is None else self.hint.template

    @property
    def fields(self) -> dict[str, Any]:
        """What fills the placeholders of both."""
        return self.message.fields | (self.hint.fields if self.hint is not None else {})

    @property
    def text(self) -> Phrase:
        """The whole text that `str` shows."""
        if self.hint is None:
            return self.message
        return Phrase("{message}\n  Hint: {hint}", message=self.message, hint=self.hint)

    def render(self, translate: Callable[[str], str]) -> str:
        """The whole text in another language: `translate` finds the translation of each template."""
        return self.text.render(translate)

    def within(self, template: str, /, **fields: Any) -> Self:
        """The same error, its sentence made part of another one, which has the placeholder `{message}` for it."""
        error = copy.copy(self)
        error.message = Phrase(template, message=self.message, **fields)
        error.args = (str(error.text),)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_error, (type(self), self.args, self.__dict__)


def _make_error(kind: type[MurmureError], args: tuple[Any, ...], state: dict[str, Any]) -> MurmureError:
    error = kind.__new__(kind, *args)  # without __init__, which takes a template
    error.__dict__.update(state)
    return error


class InvalidParameter(MurmureError, ValueError):
    """An argument is not what its owner can work with."""


class SchemaWarning(UserWarning):
    """The schema may describe another table than the one given: shown before anything is read or charged."""


class OutsideDomain(MurmureError, ValueError):
    """A value that the domain does not hold: nothing is clipped or guessed."""

    row: tuple[str, int, str] | None = None  # the column or domain, the row, and the rest of the message

    @classmethod
    def at(cls, owner: str, row: int, rest: str, hint: str | None) -> OutsideDomain:
        error = cls("{owner}: row {row} {rest}", hint=hint, owner=owner, row=row, rest=rest)
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
        from murmure.core.installation import install_command

        super().__init__(
            "{what} needs {package}, which is not installed.",
            hint="install it (the extra {extra}) with: {command}",
            what=what,
            package=package,
            extra=extra,
            command=install_command(extra),
        )


def shorten(value: object, limit: int = 60) -> str:
    """A repr that fits in a message, for any value that a caller passed."""
    try:
        text = repr(value)
    except ValueError:  # Python prints no whole number of more than 4300 digits
        text = f"a {type(value).__name__} that is too long to print"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def suggestion(word: str, known: Iterable[str]) -> Phrase | None:
    """A hint such as "did you mean 'Age'?", where a known word is close."""
    by_lower = {str(k).strip().lower(): k for k in known}
    near = difflib.get_close_matches(word.strip().lower(), by_lower, 1)
    return Phrase("did you mean {name!r}?", name=by_lower[near[0]]) if near else None
