"""`ask(model, data)`: every question of a model is wrapped in a plan, run where the rows are, and answered by sums.

The same call runs in the clear on one table, on an engine, between parties by masked sums, or with noise; a model
cannot tell which, but for the variance of the noise that its answers carry.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Generator, Iterable
from dataclasses import replace
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from murmure.central.base.gate import Gate
from murmure.certify.accounting import sequential
from murmure.core.errors import InvalidParameter, PlanRefused, shorten
from murmure.core.random import random_or_secure
from murmure.core.schema import Schema
from murmure.econometrics.model import digest_of
from murmure.econometrics.no_rows import NO_ROWS
from murmure.econometrics.results.provenance import how_of
from murmure.plan.plan import Plan
from murmure.plan.privacy import Clear, Local, Secure, check_privacy, noise_in, rules_of
from murmure.run.driver import LedgerRequest, drive
from murmure.run.totals import SeparateTables
from murmure.statistics.exact.party_products import PartyOuterProducts, WithinPartyProducts
from murmure.statistics.expressions.parser import columns_in, read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.expressions.text import parsed

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design
    from murmure.econometrics.results.result import ModelResult

EXPRESSION_FUNCTIONS = ("min", "max", "abs", "log", "exp", "sqrt")  # words of expressions that are no columns
COARSE = 14  # bits of a factor where noise is added: its rounding is far below the noise, and sums fit into a word


def ask(
    model: Any,
    data: Any,
    *,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
    gate: Gate | None = None,
) -> Any:
    """The model's result. data: a table, or a list of tables, one for each party (None for one that vanishes).

    privacy: Clear() (the default; several tables are added up in the clear), Secure(...) between the parties of the
    list, or Central(epsilon).
    """
    if data is NO_ROWS:
        return model
    owner = type(model).__name__
    privacy, frame, apart, present = resolve_data(owner, privacy, data)
    gate = gate or Gate(random_or_secure(rng, owner))
    noise = noise_in(privacy)
    if noise is not None and model.protects is not None:
        raise PlanRefused(
            f"{owner} cannot be asked with noise: {model.protects}.",
            hint="exact sums between parties: privacy=mu.Secure(); docs/how-to-econometrics.md lists what takes noise",
        )
    if isinstance(privacy, Secure):
        check_sharing(model, privacy.sharing)
    asked: list[Plan] = []
    answers: list[Any] = []

    def steps() -> Generator[Plan, Any, ModelResult]:
        asked.clear()
        answers.clear()
        noises = iter(privacy.noises([1.0] * model.rounds))
        questions = model.steps()
        try:
            statistic = next(questions)
            while True:
                noise_now = next(noises)
                asked.append(privacy.plan(coarsen_for_noise(statistic, noise_now), noise_now))
                answers.append((yield asked[-1]))
                statistic = questions.send(answers[-1])
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    about = f"{owner} of {', '.join(shorten(name, 40) for name in model.domain.private[:6])}"
    fit = LedgerRequest(_name(model), about, sequential([]))
    if noise is not None:
        fit = replace(fit, cost=noise.cost, relation=noise.relation)
    elif ledger is not None:
        way_out = "privacy=mu.Central(epsilon=1.0)" if model.protects is None else "leave the ledger out"
        raise PlanRefused("a ledger keeps what noise costs, and there is none.", hint=way_out)
    heard = drive(steps, frame, engine, fit, ledger, gate, rules_of(privacy, model))
    how = how_of(privacy, asked, answers, present, apart, gate.rng.is_seeded, in_process=True)
    return replace(heard.result, how=how)  # type: ignore[type-var]


def party_statistic(model: Any) -> type[PartyOuterProducts] | type[WithinPartyProducts] | None:
    """What a model asks about each party by itself: the products of its scores, or of its rows less its means."""
    if getattr(model, "errors", "") == "cluster":
        return PartyOuterProducts
    return WithinPartyProducts if type(model).__name__ == "FixedEffects" else None


def check_sharing(model: Any, sharing: Any) -> None:
    """Before the first round: whether a model may be asked between these parties, under this coordinator.

    Products of what each party has are asked of several honest parties (by_party.py); a party that colludes with
    nobody knows its own part, so it counts as one that does. A coordinator that lies tells the totals from which the
    next question follows, and so would choose it.
    """
    kind, asked = type(model).__name__, party_statistic(model)
    honest = sharing.minimum - max(sharing.colluders, 1)
    if asked is not None and honest < asked.min_honest:
        what = "errors by clusters that are parties" if asked is PartyOuterProducts else "levels of parties"
        raise PlanRefused(
            f"{kind}: {what} take {asked.min_honest} honest parties or more, and there may be {honest}: of "
            f"{sharing.parties}, {sharing.dropouts} may vanish and {max(sharing.colluders, 1)} collude or look at what "
            "they know themselves.",
            hint="more parties; or fewer that may vanish, mu.Secure(dropouts=0)",
        )
    if sharing.coordinator == "lying" and model.rounds > 1:
        raise PlanRefused(
            f"{kind} takes up to {model.rounds} rounds, each of which follows from the totals before it: a coordinator "
            "that lies about a total would choose what is asked next.",
            hint='coordinator="curious" (in a study.toml coordinator_may_lie = false), if it can be trusted to tell '
            "totals; or a model of one round",
        )


def coarsen_for_noise(statistic: Any, noise: Any) -> Any:
    """The question as it is asked: where there is noise, on a grid that leaves room for it."""
    return statistic.coarse(COARSE) if noise is not None and hasattr(statistic, "coarse") else statistic


def _name(model: Any) -> str:
    try:
        return digest_of(model)
    except PlanRefused:  # a function of one's own: it runs here, and nothing is charged for it
        return type(model).__name__


def resolve_data(owner: str, privacy: Any, data: Any) -> tuple[Any, Any, int | None, int | None]:
    """Privacy and data as they go together; of several tables how many there are, and how many of them are there."""
    privacy = Clear() if privacy is None else check_privacy(owner, privacy)
    if isinstance(privacy, Local):
        raise InvalidParameter(
            f"{owner} does not randomise rows itself.",
            hint="randomise the columns at the person (mu.sanitise), then econometrics.randomised_ols(...)",
        )
    several = isinstance(data, list | tuple)
    if several and not data:
        raise InvalidParameter(f"{owner}: the list of tables is empty.", hint="a table for each party")
    if isinstance(privacy, Secure):
        if not several:
            raise InvalidParameter(
                f"{owner} under Secure() takes a list of tables, one for each party, got {type(data).__name__}.",
                hint="[table_1, table_2, table_3]; over a network: murmure study",
            )
        if len(data) < 3:
            raise InvalidParameter(
                f"{owner} under Secure() takes three tables or more, got {len(data)}.",
                hint="of two parties each could subtract its own sum and have the other's",
            )
        return privacy.for_parties(len(data)), list(data), None, sum(one is not None for one in data)
    if not several:
        return privacy, data, None, None
    if any(one is None for one in data):
        raise InvalidParameter(f"{owner}: a table is None; in the clear nobody vanishes.")
    return privacy, SeparateTables(tuple(data)), len(data), len(data)


def schema_for(
    owner: str,
    data: Any,
    schema: Any,
    columns: Iterable[str] | None,
    privacy: Any,
    labels: Iterable[str] = (),
    numbers: bool = False,
) -> Schema:
    """The schema that was given; or, in the clear, that of one's own table. Under any privacy bounds are public.

    columns: those that are read; None: all, or all numbers. labels: those of them whose numbers are labels.
    """
    if isinstance(schema, str | os.PathLike):
        schema = Schema.load(schema)
    clear = privacy is None or isinstance(privacy, Clear)
    if schema is None and clear:
        from murmure.econometrics.design.inferred_schema import infer_schema

        return infer_schema(data, columns, labels=tuple(labels), numbers=numbers)
    if schema is None:
        raise InvalidParameter(
            f"{owner}.schema is missing: under {type(privacy).__name__} bounds and labels are public constants, never "
            "read off the data.",
            hint="schema=mu.Schema({...}), or the path of a schema.toml",
        )
    if not isinstance(schema, Schema):
        raise InvalidParameter(f"{owner}.schema must be a Schema or the path of one, got {shorten(schema)}.")
    if not clear:
        schema.refuse_drafted()
    return schema


def design_from_formula(
    owner: str,
    formula: Any,
    data: Any,
    schema: Any,
    privacy: Any,
    *more: str | None,
    outcome: bool = True,
    positive: bool = False,
) -> Design:
    """A formula, read against the schema; `more`: further expressions (weights, an offset) whose columns are read.

    positive: a 1 in all rows of these means a number above 0, and not a yes.
    """
    from murmure.econometrics.design.constant_columns import above_zero
    from murmure.econometrics.design.formula import named_in, read_formula

    if not isinstance(formula, str):
        raise InvalidParameter(f'{owner}.formula must be text such as "y ~ x1 + x2", got {shorten(formula)}.')
    if schema is None:
        named = named_in(formula, outcome, _names_in(data, None))
        others = [
            name for text in more if text for name in columns_in_text(text)
        ]  # a name that is no word stands in quotes
        wanted = list(dict.fromkeys([*named.columns, *others]))
        held = schema_for(owner, data, None, wanted, privacy, named.labels)
        held = above_zero(held, others) if positive else held
    else:
        held = schema_for(owner, data, schema, None, privacy)
    return with_columns(read_formula(formula, held, outcome=outcome), held, *more)


def expression_of(owner: str, what: str, text: Any, data: Any, schema: Any) -> str:
    """An expression, or the name of a column as expressions write it: a name that is no word stands in quotes."""
    from murmure.econometrics.design.factors import quoted

    if not isinstance(text, str):
        raise InvalidParameter(
            f"{owner}.{what} must be the name of a column, or an expression of columns, got {type(text).__name__}.",
            hint=f'{what}="age"; put the numbers into a column of the table',
        )
    word = text.isascii() and text.isidentifier() and not iskeyword(text)
    return text if word or "`" in text or text not in _names_in(data, schema) else quoted(text)


def _names_in(data: Any, schema: Any) -> tuple[str, ...]:
    """The columns of the schema; without one, those of the table, or of the first of several."""
    if schema is not None:
        return tuple(Schema.load(schema) if isinstance(schema, str | os.PathLike) else schema)
    from murmure.engines.sources.tables import open_table

    tables = [one for one in data if one is not None] if isinstance(data, list | tuple) else [data]
    if not tables or type(tables[0]).__module__.startswith("pyspark."):
        return ()
    return tuple(open_table(tables[0]).names)


def columns_in_text(text: str) -> list[str]:
    """The names in an expression, before there is a schema that knows columns."""
    tree, _, quoted = parsed(text)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(quoted.get(name, name) for name in names if name not in EXPRESSION_FUNCTIONS))


def with_columns(design: Design, schema: Schema, *more: str | None) -> Design:
    """The same design, whose domain has the columns of these expressions too."""
    terms = Terms(schema)
    read = [read_expression(text, terms) for text in more if text and text not in schema]
    names = {*design.domain, *columns_in(terms, read), *(text for text in more if text in schema)}
    return replace(design, domain=Schema({name: about for name, about in schema.about.items() if name in names}))
