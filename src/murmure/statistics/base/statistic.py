"""What statistics share: histograms of codes with nobody in them, and the columns that several questions read.

A code that equals the size of its domain means "nobody": a row that is left out (core/cells/lenient_encoding.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.catalogue import persisted_name
from murmure.core.blocks import NoisySum
from murmure.core.cells.lenient_encoding import can_be_nobody, encode_domain_lenient
from murmure.core.column import Column
from murmure.core.domain import Categories, Domain, with_column
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Answer, Array, Ints, Protectable, Statistic
from murmure.laws.number_codes import lenient_codes_of
from murmure.laws.tallies import histogram
from murmure.show.phrase import Several

DENSE = 1 << 16  # values of a column that are counted one by one before anything is made of them
MAX_JOINT_CELLS = 1 << 20
CURATOR_ONLY = Phrase("only a curator can answer it: reports of individuals give shares or a mean")


class BaseStatistic(Statistic[Answer]):
    """What all statistics share: the domain turns rows into codes, and an estimate is released as it is."""

    def encode(self, rows: Any) -> Any:
        return self.domain.encode(rows)

    def encode_lenient(self, rows: Any) -> Any:
        """Codes for every row, whatever it holds."""
        if not isinstance(self.domain, Schema):
            return encode_domain_lenient(self.domain, rows)
        codes = lenient_codes_of(self.domain, rows)
        return codes if self.handles_nobody else complete_rows(self.domain, codes)

    def finish(self, released: Any) -> Any:
        return released

    @property
    def asked_columns(self) -> tuple[str, ...]:
        """The columns that the question is about, where they have names."""
        return column_names(self.domain)

    def in_words(self) -> str:
        """The question in the words of a ledger and a release: "Mean of age by region"."""
        kind, names = persisted_name(self), self.asked_columns
        if not names:
            return Phrase("{kind}", kind=kind)
        if len(names) < 3:
            return Phrase("{kind} of {columns}", kind=kind, columns=Several(names))
        return Phrase("{kind} of {n} columns", kind=kind, n=len(names))


class CuratorStatistic(BaseStatistic[Answer]):
    """A statistic that reports of single people cannot answer."""

    def why_unanswerable(self, affine: Any) -> str | None:
        return CURATOR_ONLY


class ProtectableStatistic(CuratorStatistic[Answer], Protectable[Answer]):
    """One that noise can protect. Exact sums are interpreted as noisy sums whose noise is zero."""

    def interpret_exact(self, total: Ints, n: int) -> Answer:
        return self.interpret(NoisySum.exact(self.blocks, total))


def check_protectable(owner: str, statistic: Any) -> None:
    """Refuse an inner question that noise cannot protect."""
    if not isinstance(statistic, Protectable):
        raise InvalidParameter(
            "{owner}.statistic must be a question that can be protected by noise, got {got}.",
            hint='{owner}(Mean(schema["age"]), schema["region"])',
            owner=owner,
            got=shorten(statistic),
        )


def column_names(domain: Domain | Schema) -> tuple[str, ...]:
    """The private columns of a schema; of a domain its column, if it has a name."""
    if isinstance(domain, Schema):
        return domain.private
    return () if not domain.column else (domain.column,)


def names_in(domain: Domain | Schema) -> str:
    return ", ".join(column_names(domain))


def counts_of(x: Array, size: int) -> Ints:
    """How often each of 0 .. size-1 occurs; the code `size` is nobody, and is dropped."""
    return histogram(x, size + 1)[:size]


def counts_with_nobody(x: Array, size: int) -> Ints:
    """The same; the count of nobody comes last."""
    return histogram(x, size + 1)


def complete_rows(domain: Schema, codes: tuple[Array, ...]) -> tuple[Array, ...]:
    """The rows that have every number that a whole row needs."""
    lacking = lacking_rows(domain, codes)
    return codes if lacking is None else tuple(column[~lacking] for column in codes)


def lacking_rows(domain: Domain | Schema, codes: Any) -> NDArray[np.bool_] | None:
    """Rows without a number, or with a label that their column drops; None: there are none.

    Any other label that is not listed is for the statistic to deal with.
    """
    domains = [domain[name] for name in domain.private] if isinstance(domain, Schema) else [domain]
    columns = codes if isinstance(domain, Schema) else (codes,)
    masks = [
        np.asarray(column) == column_domain.size
        for column_domain, column in zip(domains, columns, strict=True)
        if can_be_nobody(column_domain)
        and (column_domain.outside == "drop" or not isinstance(column_domain, Categories))
    ]
    return np.logical_or.reduce(masks) if any(mask.any() for mask in masks) else None


def present(codes: Any, lacking: NDArray[np.bool_]) -> Any:
    """The same rows, with code 0 where a value is lacking. The caller must not add these rows up."""
    if isinstance(codes, tuple):
        return tuple(present(column, lacking) for column in codes)
    return np.where(lacking, 0, codes)


def one_hot(x: Array, size: int) -> Ints:
    """The indicators of 0 .. size-1; the code of nobody has none of them."""
    return np.asarray(np.asarray(x)[:, None] == np.arange(size), np.int64)


def joint_codes(codes: tuple[Array, ...], sizes: tuple[int, ...]) -> Ints:
    """The number of a combination of values, the last column running fastest; nobody where one of them is."""
    if len(codes) == 1:
        return np.asarray(codes[0])
    out, nobody = np.zeros(len(codes[0]), np.int64), np.zeros(len(codes[0]), bool)
    for code, size in zip(codes, sizes, strict=True):
        out *= size
        out += code
        nobody |= np.asarray(code) == size
    if nobody.any():
        out[nobody] = math.prod(sizes)
    return out


def columns_of(owner: str, domain: Domain | Schema) -> dict[str, Column]:
    """The columns that a question reads, by name."""
    if isinstance(domain, Schema):
        return {name: domain.column_specs[name] for name in domain.private}
    if domain.column is None:
        raise InvalidParameter(
            "{owner} reads several columns, and {domain} names none.",
            hint='take domains from a schema, schema["age"], or name them: Integers(0, 99, column="age")',
            owner=owner,
            domain=shorten(domain, 80),
        )
    return {domain.column: Column(domain)}


def merged_schema(owner: str, first: Domain | Schema, second: Domain | Schema) -> Schema:
    """One schema of the columns of two questions."""
    out: dict[str, Domain | Column] = dict(columns_of(owner, first))
    for name, column in columns_of(owner, second).items():
        known = out.get(name)
        if isinstance(known, Column) and with_column(known.coded, name) != with_column(column.coded, name):
            raise InvalidParameter(
                "{owner}: column {name!r} is {domain} in one place and {column_domain} in another.",
                hint="take both from the same schema",
                owner=owner,
                name=name,
                domain=known.domain.describe(),
                column_domain=column.domain.describe(),
            )
        if known is None or (isinstance(known, Column) and known.missing == "refuse"):
            out[name] = column  # the one that says what replaces a missing answer
    return Schema(out)


def codes_for(x: tuple[Array, ...], whole: Schema, domain: Domain | Schema) -> Any:
    """The codes that a question about `domain` reads, out of those of the whole schema."""
    at: Mapping[str, int] = {name: i for i, name in enumerate(whole.private)}
    if isinstance(domain, Schema):
        return tuple(x[at[name]] for name in domain.private)
    assert domain.column is not None
    return x[at[domain.column]]


def take_rows(x: Any, which: Any) -> Any:
    """The rows that `which` selects, whether x is one column or several."""
    return tuple(part[which] for part in x) if isinstance(x, tuple) else x[which]


def people_count(noisy_count: float) -> int:
    """A noisy count as a number of people: whole, and not negative."""
    return max(0, round(noisy_count))
