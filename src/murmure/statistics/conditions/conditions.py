"""Every condition in what a question adds up, as a part of the public domain (regions.py). No row is read.

Expressions are walked term by term, so that nothing hides in arithmetic:

    a comparison, a label, and whatever holds only 0 and 1      id == 5,  not (id == 5),  min(1, abs(id - 5))
    what is one number on more than half of the domain          7 * max(0, 1 - abs(id - 5)) + 2:  where it is another
    a product of some of these                                  (ward == "A") * smoker:  where none of them is 0

Tables, groups and places are conditions too: each of their cells is one. Weights are found as well: how much larger a
condition makes the same columns,  x + 10**6 * x * (ward == "A")  has weights of x whose ratio is 10**6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce, singledispatch
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Domain
from murmure.core.errors import MurmureError
from murmure.core.schema import Schema
from murmure.statistics.conditions.regions import MAX_POINTS, Mask, Region, intersection, make_box, make_region
from murmure.statistics.conditions.weights import weights_in
from murmure.statistics.count import Count
from murmure.statistics.exact.cells import Cells
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.function_sums_by_place import FunctionSumsByPlace
from murmure.statistics.exact.party_products import PartyOuterProducts, WithinPartyProducts
from murmure.statistics.expressions.parser import quote_name, read_expression
from murmure.statistics.expressions.terms import COMPARISONS, ORDERS, Term, Terms, grid_of
from murmure.statistics.group_by import GroupBy
from murmure.statistics.histogram import Histogram
from murmure.statistics.learning.clusters import Clusters
from murmure.statistics.marginals import Marginals
from murmure.statistics.mean import Mean
from murmure.statistics.mode import Mode
from murmure.statistics.pair import Pair
from murmure.statistics.quantile import Quantile
from murmure.statistics.sum import Sum
from murmure.statistics.sums import Sums
from murmure.statistics.variance import Variance
from murmure.statistics.where import Where

MAX_SMOOTH_POINTS = 1 << 14  # combinations of values at which a polynomial is evaluated
MAX_EXPANDED_CELLS = 1 << 12  # cells of a table that are judged one by one; of larger ones the smallest
MAX_WORK = 1 << 26  # numbers that are computed for one question. A stranger wrote it, so the work must be bounded


@dataclass(frozen=True, eq=False)
class Condition:
    """What a released sum is restricted to, or could be by subtraction."""

    text: str
    region: Region | None  # None: it is known by its share alone, or not at all
    columns: frozenset[str]
    loose: frozenset[str] = frozenset()  # columns that are compared otherwise than with one threshold
    cut: frozenset[str] = frozenset()  # columns that appear in it only as cells of a table or a grid
    nominal: Fraction | None = None  # its share, where only that is known
    question: int = 0

    @property
    def share(self) -> Fraction | None:
        return self.nominal if self.region is None else self.region.share

    def within(self, other: Condition) -> Condition:
        """Both conditions at once."""
        nominal = None
        met = None if self.region is None or other.region is None else intersection(self.region, other.region)
        if met is None and self.share is not None and other.share is not None and not self.columns & other.columns:
            nominal = self.share * other.share
        return replace(
            self,
            text=f"({self.text}) and ({other.text})",
            region=met,
            columns=self.columns | other.columns,
            loose=self.loose | other.loose,
            cut=(self.cut | other.cut) - (self.columns - self.cut) - (other.columns - other.cut),
            nominal=nominal,
        )


@dataclass(frozen=True)
class Conditions:
    """All conditions of a question, and the largest ratio of weights in each of its sums."""

    conditions: tuple[Condition, ...] = ()
    weights: tuple[tuple[str, Fraction | None], ...] = ()  # None: beyond any bound
    domains: Mapping[str, Domain] = field(default_factory=dict)


def conditions_of(statistic: Any, texts: Iterable[str] = (), finest: tuple[str, int] | None = None) -> Conditions:
    """What a statistic asks for. texts: further expressions of the same columns, which later rounds may ask for.

    finest: a column, and how many cells of it later rounds may come to; "" for cells that belong to no column.
    """
    out = conditions_in(statistic)
    domain = statistic.domain
    if isinstance(domain, Schema):
        more = [_of_text(text, domain) for text in texts]
        out = replace(
            out,
            conditions=(*out.conditions, *(c for one in more for c in one.conditions)),
            weights=(*out.weights, *(w for one in more for w in one.weights)),
        )
    if finest is not None:
        name, cells = finest
        text = f"{quote_name(name)} between two values" if name else f"nearest to one of {cells} centres"
        of = frozenset([name] if name else [])
        one = Condition(text, None, of, cut=of, nominal=Fraction(1, cells))
        out = replace(out, conditions=(*out.conditions, *([one] if cells > 1 else [])))
    return replace(out, domains=_domains(domain))


def _domains(domain: Any) -> dict[str, Domain]:
    if isinstance(domain, Schema):
        return {name: domain[name] for name in domain.private}
    return {domain.column or "": domain}


def _of_text(text: str, schema: Schema) -> Conditions:
    """The conditions of an expression; a text that is not an expression has none."""
    terms = Terms(schema)
    try:
        number = read_expression(text, terms)
    except MurmureError:
        return Conditions()
    return _of_terms(terms, [number], [text])


# -- statistics --------------------------------------------------------------------------------------------------------


@singledispatch
def conditions_in(statistic: Any) -> Conditions:
    """What the sums of a statistic are restricted to. Unless its class says otherwise, what learners ask: each label of
    each column, alone and together with each label of another; of one column, each value: it may single out any.
    """
    domain: Any = statistic.domain
    if not isinstance(domain, Schema):
        return _of_values(statistic)
    named = _columns_cells(domain, [name for name in domain.private if isinstance(domain[name], Categories)])
    pairs = [c for a, b in combinations(named, 2) for c in _crossed([a, b])]
    return Conditions((*(c for some in named for c in some), *pairs))


@conditions_in.register(Mean | Sum | Count | Variance)
def _of_everybody(statistic: Any) -> Conditions:
    return Conditions()


@conditions_in.register
def _of_sums(statistic: Sums) -> Conditions:
    return _of_terms(statistic.terms, statistic.wanted, statistic.expressions)


@conditions_in.register
def _of_products(statistic: CrossProducts) -> Conditions:
    return _of_terms(statistic.terms, statistic.wanted, statistic.labels)


@conditions_in.register
def _of_products_within(statistic: WithinPartyProducts) -> Conditions:
    return conditions_in(statistic.raw)


@conditions_in.register
def _of_outer_products(statistic: PartyOuterProducts) -> Conditions:
    return conditions_in(statistic.of)


@conditions_in.register
def _of_cells(statistic: Cells) -> Conditions:
    return Conditions(tuple(_crossed(_axes_of_cells(statistic))))


@conditions_in.register
def _of_marginals(statistic: Marginals) -> Conditions:
    return Conditions(tuple(c for cells in _columns_cells(statistic.domain, statistic.domain.private) for c in cells))


@conditions_in.register
def _of_pair(statistic: Pair) -> Conditions:
    return Conditions(tuple(_crossed(_columns_cells(statistic.domain, statistic.asked_columns))))


@conditions_in.register
def _of_clusters(statistic: Clusters) -> Conditions:
    return Conditions((_nearest(len(statistic.centres)),))


@conditions_in.register(Histogram | Mode | Quantile)
def _of_values(statistic: Any) -> Conditions:
    return Conditions(tuple(_value_cells(statistic.domain.column or "", statistic.domain)))


def _columns_cells(domain: Schema, names: Iterable[str]) -> list[list[Condition]]:
    """Of each of these columns, a condition for every value."""
    return [list(_value_cells(name, domain[name])) for name in names]


def _nearest(cells: int) -> Condition:
    text = f"nearest to one of {cells} centres"
    return Condition(text, None, frozenset(), nominal=Fraction(1, cells))


@conditions_in.register
def _of_functions(statistic: FunctionSums) -> Conditions:
    """Functions of rows multiply their inputs with one another."""
    found = _of_terms(statistic.terms, statistic.wanted, statistic.inputs)
    if statistic.function == "nearest":
        return replace(found, conditions=(*found.conditions, _nearest(int(statistic.settings[0]))))
    return replace(found, conditions=(*found.conditions, *_met(_picked(statistic), 2)))


def _picked(statistic: Any) -> list[Condition]:
    """Of every input that is 0 somewhere, where it is not."""
    walk = _Walk(statistic.terms)
    found = (walk.picks(n, text) for n, text in zip(statistic.wanted, statistic.inputs, strict=True))
    return [one for one in found if one is not None]


def _met(picked: Sequence[Condition], size: int) -> list[Condition]:
    """Every `size` of these at once, where some row of the domain fulfils them."""
    met = [reduce(Condition.within, some) for some in combinations(picked, size)]
    return [one for one in met if one.share != 0]


@conditions_in.register
def _of_places(statistic: FunctionSumsByPlace) -> Conditions:
    """Each place, with each input of the function."""
    of = statistic.of
    found = _of_functions(of)
    terms, places = of.terms, statistic.places
    at = terms[of.wanted[0]]
    if at.kind == "column":
        name = at.detail[0]
        cuts = [Fraction(t) for t in of.settings[-places:]][:-1]
        cells = list(_cells_between(name, terms.schema[name], cuts))
    else:
        cells = [Condition(of.inputs[0], None, at.columns, cut=at.columns, nominal=Fraction(1, places))]
    picked = [one for one in _picked(of) if one.columns != at.columns]
    picks = [*picked, *_met(picked, 2)]
    if of.settings[:1] in (("efron start",), ("efron step",)):  # of those with the event, products of two columns too
        picks += _met(picked, 3)
    smallest = min(cells, key=lambda cell: cell.share or 0, default=None)
    if len(cells) * (1 + len(picks)) > MAX_EXPANDED_CELLS:
        cells = [smallest] if smallest is not None else []
    return replace(found, conditions=(*found.conditions, *cells, *(c.within(one) for c in cells for one in picks)))


@conditions_in.register
def _of_groups(statistic: GroupBy) -> Conditions:
    by = statistic.by
    named = {name: by[name] for name in by.private} if isinstance(by, Schema) else {by.column or "": by}
    return _within_each(
        list(_crossed([list(_value_cells(name, domain)) for name, domain in named.items()])), statistic.statistic
    )


@conditions_in.register
def _of_where(statistic: Where) -> Conditions:
    column = statistic.column
    name = column.private[0] if isinstance(column, Schema) else column.column or ""
    domain, mask = statistic._values_domain, statistic._matching[:-1]
    text = f"{quote_name(name)} between {statistic.between[0]} and {statistic.between[1]}" if statistic.between else ""
    text = text or f"{quote_name(name)} is {', '.join(map(str, statistic.is_in or ()))}"
    loose = frozenset[str]() if statistic.between and domain.ordered else frozenset([name])
    return _within_each([Condition(text, make_box({name: mask}), frozenset([name]), loose)], statistic.statistic)


def _within_each(outer: Sequence[Condition], statistic: Any) -> Conditions:
    """The inner question, asked of each of these parts."""
    inner = conditions_in(statistic)
    if len(outer) * (1 + len(inner.conditions)) > MAX_EXPANDED_CELLS:
        outer = [min(outer, key=lambda one: one.share or 0)]
    return replace(inner, conditions=(*outer, *(one.within(c) for one in outer for c in inner.conditions)))


# -- cells -------------------------------------------------------------------------------------------------------------


def _cell_columns(name: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Columns, loose ones, and cut ones: of a cell of one column."""
    return frozenset([name]), frozenset(), frozenset([name])


def _value_cells(name: str, domain: Any) -> Iterable[Condition]:
    """Every value of a column; of very many, the first, since all are alike."""
    labels = domain.labels() if domain.size <= MAX_EXPANDED_CELLS else ["each value"]
    if len(labels) < domain.size:
        yield Condition(f"{quote_name(name)} == each value", None, *_cell_columns(name),
                        nominal=Fraction(1, domain.size))  # fmt: skip
        return
    for code, label in enumerate(labels):
        mask = np.zeros(domain.size, bool)
        mask[code] = True
        shown = f'"{label}"' if isinstance(domain, Categories) else label
        yield Condition(
            f"{quote_name(name)} == {shown}" if name else shown, make_box({name: mask}), *_cell_columns(name)
        )


def _cells_between(name: str, domain: Any, cuts: Sequence[Fraction]) -> Iterable[Condition]:
    """The cells that cuts make: up to the first, above it up to the second, and so on."""
    first, step = grid_of(domain)
    codes = [min(max(math.floor((cut - first) / step) + 1, 0), domain.size) for cut in cuts]
    ends = [0, *codes, domain.size]
    shown = ["", *(f"{float(cut):.10g}" for cut in cuts), ""]
    for (low, high), a, b in zip(pairwise(ends), shown, shown[1:], strict=False):
        if high > low:
            nominal = Fraction(high - low, domain.size)
            parts = [f"{a} < {quote_name(name)}"] * bool(a) + [f"{quote_name(name)} <= {b}"] * bool(b)
            cell_region = None
            if domain.size <= MAX_POINTS:
                mask = np.zeros(domain.size, bool)
                mask[low:high] = True
                cell_region = make_box({name: mask})
            yield Condition(" and ".join(parts) or name, cell_region, *_cell_columns(name), nominal=nominal)


def _axes_of_cells(statistic: Any) -> list[list[Condition]]:
    schema = statistic.domain
    return [
        list(
            _value_cells(name, schema[name])
            if cuts is None
            else _cells_between(name, schema[name], list(map(Fraction, cuts)))
        )
        for name, cuts in zip(schema.private, statistic.cuts, strict=True)
    ]


def _crossed(axes: Sequence[Sequence[Condition]]) -> Iterable[Condition]:
    """Every combination; of very many, the smallest, and every cell of each axis."""
    if math.prod(map(len, axes)) > MAX_EXPANDED_CELLS:
        axes = [[min(axis, key=lambda one: one.share or 0)] for axis in axes]
    for cells in product(*axes):
        yield reduce(Condition.within, cells)


# -- expressions -------------------------------------------------------------------------------------------------------


def _of_terms(terms: Terms, wanted: Sequence[int], texts: Sequence[str]) -> Conditions:
    walk = _Walk(terms)
    found: dict[int, Condition] = {}
    weights = []
    for number, text in zip(wanted, texts, strict=True):
        for part in terms.dependencies([number]):
            if part not in found and (one := walk.condition(part, text)) is not None:
                found[part] = one
        weights += [(text, ratio) for ratio in weights_in(terms, number)]
    out = list(found.values())
    if walk.work > MAX_WORK:
        out.append(Condition(texts[0], None, frozenset().union(*(terms[n].columns for n in wanted))))
    return Conditions(tuple(out), tuple(weights))


class _Walk:
    """Finds the conditions among terms. Regions are kept, since many terms share their parts."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.work = 0
        self._regions: dict[int, Region | None] = {}
        self._usual: dict[int, tuple[Region, int] | None] = {}

    def condition(self, n: int, text: str) -> Condition | None:
        """Of a term what it picks out of the domain, if it does."""
        term = self.terms[n]
        if term.is_constant or term.kind == "column" or not term.columns:
            return None
        if _holds_two(term):
            return self._condition_where(n, text, self._where(n))
        return self.picks(n, text) if term.kind == "times" else self._unusual_values(n, text)

    def _condition_where(self, n: int, text: str, where: Region | None) -> Condition | None:
        term = self.terms[n]
        if where is not None and where.share in (0, 1):
            return None
        loose = frozenset[str]() if self._is_threshold(term) else self._loose(n)
        return Condition(self._text_of(term) or text, where, term.columns, loose)

    def _loose(self, n: int) -> frozenset[str]:
        """Columns that appear in anything other than a threshold."""
        term = self.terms[n]
        if self._is_threshold(term) or term.is_constant:
            return frozenset()
        if term.kind in ("label", "column") or not term.of or term.kind in COMPARISONS:
            return term.columns
        if _holds_two(term) and term.kind in ("times", "max", "min", "plus"):
            return frozenset[str]().union(*(self._loose(a) for a in term.of))
        return term.columns

    def _is_threshold(self, term: Term) -> bool:
        kinds = [self.terms[a].kind for a in term.of]
        return term.kind in ORDERS and sorted(kinds) == ["column", "constant"]

    def _where(self, n: int) -> Region | None:
        """Where a term that holds two numbers holds the larger one."""
        if n not in self._regions:
            self._regions[n] = self._find_region(n)
        return self._regions[n]

    def _find_region(self, n: int) -> Region | None:
        term = self.terms[n]
        if term.kind == "label":
            name, code = term.detail
            mask = np.zeros(self.terms.schema[name].size, bool)
            mask[code] = True
            return make_box({name: mask})
        if term.kind == "times" and term.is_condition and all(_holds_two(self.terms[a]) for a in term.of):
            a, b = (self._where(a) for a in term.of)
            return None if a is None or b is None else intersection(a, b)
        values = self._listed(n, MAX_POINTS)
        return None if values is None else make_region(self._names(n), values == term.high)

    def _names(self, n: int) -> tuple[str, ...]:
        return tuple(sorted(self.terms[n].columns))

    def _listed(self, n: int, max_points: int) -> Any:
        """What a term holds at every combination of its columns; None: there are too many."""
        schema, names = self.terms.schema, self._names(n)
        shape = tuple(schema[name].size for name in names)
        order = self.terms.dependencies([n])
        points = math.prod(shape)
        self.work += points * len(order) * (points <= max_points)
        if self.work > MAX_WORK or points > (max_points >> 4 if any(self.terms[a].wide for a in order) else max_points):
            return None
        codes = {name: axis.ravel() for name, axis in zip(names, np.indices(shape), strict=True)}
        values = self.terms.values(order, codes)[n]
        return np.broadcast_to(np.asarray(values), (math.prod(shape),)).reshape(shape)

    def _unusual_values(self, n: int, text: str) -> Condition | None:
        """Where a term is not the number that it is on more than half of the domain."""
        term, found = self.terms[n], self._mostly(n)
        if found is not None:
            return Condition(text, found[0], term.columns, term.columns) if found[0].share else None
        cut = term.kind in ("min", "max", "exp", "rounded")
        cut = cut or (term.kind == "abs" and self.terms[term.of[0]].kind not in ("column", "plus"))
        cut = cut or (term.kind in ("plus", "power", "log", "sqrt") and self._folds(n) > 1)
        if cut and self._listed(n, MAX_POINTS) is None:
            return Condition(
                text, None, term.columns, term.columns
            )  # too many combinations to list: it could pick out anything
        return None

    def _folds(self, n: int) -> int:
        """How many different folds a term has: two or more of them can add up to a hat over one value."""
        return sum(self.terms[a].kind in ("abs", "sqrt", "min", "max", "rounded") for a in self.terms.dependencies([n]))

    def _mostly(self, n: int) -> tuple[Region, int] | None:
        """Where it differs from the number that it is mostly, and that number."""
        if n not in self._usual:
            self._usual[n] = self._find_unusual(n)
        return self._usual[n]

    def _find_unusual(self, n: int) -> tuple[Region, int] | None:
        smooth = self.terms[n].kind in ("plus", "power", "log", "sqrt") and self._folds(n) < 2
        values = self._listed(n, MAX_SMOOTH_POINTS if smooth else MAX_POINTS)
        if values is None:
            return None
        flat = np.sort(values.ravel())
        usual = flat[len(flat) // 2]  # the value of more than half of the points is the median
        mask: Mask = np.asarray(values != usual, bool)
        if 2 * np.count_nonzero(mask) >= mask.size:
            return None
        return make_region(self._names(n), mask), int(usual)

    @cached_property
    def _two_valued(self) -> frozenset[str]:
        """Columns of two numbers, one of which is 0."""
        schema = self.terms.schema
        numbers = [name for name in schema.private if not isinstance(schema[name], Categories)]
        return frozenset(name for name in numbers if schema[name].size == 2 and 0 in _ends(schema[name]))

    def _parts(self, n: int) -> list[int]:
        return list(dict.fromkeys(base for base, _ in self.terms.parts(n)))

    def picks(self, n: int, text: str) -> Condition | None:
        """Where a product is not 0, by those of its parts that are 0 somewhere."""
        parts = self._parts(n)
        some = [one for part in parts if (one := self._nonzero(part, text)) is not None]
        some += [one for name in sorted(self.terms[n].columns) if (one := self._roots(name, parts, text)) is not None]
        if not some:
            return None
        out = some[0]
        for one in some[1:]:
            out = replace(out.within(one), text=text)
        return out

    def _roots(self, name: str, parts: Sequence[int], text: str) -> Condition | None:
        """k * (k - 1) * (k - 2) ... is 0 but for few k, and none of its parts is.

        A part that is too large to list may be 0 anywhere, but where another one is 0, so is the product.
        """
        factors = [n for n in parts if self.terms[n].columns == {name}]
        values = [self._listed(n, MAX_SMOOTH_POINTS) for n in factors] if len(factors) > 1 else []
        nonzero = [np.asarray(column_values != 0, bool) for column_values in values if column_values is not None]
        if not nonzero:
            return None
        mask: Mask = np.logical_and.reduce(nonzero)
        if 2 * np.count_nonzero(mask) >= mask.size:
            return None
        return Condition(text, make_box({name: mask}), frozenset([name]), frozenset([name]))

    def _nonzero(self, n: int, text: str) -> Condition | None:
        term = self.terms[n]
        if term.kind == "column":
            name = term.detail[0]
            if name not in self._two_valued:
                return None
            low, high = _ends(self.terms.schema[name])
            mask = np.array([low != 0, high != 0])
            return Condition(name, make_box({name: mask}), term.columns)
        if term.is_constant:
            return None
        if _holds_two(term):
            return self._condition_where(n, text, self._where(n)) if term.low == 0 else None
        found = self._mostly(n)
        if found is None or found[1] != 0:
            return None
        return Condition(text, found[0], term.columns, term.columns)

    def _text_of(self, term: Term) -> str:
        """A label, or a column and a number, as people write them."""
        schema = self.terms.schema
        if term.kind == "label":
            name, code = term.detail
            return f'{quote_name(name)} == "{schema[name].labels()[code]}"'
        kinds = [self.terms[a].kind for a in term.of]
        if term.kind not in COMPARISONS or sorted(kinds) != ["column", "constant"]:
            return ""
        sides = []
        for a in term.of:
            operand = self.terms[a]
            if operand.is_constant:
                sides.append(_number(operand.unit * operand.low))
                continue
            name = operand.detail[0]
            factor = operand.unit / self.terms[self.terms.column(name)].unit
            sides.append(quote_name(name) if factor == 1 else f"{_number(factor)} * {quote_name(name)}")
        return f"{sides[0]} {term.kind} {sides[1]}"


def _holds_two(term: Term) -> bool:
    """Whether its bounds leave it two numbers."""
    return not term.is_constant and term.kind != "column" and term.high - term.low == 1


def _ends(domain: Any) -> tuple[Fraction, Fraction]:
    first, step = grid_of(domain)
    return first, first + step * (domain.size - 1)


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.10g}"
