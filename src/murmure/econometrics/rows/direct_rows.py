"""The rows of tables in memory, in the clear: parsed once by their schema, and evaluated as often as needed.

Models need only sums, and only sums leave a party. In the clear the rows are available, and survival models, which
would take a sum for each of many times, read them directly, without a grid.
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
from murmure.engines.sources.data_file import described
from murmure.engines.sources.tables import open_table
from murmure.plan.privacy import Clear
from murmure.run.engine_choice import is_elsewhere
from murmure.run.totals import SeparateTables, at_party
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

Codes = NDArray[Any]


def can_read_directly(data: Any, privacy: Any, engine: Any) -> bool:
    """Whether rows are on this machine and there is no privacy.

    With an engine rows are added up batch by batch instead, since they may not fit into memory.
    """
    tables = data if isinstance(data, list | tuple) else [data]
    here = engine is None and not any(map(is_elsewhere, tables))
    return here and (privacy is None or isinstance(privacy, Clear))


@dataclass(frozen=True, eq=False)
class DirectRows:
    """Codes by column, of all tables one after the other. tables: how many, if several."""

    domain: Schema
    codes: Mapping[str, Codes] = field(repr=False)
    n: int
    tables: int | None = None

    @classmethod
    def load(cls, owner: str, domain: Schema, data: Any) -> DirectRows:
        """The columns of this schema in these tables. A value outside the schema is refused."""
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
        """Each expression, every value correctly rounded, as in the sums between parties (FunctionSums)."""
        terms = Terms(self.domain)
        numbers = [read_expression(text, terms) for text in expressions]
        values = terms.values(terms.dependencies(numbers), self.codes)
        return [FunctionSums._floats(values[k], terms[k], self.n) for k in numbers]

    def sums(self, statistic: Any) -> Any:
        """The exact estimate of a statistic, from all rows."""
        total = statistic.tally([self.codes[name] for name in statistic.domain.private])
        return statistic.interpret_exact(total, self.n)


def _batches(domain: Schema, table: Any) -> list[tuple[Codes, ...]]:
    out: list[tuple[Codes, ...]] = []
    rows = 0
    for batch in open_table(described(table, domain), domain.private, domain.kinds).batches():
        if batch.num_rows:
            try:
                out.append(domain.encode(batch))
            except OutsideDomain as error:  # report the row of the table, not of its batch
                raise error.later(rows) from None
            rows += batch.num_rows
    if not rows:
        raise EmptySource(
            "the source has no rows: there is nothing to add up.", hint="check the path, the filter or the join"
        )
    return out
