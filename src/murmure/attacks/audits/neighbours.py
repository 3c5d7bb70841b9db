"""Small tables that differ in one person, for the replay audit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from murmure.attacks.audits.audit_gates import SEED
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, with_column
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Relation


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ in one person, and how."""

    name: str
    data: Any = field(repr=False)
    neighbour: Any = field(repr=False)
    relation: Relation


ROWS = ("typical", "lowest", "highest", "corner", "missing", "infinite", "unreadable")
TABLES = ("empty", "one row", "twins", "typical", "edges", "rough")


def neighbours(
    domain: Schema | Domain,
    relation: Relation = "add/remove",
    seed: int = SEED,
    person: str | None = None,
    rows: int = 1,
) -> list[Neighbours]:
    """Small tables of a schema (or columns of a domain) with one person added, removed or replaced.

    Among them: no rows, one row, twins, values at the bounds; and cells that are missing, infinite or no such thing at
    all. person: the column that tells people apart, where one has up to `rows` rows (some here have more, or no name).

    >>> import murmure as mu
    >>> schema = mu.Schema({"age": mu.Integers(18, 99), "sick": mu.Categories(["no", "yes"])})
    >>> pairs = mu.neighbours(schema, "add/remove")
    >>> print(len(pairs), "pairs of tables; among them:")
    84 pairs of tables; among them:
    >>> for pair in pairs[:3]:
    ...     print(f"{pair.name}: {len(pair.data['age'])} rows and {len(pair.neighbour['age'])}")
    empty: typical row added: 0 rows and 1
    empty: typical row removed: 1 rows and 0
    empty: lowest row added: 0 rows and 1
    """
    if relation not in ("add/remove", "replace"):
        raise InvalidParameter("relation must be 'add/remove' or 'replace', got {got}.", got=shorten(relation))
    schema = domain if isinstance(domain, Schema) else Schema({"x": with_column(domain, "x")})
    maker = _TableMaker(schema, Random.seeded(seed), person, rows)
    out = []
    # Each kind of row joins or leaves each kind of table: defects show at empty tables, bounds and unreadable cells.
    for table in TABLES:
        base = maker.table(table)
        for i, kind in enumerate(ROWS):
            for size in (1,) if person is None else (1, rows, rows + 2):
                mine, place = [maker.row(kind, "the one") for _ in range(size)], maker.below(len(base) + 1)
                with_one = [*base[:place], *mine, *base[place:]]
                if relation == "add/remove":
                    pairs = [(f"{kind} row added", base, with_one), (f"{kind} row removed", with_one, base)]
                else:
                    other = ROWS[(i + 1 + maker.below(len(ROWS) - 1)) % len(ROWS)]
                    theirs = [maker.row(other, "the one") for _ in range(size)]
                    pairs = [(f"{kind} row made {other}", with_one, [*base[:place], *theirs, *base[place:]])]
                several = "" if size == 1 else f", {size} rows of one person"
                for what, first, second in pairs:
                    data, changed = (maker.columns(part, isinstance(domain, Schema)) for part in (first, second))
                    out.append(Neighbours(f"{table}: {what}{several}", data, changed, relation))
    return out


@dataclass(frozen=True)
class _TableMaker:
    """Rows of a schema."""

    schema: Schema
    rng: Random
    person: str | None
    rows: int

    def below(self, n: int) -> int:
        return int(self.rng.words(1)[0]) % n

    def row(self, kind: str, who: Any) -> dict[str, Any]:
        row = {name: self.cell(self.schema.column_specs[name].domain, kind) for name in self.schema}
        return row if self.person is None else {**row, self.person: who}

    def table(self, kind: str) -> list[dict[str, Any]]:
        people = [f"p{i // max(1, self.rows)}" for i in range(24)]
        if kind == "empty":
            return []
        if kind == "twins":
            return [self.row("typical", "p0")] * 5
        kinds = {"edges": ROWS[1:4], "rough": ROWS}.get(kind, ROWS[:1])
        rows = [self.row(kinds[i % len(kinds)], who) for i, who in enumerate(people[: 1 if kind == "one row" else 24])]
        if kind == "rough" and self.person is not None:
            rows[3][self.person] = None
            rows[7][self.person] = rows[8][self.person] = rows[9][self.person] = "p0"  # more than they may have
        return rows

    def columns(self, rows: list[dict[str, Any]], table: bool) -> Any:
        names = [*self.schema, *([] if self.person is None or self.person in self.schema else [self.person])]
        columns = {name: [row[name] for row in rows] for name in names}
        return columns if table else columns["x"]

    def cell(self, domain: Domain, kind: str) -> Any:
        if kind == "corner":
            kind = ("lowest", "highest")[self.below(2)]
        if kind == "missing":
            return (None, float("nan"))[self.below(2)]
        if kind == "unreadable":
            return ("?", [1, 2], b"\xff", 10**400, "\x00")[self.below(5)]
        if isinstance(domain, Categories):
            if kind == "infinite":
                beyond = ("0001-01-01", "9999-12-31", 45_000) if domain.ordered else ("no such label", -1, math.inf)
                return beyond[self.below(3)]
            code = {"lowest": 0, "highest": domain.size - 1}.get(kind, self.below(domain.size))
            return code if isinstance(domain.values, int) else domain.values[code]
        if isinstance(domain, Decimals):
            domain = Interval(float(domain.low), float(domain.high))  # any number between: every row is read
        if not isinstance(domain, Integers | Interval):
            raise InvalidParameter(
                "neighbours takes Categories, Integers, Interval, Decimals or Dates, got {got}.", got=shorten(domain)
            )
        if kind == "infinite":
            return (math.inf, -math.inf, 1e300, domain.low - 1, domain.high + 1)[self.below(5)]
        if kind in ("lowest", "highest"):
            return domain.low if kind == "lowest" else domain.high
        if isinstance(domain, Integers):
            return domain.low + self.below(domain.size)
        return domain.low + (domain.high - domain.low) * (self.below(1 << 53) / (1 << 53))
