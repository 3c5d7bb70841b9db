"""One column of a schema: its domain, what replaces a missing answer, and what becomes of values outside the domain."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np

from murmure.core.cells.meaning import MAX_15_DIGITS, meaning_of_text
from murmure.core.domain import Categories, Dates, Decimals, Domain, Integers, Interval, absent_as, with_outside
from murmure.core.domain_policies import Outside, check_outside, holds
from murmure.core.errors import InvalidParameter, shorten

Missing = Literal["refuse", "value", "constant"]
MISSING_LABEL = "missing"  # of a missing answer, unless the column names another
MAX_NUMBERED = 1 << 20  # Categories(k) with a label more must write its labels down


@dataclass(frozen=True)
class Column:
    """A domain and its settings: what replaces a missing answer, a note, whether the column is public.

    missing="refuse" takes no missing value; "value" gives it a separate label (`missing_value`, or "missing");
    "constant" replaces it by the public constant `missing_value`. A curator cannot refuse missing values, and leaves
    out those for which the schema has no rule. outside: what becomes of any other value that the domain does not hold:
    "refuse" the row, "clamp" a number or date to the nearest value, "drop" the row; None: the rule of the schema for
    all columns. A public column is copied unchanged and never randomised. `from_data` marks what `murmure schema init`
    read off the data: it must be replaced before use.

    >>> import murmure as mu
    >>> schema = mu.Schema(
    ...     {
    ...         "smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value", missing_value="no answer"),
    ...         "children": mu.Column(mu.Integers(0, 9), missing="constant", missing_value=0),
    ...         "weight": mu.Column(mu.Interval(0.0, 10.0), public=True, note="from the sampling frame"),
    ...     }
    ... )
    >>> print(schema["smoker"].labels())
    ['no', 'yes', 'no answer']
    >>> print([codes.tolist() for codes in schema.encode({"smoker": ["yes", None], "children": [None, 2]})])
    [[1, 2], [0, 2]]
    >>> print(schema.private, schema.open)
    ('smoker', 'children') ('weight',)
    """

    domain: Domain
    missing: Missing = "refuse"
    missing_value: Any = None
    note: str = ""
    public: bool = False
    from_data: bool = False
    outside: Outside | None = None  # what becomes of other values; None: as the schema says

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Categories | Integers | Interval | Decimals):
            raise InvalidParameter(
                "Column.domain must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
                got=shorten(self.domain),
            )
        if self.missing not in get_args(Missing):
            raise InvalidParameter(
                "Column.missing must be one of {missing}, got {got}.",
                missing=", ".join(map(repr, get_args(Missing))),
                got=shorten(self.missing),
            )
        if not isinstance(self.note, str):
            raise InvalidParameter("Column.note must be text, got {got}.", got=shorten(self.note))
        for name in ("public", "from_data"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(
                    "Column.{name} must be true or false, got {got}.", name=name, got=shorten(getattr(self, name))
                )
        outside = self.outside or (None if self.domain.outside == "refuse" else self.domain.outside)
        if outside is not None:
            check_outside("Column", outside, not self.domain.ordered)
            if outside == "clamp" and self.public:
                raise InvalidParameter(
                    'Column.outside = "clamp" cannot be public too: a public column is passed through unchanged.',
                    hint="change the values in the data yourself",
                )
        # Both rules are fields of the column from here on: one column has one spelling, however it was written.
        object.__setattr__(self, "outside", outside)
        if self.domain.absent is not None and self.missing == "refuse" and not self.public:  # a constant of the domain
            object.__setattr__(self, "missing", "constant")
            object.__setattr__(self, "missing_value", self.domain.absent)
        object.__setattr__(self, "domain", with_outside(absent_as(self.domain, None), outside or "refuse"))
        object.__setattr__(self, "missing_value", self._checked_missing_value())

    def _checked_missing_value(self) -> Any:
        value = self.missing_value.item() if isinstance(self.missing_value, np.generic) else self.missing_value
        if self.missing == "refuse":
            if value is not None:
                raise InvalidParameter(
                    'Column.missing_value is {value}, but missing values are refused (missing = "refuse").',
                    hint='also set missing = "value" or missing = "constant"',
                    value=shorten(value),
                )
            return None
        return self._checked_label(value) if self.missing == "value" else self._checked_constant(value)

    def _checked_label(self, value: Any) -> str:
        if not isinstance(self.domain, Categories) or self.domain.ordered:
            raise InvalidParameter(
                'Column.missing = "value" is for categories: {domain} has no label for missing values.',
                hint='use missing = "constant" with a public missing_value, or group the values into categories',
                domain=self.domain.describe(),
            )
        if value is None:
            value = MISSING_LABEL
        if not isinstance(value, str) or not value:
            raise InvalidParameter("Column.missing_value must be a label, as text, got {got}.", got=shorten(value))
        meant, known = meaning_of_text(value), self.domain._labels
        if meant is None:
            raise InvalidParameter(
                "Column.missing_value {value!r} is not a label: in every column it means a missing value.", value=value
            )
        if _is_code(meant, self.domain.size) if known is None else meant in known.table:
            raise InvalidParameter(
                "Column.missing_value {value!r} is already a label of {domain}.",
                hint='choose another, such as missing_value = "no answer"',
                value=value,
                domain=self.domain.describe(),
            )
        if isinstance(self.domain.values, int) and self.domain.size > MAX_NUMBERED:
            raise InvalidParameter(
                'Column.missing = "value" takes at most {max_numbered} categories.', max_numbered=MAX_NUMBERED
            )
        return value

    def _checked_constant(self, value: Any) -> Any:
        # A public column is copied unchanged, so nothing can be put into it.
        if self.public:
            raise InvalidParameter(
                'Column.missing = "constant" cannot be public too: a public column is passed through unchanged.',
                hint="put the constant into the data yourself, and leave missing out",
            )
        if value is None:
            raise InvalidParameter(
                'Column.missing = "constant" needs a missing_value.',
                hint="give a public constant that is one of the column's values",
            )
        if isinstance(self.domain, Decimals | Dates):
            value = self.domain.constant("Column.missing_value", value)
        kinds = (str, int, float) if isinstance(self.domain, Categories) else (int, float, Decimal)
        number_given = isinstance(self.domain, Categories) or not isinstance(value, bool)
        if not (isinstance(value, kinds) and number_given and holds(self.domain, value)):
            raise InvalidParameter(
                "Column.missing_value must be {domain}, got {got}.",
                hint="the constant is public, and must be one of the column's values",
                domain=self.domain.describe(),
                got=shorten(value),
            )
        kind = {Integers: int, Interval: float}.get(type(self.domain))
        return value if kind is None else kind(value)

    def _identity(self) -> tuple[Any, ...]:
        """1 and True are equal to Python, but not the same answer. `outside` is a field of the domain too."""
        typed_value = type(self.missing_value), self.missing_value
        return self.domain, self.missing, *typed_value, self.note, self.public, self.from_data

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Column) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def coded(self) -> Domain:
        """The domain in which values are coded: the column's, with the label of missing answers where there is one."""
        if self.missing == "refuse":
            return self.domain
        if self.missing == "constant":
            return absent_as(self.domain, self.missing_value)
        assert isinstance(self.domain, Categories)
        # The label of missing answers comes last: the codes of the other labels do not depend on it.
        values = self.domain.values
        labels = [*(range(values) if isinstance(values, int) else values), self.missing_value]
        return Categories(labels, absent=self.missing_value, outside=self.domain.outside)

    def to_dict(self) -> dict[str, Any]:
        """The fields of the domain, and the settings that are not left at their defaults."""
        out = {name: value for name, value in self.domain.to_dict().items() if name != "column"}
        for name, default in DEFAULTS.items():
            if getattr(self, name) != default and name != "outside":  # it is in the domain
                out[name] = getattr(self, name)
        if isinstance(self.missing_value, Decimal):
            out["missing_value"] = str(self.missing_value)
        return out


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Column) if field.name != "domain"}


def _is_code(meant: float | str, size: int) -> bool:
    return isinstance(meant, float) and meant.is_integer() and 0 <= meant < size


def kind_of(domain: Domain) -> str:
    """How the text of a CSV file is read: as text, integer, real, decimal or boolean.

    Where values are clamped or dropped it is text: a cell that is not such a value must not end the reading of a file.
    """
    if domain.outside != "refuse" or isinstance(domain, Dates):
        return "text"
    if not isinstance(domain, Categories):
        return "real" if isinstance(domain, Interval) else "decimal" if isinstance(domain, Decimals) else "integer"
    types = {int} if isinstance(domain.values, int) else {type(value) for value in domain.values}
    if types <= {int, float}:
        long = not isinstance(domain.values, int) and any(abs(value) >= MAX_15_DIGITS for value in domain.values)  # type: ignore[arg-type]
        return "integer" if types == {int} and not long else "real"
    return "boolean" if types == {bool} else "text"


def lenient_kind_of(domain: Domain) -> str:
    """The kind where every row is read: text where an unreadable cell must not become a missing one."""
    return "text" if isinstance(domain, Categories) or domain.outside == "drop" else "real"
