"""The rows of one's own tables in memory: read once by their schema, and evaluated as often as a model likes.

Sums are all that a model needs, and all that leaves a party. In the clear the rows are at hand, and what would take a
sum for each of many times (survival) is read off them directly: nobody has to choose a grid first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import EmptySource, MurmureError, OutsideDomain
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.fit import resolve_data
from murmure.engines.sources.tables import open_table
from murmure.plan.privacy import Clear
from murmure.run.totals import SeparateTables, at_party
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

Codes = NDArray[Any]


def can_read_directly(data: Any, privacy: Any, engine: Any) -> bool:
    """Whether whoever asks has the rows on this machine, and nothing is to be hidden from them.

    An engine that was named is one to add up with, batch by batch: for what does not fit into memory.
    """
    tables = data if isinstance(data, list | tuple) else [data]
    on_spark = any(type(table).__module__.startswith("pyspark.") for table in tables)
    return (privacy is None or isinstance(privacy, Clear)) and engine is None and not on_spark


@dataclass(frozen=True, eq=False)
class DirectRows:
    """Codes by column, of all tables one after the other. tables: how many there are, where there are several."""

    domain: Schema
    codes: Mapping[str, Codes] = field(repr=False)
    n: int
    tables: int | None = None

    @classmethod
    def load(cls, owner: str, domain: Schema, data: Any) -> DirectRows:
        """What these tables hold of the columns of this schema; a value that it does not allow is refused."""
        _, frame, apart, _ = resolve_data(owner, None, data)
        parts: list[tuple[Codes, ...]] = []
        for i, table in enumerate(frame.frames if isinstance(frame, SeparateTables) else [frame]):
            try:
                parts += _batches(domain, table)
            except MurmureError as error:
                if apart is None:
                    raise
                raise at_party(error, i) from None
        names = domain.private
        codes = {name: np.concatenate([part[k] for part in parts]) for k, name in enumerate(names)}
        return cls(domain, codes, len(codes[names[0]]), apart)

    def floats(self, expressions: Sequence[str]) -> list[Floats]:
        """Each expression, every exact value correctly rounded, as in the sums between parties (Evaluated)."""
        terms = Terms(self.domain)
        numbers = [read_expression(text, terms) for text in expressions]
        values = terms.values(terms.dependencies(numbers), self.codes)
        return [FunctionSums._floats(values[k], terms[k].unit, self.n) for k in numbers]

    def sums(self, statistic: Any) -> Any:
        """What a statistic of some of these columns says about all rows."""
        total = statistic.tally([self.codes[name] for name in statistic.domain.private])
        return statistic.interpret_exact(total, self.n)


def _batches(domain: Schema, table: Any) -> list[tuple[Codes, ...]]:
    out: list[tuple[Codes, ...]] = []
    rows = 0
    for batch in open_table(table, domain.private, domain.kinds).batches():
        if batch.num_rows:
            try:
                out.append(domain.encode(batch))
            except OutsideDomain as error:  # the row of the whole table, not of its batch
                raise error.later(rows) from None
            rows += batch.num_rows
    if not rows:
        raise EmptySource(
            "the source holds no rows: there is nobody to add up.", hint="check the path, the filter or the join"
        )
    return out
