"""The questions of a study.toml, and the noise that they are answered with."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import combinations_with_replacement
from typing import Any

from murmure.catalogue import entries, load
from murmure.core.catalogue_entries import NoiseEntry
from murmure.core.errors import Phrase, shorten
from murmure.core.fixed import split_budget
from murmure.core.schema import Schema
from murmure.parties.study.question_words import DESCRIPTIONS
from murmure.parties.study.toml_errors import check_column, refuse
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

LAWS = tuple(name for name, entry in entries(NoiseEntry).items() if entry.in_shares)
TERMS = ("relation", "unit", "rows_per_person")  # parameters of the plan, not of its noise
BUDGET = ("epsilon", "delta", "rho")
ABOUT = ("column", "columns", "by", "where")  # how a file says which columns a question is about
EXAMPLE = Phrase(
    'sums = ["age", "age * stay"], products = ["1", "age", "stay"], or statistic = "Mean" and column = "age"'
)


# -- what is added up --------------------------------------------------------------------------------------------------


def statistic_from_toml(where: str, query: Mapping[str, Any], schema: Schema) -> Any:
    """The statistic that one [[queries]] asks for."""
    kinds = [kind for kind in ("sums", "products", "statistic") if kind in query]
    if len(kinds) != 1:
        got = Phrase("there is none") if not kinds else Phrase("there are {kinds}", kinds=" and ".join(kinds))
        raise refuse(where, Phrase("exactly one of sums, products and statistic is needed; {got}.", got=got), EXAMPLE)
    if kinds == ["statistic"]:
        return _named(where, query, schema)
    for key in query.keys() - {kinds[0], "noise"}:
        raise refuse(
            where,
            Phrase("{kind} takes no {key!r}.", kind=kinds[0], key=key),
            Phrase("a condition is part of the expression: (ward == 'A') * age"),
        )
    texts = query[kinds[0]]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise refuse(
            where,
            Phrase("{kind} must be a list of expressions, got {got}.", kind=kinds[0], got=shorten(texts)),
            EXAMPLE,
        )
    repeated = next((text for i, text in enumerate(texts) if text.strip() in [s.strip() for s in texts[:i]]), None)
    if repeated is not None and kinds == ["products"]:
        raise refuse(
            where,
            Phrase("products names {repeated} twice.", repeated=shorten(repeated.strip())),
            Phrase("name each once"),
        )
    expressions = texts if kinds == ["sums"] else _products(texts, schema)
    return load("Sums")(schema, tuple(expressions))


def _products(texts: list[str], schema: Schema) -> list[str]:
    """The products of every two expressions, each only once: what is 0 or 1 is its own square."""
    terms, products = Terms(schema), dict[int, str]()
    for a, b in combinations_with_replacement([product.strip() for product in texts], 2):
        is_its_square = a == b and terms[read_expression(a, terms)].is_condition
        # A condition is 0 or 1, so it is its own square.
        product = a if is_its_square else _product(a, b)
        products.setdefault(read_expression(product, terms), product)
    return list(products.values())


def _product(a: str, b: str) -> str:
    """The product of two expressions: "1" disappears, and a square is written as a power."""
    if a == "1" or b == "1":
        return b if a == "1" else a
    return f"{_in_brackets(a)} ** 2" if a == b else f"{_in_brackets(a)} * {_in_brackets(b)}"


def _in_brackets(text: str) -> str:
    return text if re.fullmatch(r"[^\W\d]\w*|`[^`]*`|[0-9.]+", text) else f"({text})"


def _named(where: str, query: Mapping[str, Any], schema: Schema) -> Any:
    kind = query["statistic"]
    known = list(DESCRIPTIONS)
    if not isinstance(kind, str) or kind not in known:
        near = difflib.get_close_matches(str(kind).capitalize(), known, 1)
        hint = (
            Phrase("did you mean {near}?", near=near[0])
            if near
            else Phrase("expressions are written as sums = [...] or products = [...]")
        )
        if str(kind).lower() == "median":
            hint = Phrase('statistic = "Quantile" and q = 0.5')
        raise refuse(
            where,
            Phrase("statistic must be one of {known}, got {got}.", known=", ".join(known), got=shorten(kind)),
            hint,
        )
    maker = load(kind)
    parameters = {f.name for f in fields(maker) if f.init and f.name not in ("domain", "weights")}
    for key in query.keys() - {"statistic", "noise", *ABOUT, *parameters}:
        raise refuse(
            where,
            Phrase("{kind} takes no {key!r}.", kind=kind, key=key),
            Phrase("it takes {about}", about=", ".join([*ABOUT, *sorted(parameters)])),
        )
    settings = {key: _tuples(query[key]) for key in parameters if key in query}
    try:
        statistic = maker(_domain(where, kind, query, schema), **settings)
    except TypeError as error:
        raise refuse(
            where,
            Phrase("{kind} is not complete ({error}).", kind=kind, error=error),
            Phrase("it takes {parameters}", parameters=", ".join(sorted(parameters))),
        ) from None
    if "where" in query:
        statistic = _where(where, query["where"], statistic, schema)
    if "by" in query:
        names = _columns(where, "by", query["by"], schema)
        statistic = load("GroupBy")(statistic, by=Schema({name: schema.column_specs[name] for name in names}))
    return statistic


def _domain(where: str, kind: str, query: Mapping[str, Any], schema: Schema) -> Any:
    """A column, or several as a schema, as the statistic takes them."""
    of_several = "Schema" in str(next(f.type for f in fields(load(kind)) if f.name == "domain"))
    if "column" in query and "columns" in query:
        raise refuse(
            where, Phrase("column and columns are both given."), Phrase("keep the one that fits the statistic")
        )
    if of_several:
        if "column" in query:
            raise refuse(
                where,
                Phrase("{kind} is about several columns, got column.", kind=kind),
                Phrase('columns = ["age", "stay"]'),
            )
        names = _columns(where, "columns", query.get("columns", list(schema.private)), schema)
        return Schema({name: schema.column_specs[name] for name in names})
    if "column" not in query:
        raise refuse(
            where, Phrase("{kind} is about one column; column is left out.", kind=kind), Phrase('column = "age"')
        )
    return schema[_columns(where, "column", [query["column"]], schema)[0]]


def _columns(where: str, key: str, value: Any, schema: Schema) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise refuse(
            where,
            Phrase("{key} must name columns of the schema, got {got}.", key=key, got=shorten(value)),
            Phrase('{key} = "age"', key=key),
        )
    for name in names:
        check_column(f"{where}: {key}", name, schema)
    return names


def _where(where: str, table: Any, statistic: Any, schema: Schema) -> Any:
    """{ column = "ward", is_in = ["A"] }, or { column = "age", between = [18, 65] }."""
    example = Phrase('where = {{ column = "age", between = [18, 65] }}, or {{ column = "ward", is_in = ["A", "B"] }}')
    if not isinstance(table, dict) or set(table) not in ({"column", "is_in"}, {"column", "between"}):
        raise refuse(
            where, Phrase("where must be a column and is_in or between, got {got}.", got=shorten(table)), example
        )
    name = _columns(where, "where", [table["column"]], schema)[0]
    condition = {key: _tuples(value) for key, value in table.items() if key != "column"}
    if not all(isinstance(value, tuple) for value in condition.values()):
        raise refuse(where, Phrase("where: is_in and between are lists, got {got}.", got=shorten(table)), example)
    return load("Where")(statistic, schema[name], **condition)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


# -- noise -------------------------------------------------------------------------------------------------------------


def split_noise(
    where: str, shared: Any, queries: Iterable[Mapping[str, Any]], places: Sequence[str]
) -> list[Mapping[str, Any] | None]:
    """The noise of every query: its own, none (noise = false), or an even part of what [noise] says in all.

    places: how the file names each of them.
    """
    if shared is not None:
        shared = _parse_noise(Phrase("{where}, [noise]", where=where), shared)
    noises = [query.get("noise", shared) for query in queries]
    parts = sum(noise is shared and shared is not None for noise in noises)
    out: list[Mapping[str, Any] | None] = []
    for place, noise in zip(places, noises, strict=True):
        if noise is None or noise is False:
            out.append(None)
            continue
        noise = noise if noise is shared else _parse_noise(Phrase("{place}, noise", place=place), noise)
        # [noise] is what all questions cost together: each of those without their own gets an equal part.
        if noise is shared and parts > 1:
            noise = {key: split_budget(v, [1.0] * parts)[0] if key in BUDGET else v for key, v in noise.items()}
        out.append(noise)
    return out


def _parse_noise(where: str, noise: Any) -> Mapping[str, Any]:
    """The table of a noise, with its law filled in: the first of LAWS where only epsilon is given."""
    if not isinstance(noise, dict):
        raise refuse(
            where,
            Phrase("noise must be a table with law and epsilon, got {got}.", got=shorten(noise)),
            Phrase("or noise = false"),
        )
    for key in noise.keys() - {"law", *BUDGET, *TERMS}:
        raise refuse(
            where,
            Phrase("there is no key {key!r}.", key=key),
            Phrase("it takes law, {budget}", budget=", ".join((*BUDGET, *TERMS))),
        )
    if "law" not in noise and not {"delta", "rho"} & noise.keys():
        noise = {"law": LAWS[0], **noise}
    if noise.get("law") not in LAWS:
        got = Phrase("it is left out") if "law" not in noise else Phrase("got {law}", law=shorten(noise["law"]))
        hint = (
            Phrase('law = "DiscreteGaussian"')
            if "law" not in noise
            else Phrase("other noise cannot be drawn in shares")
        )
        raise refuse(where, Phrase("law must be one of {laws}; {got}.", laws=", ".join(LAWS), got=got), hint)
    for key in BUDGET:
        value = noise.get(key, 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise refuse(
                where,
                Phrase("{key} must be a positive number, got {got}.", key=key, got=shorten(value)),
                Phrase("{key} = 0.5", key=key),
            )
    if "epsilon" not in noise and "rho" not in noise:
        raise refuse(where, Phrase("epsilon is left out."), Phrase("epsilon = 1.0: the smaller, the more noise"))
    return noise


def plan_noise(where: str, noise: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments of a plan for this noise: the curator's noise, and what it protects."""
    if noise is None:
        return {}
    maker = load(noise["law"])
    settings = {key: float(noise[key]) for key in BUDGET if key in noise}
    unknown = set(settings) - {f.name for f in fields(maker)}
    if unknown:
        raise refuse(
            where,
            Phrase("{law} takes no {unknown}.", law=noise["law"], unknown=sorted(unknown)[0]),
            Phrase("DiscreteLaplace takes epsilon alone"),
        )
    return {"curator": maker(**settings)} | {key: noise[key] for key in TERMS if key in noise}


def model_noise(where: str, noise: Mapping[str, Any] | None) -> Any:
    """The same for a model, which splits what it costs over its rounds: Laplace without a delta, else Gaussian."""
    if noise is None:
        return None
    from murmure.plan.privacy import Central

    expected = "DiscreteGaussian" if "delta" in noise else "DiscreteLaplace"
    if "rho" in noise or noise["law"] != expected:
        raise refuse(
            where,
            Phrase(
                "a model takes DiscreteLaplace and epsilon, or DiscreteGaussian, epsilon and delta; got {law} "
                "and {budget}.",
                law=noise["law"],
                budget=", ".join(key for key in BUDGET if key in noise),
            ),
            Phrase('noise = {{ law = "DiscreteLaplace", epsilon = 1.0 }}'),
        )
    settings: dict[str, Any] = {key: float(noise[key]) for key in BUDGET if key in noise}
    return Central(**settings, **{key: noise[key] for key in TERMS if key in noise})
