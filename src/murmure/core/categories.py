"""One of k labels: public constants, never read off the data (core/domain.py)."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType
from typing import Any

import numpy as np

from murmure.core.cells.labels import Labels
from murmure.core.cells.meaning import MAX_15_DIGITS, fits, meaning
from murmure.core.cells.parsed_columns import (
    ADD_HINT,
    Codes,
    ParsedColumn,
    add_outside,
    any_of,
    cell_at,
    one_column,
    parse_integers,
)
from murmure.core.domain_policies import (
    MAX_SIZE,
    Outside,
    check_absent,
    check_outside,
    check_whole,
    of_column,
    policy_fields,
    settings_repr,
)
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.types import Domain, Floats


@dataclass(frozen=True, repr=False, eq=False)
class Categories(Domain):
    """One of k labels: `Categories(["no", "yes"])`, or `Categories(k)` for the numbers 0 .. k-1.

    A cell is a label if both mean the same (core/cells/meaning.py): "1", 1, 1.0, " 01" and true are one label.

    >>> import murmure as mu
    >>> smoker = mu.Categories(["no", "yes"])
    >>> print(smoker.size, smoker.encode(["no", "yes", "no"]).tolist())
    2 [0, 1, 0]
    >>> try:
    ...     smoker.encode(["no", "perhaps"])
    ... except mu.MurmureError as error:
    ...     print(error)
    Categories: row 1 holds 'perhaps' (1 outside in all here); wanted one of ['no', 'yes'].
      Hint: add that label to the domain, or correct those rows
    """

    values: tuple[Hashable, ...] | int
    column: str | None = None
    absent: Any = None  # the label that a missing answer counts as, where a curator reads every row
    outside: Outside = "refuse"  # what becomes of a row with another label
    _labels: Labels | None = field(init=False, repr=False, compare=False, default=None)

    def __init__(
        self,
        values: Sequence[Hashable] | int,
        column: str | None = None,
        absent: Any = None,
        outside: Outside = "refuse",
    ) -> None:
        hint = Phrase("a question with one possible answer has nothing to protect; give at least two")
        if isinstance(values, int | np.integer) and not isinstance(values, bool):
            labels: tuple[Hashable, ...] | int = check_whole("Categories", "k", values, 2, hint)
            coder = None
            if values > MAX_SIZE:
                raise InvalidParameter("Categories.k must be at most 2**31, got {got}.", got=values)
        elif isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
            raise InvalidParameter(
                "Categories takes a list of labels or a number of them, got {got}.",
                hint='Categories(["no", "yes"]) or Categories(4)',
                got=shorten(values),
            )
        else:
            items = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
            if not all(isinstance(v, str | int | float | NoneType) for v in items):
                raise InvalidParameter(
                    "Categories labels must be text, numbers or booleans, got {got}.",
                    hint="dates are Dates(first, last); write similar values as text: labels are stored as JSON",
                    got=shorten(items),
                )
            coder = Labels(_meanings(items))
            if len(items) < 2:
                raise InvalidParameter("Categories needs at least two labels, got {got}.", hint=hint, got=len(items))
            labels = items
        object.__setattr__(self, "values", labels)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "absent", absent)
        object.__setattr__(self, "outside", outside)
        object.__setattr__(self, "_labels", coder)
        check_outside("Categories", outside, labels=True)
        check_absent(self)

    def _identity(self) -> tuple[Any, ...]:
        """0 and False are equal to Python, but not the same label."""
        kinds = () if isinstance(self.values, int) else tuple(type(v) for v in self.values)
        return self.values, kinds, self.column, type(self.absent), self.absent, self.outside

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Categories) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def replaced(self, **settings: Any) -> Categories:
        """The same values, with another column, `absent` or `outside`."""
        kept = {"column": self.column, "absent": self.absent, "outside": self.outside}
        return Categories(self.values, **kept | settings)  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        return self.values if isinstance(self.values, int) else len(self.values)

    def encode(self, values: Any) -> Codes:
        return self.parse(values).all_valid(self)

    def parse(self, values: Any) -> ParsedColumn:
        if self._labels is None:
            return parse_integers(self, values, 0, self.size - 1)
        values = one_column(values)
        codes = self._labels.codes(self, values)
        parsed = ParsedColumn(codes, None, [], functools.partial(cell_at, values))
        if len(codes) and codes.max() >= self.size:
            parsed.missing = any_of(codes == self.size)
            add_outside(parsed, codes > self.size, ADD_HINT)
        return parsed

    def label(self, code: int) -> str:
        return str(code if isinstance(self.values, int) else self.values[code])

    def labels(self) -> list[str]:
        return list(self._texts)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_texts"}  # which others can make too

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.values) if isinstance(self.values, int) else self.values))

    def numbers(self) -> Floats | None:
        if isinstance(self.values, int):
            return np.arange(self.values, dtype=np.float64)
        if all(isinstance(v, int | float) for v in self.values):
            return np.array([float(v) for v in self.values])  # type: ignore[arg-type]
        return None

    ordered = False
    missing_hint = Phrase(
        'drop those rows, or give missing answers a label of their own, as Column(..., missing="value") does'
    )

    def public(self) -> str:
        if isinstance(self.values, int):
            codes = Phrase("the {size} answers 0 to {last}", size=self.size, last=self.size - 1)
            return of_column(codes, self)
        shown = ", ".join(map(repr, self.values[:12])) + (", ..." if self.size > 12 else "")
        return of_column(Phrase("the {size} answers {shown}", size=self.size, shown=shown), self)

    def describe(self) -> str:
        if isinstance(self.values, int):
            return Phrase("a whole number from 0 to {values}", values=self.values - 1)
        return Phrase("one of {values}", values=shorten(list(self.values), 90))

    def to_dict(self) -> dict[str, Any]:
        values = self.values if isinstance(self.values, int) else list(self.values)
        return {"type": "Categories", "values": values, "column": self.column} | policy_fields(self)

    def __repr__(self) -> str:
        shown = self.values if isinstance(self.values, int) else shorten(list(self.values), 40)
        return f"Categories({shown}{settings_repr(self)})"


def _meanings(labels: Sequence[Any]) -> list[float | str]:
    """What each label means. Labels that mean nothing are refused, and two with the same meaning."""
    out: dict[float | str, Any] = {}
    for label in labels:
        meant = float(label) if type(label) is int and -MAX_15_DIGITS < label < MAX_15_DIGITS else meaning(label)
        if meant is None:
            got = "" if label is None or label != label else Phrase(", got {label!r}", label=label)
            raise InvalidParameter(
                "Categories labels must not be None or NaN{got}.",
                hint='give missing answers a label of their own, such as "no answer"',
                got=got,
            )
        assert isinstance(meant, float | str)
        if isinstance(meant, float) and not fits(_number(label)):
            raise InvalidParameter(
                "Categories labels that are numbers must have at most 15 digits, got {got}: numbers are read as "
                "floats, which hold no more.",
                hint="put a letter in front of long numbers, here and in the data",
                got=shorten(label),
            )
        if meant in out:
            other = out[meant]
            alike = (
                ""
                if type(other) is type(label) and other == label
                else Phrase(": {other!r} and {label!r} mean the same", other=other, label=label)
            )
            raise InvalidParameter(
                "Categories labels must differ, got {labels}{alike}.",
                hint="text that looks like a number is read as that number, and true as 1" if alike else None,
                labels=shorten(tuple(labels)),
                alike=alike,
            )
        out[meant] = label
    return list(out)


def _number(label: Any) -> Any:
    """A label that means a number; 0 for a boolean, however it is spelled."""
    truth = isinstance(label, bool) or (isinstance(label, str) and label.strip().lower() in ("true", "false"))
    return 0 if truth else label
