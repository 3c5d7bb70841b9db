"""study.toml, as a person writes it: the terms, the columns, and what is to be added up.

name = "Length of stay, 2026"
purpose = "How stay depends on age."
minimum_parties = 4
schema = "schema.toml"

[[queries]]
sums = ["age", "stay", "age * stay"]

[[queries]]
statistic = "Mean"
column = "stay"
by = ["ward"]

[[models]]                   # econometrics: asked after the queries, in as many rounds as each takes
model = "ols"
formula = "stay ~ age + ward"
errors = "HC1"

[noise]                      # what all of them together cost; leave it out for exact sums
law = "DiscreteLaplace"
epsilon = 1.0
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.schema_format import column_from_toml
from murmure.parties.study.document import DEFAULT_LEAST_ROWS, DEFAULT_RATIO, MAX_RATIO, Study
from murmure.parties.study.model_checks import NO_NOISE
from murmure.parties.study.toml_errors import error_of_file, refuse
from murmure.parties.study.toml_models import model_from_toml
from murmure.parties.study.toml_queries import model_noise, plan_noise, split_noise, statistic_from_toml
from murmure.plan.plan import Plan
from murmure.secure.identity import Card
from murmure.secure.sharing import PairwiseMasks
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

SCHEMA_HINT = Phrase('schema = "schema.toml", relative to the study\'s file')
MAY_LIE_HINT = Phrase("coordinator_may_lie = false: the totals that it reports are believed; its lists never are")
KEYS = (
    *("name", "purpose", "colluders", "dropouts", "minimum_parties", "coordinator_may_lie", "rows", "least_rows"),
    *("ratio", "schema", "columns", "queries", "models", "noise"),
)


def read_study(
    path: str | os.PathLike[str], cards: tuple[Card, ...], coordinator: Card, minimum_cell: int = MINIMUM_CELL
) -> Study:
    """The study that the file describes, of these parties; refuses more exact sums than the ratio allows, and
    conditions that too few rows may fulfil.
    """
    file = Path(path)
    toml = _load(file)
    for key in toml.keys() - set(KEYS):
        raise refuse(file.name, Phrase("there is no key {key!r}.", key=key), _near(key, KEYS))
    for key in ("name", "purpose"):
        if not isinstance(toml.get(key), str) or not toml[key].strip():
            got = Phrase("it is left out") if key not in toml else Phrase("got {toml}", toml=shorten(toml[key]))
            raise refuse(
                file.name,
                Phrase("{key} must be text; {got}.", key=key, got=got),
                Phrase('{key} = "..."; every party reads it', key=key),
            )
    texts = {key: " ".join(toml[key].split()) for key in ("name", "purpose")}
    sharing = _sharing(file.name, toml, len(cards))
    schema = _schema(file, toml)
    noises = _noises(file.name, toml)
    plans = _plans(file.name, toml, schema, sharing, noises)
    model_fields = _models(file.name, toml, schema, noises[len(plans) :])
    least_rows = whole_number(file.name, toml, "least_rows", 1, DEFAULT_LEAST_ROWS)
    try:
        terms = (cards, plans, least_rows, _ratio(file.name, toml))
        study = Study(
            texts["name"],
            texts["purpose"],
            coordinator,
            *terms,
            **(model_fields and {**model_fields, "parties": sharing}),
        )
        study.check_ratio()
        study.check_conditions(minimum_cell)
    except MurmureError as error:
        raise error_of_file(file.name, error) from None
    return study


def _load(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = (
            error.strerror.lower() if isinstance(error, OSError) and error.strerror else Phrase("it is not UTF-8 text")
        )
        raise InvalidParameter(
            "cannot read {file!r}: {why}.", hint="name the study's TOML file", file=str(file), why=why
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise refuse(
            file.name,
            Phrase("this is not TOML: {error}.", error=error),
            Phrase('a line is key = value, and text is in "quotes"'),
        ) from None
    except RecursionError:
        raise refuse(file.name, Phrase("it is nested too deeply to be a study."), None) from None


def _near(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key.lower(), list(known), 1)
    if near:
        return Phrase("did you mean {key}?", key=near[0])
    return Phrase("it takes {keys}", keys=", ".join(known))


def whole_number(where: str, toml: Mapping[str, Any], key: str, minimum: int, default: Any) -> Any:
    """A whole number of the file, or the default."""
    value = toml.get(key, default)
    if key in toml and (isinstance(value, bool) or not isinstance(value, int) or value < minimum):
        raise refuse(
            where,
            Phrase(
                "{key} must be a whole number, at least {minimum}, got {got}.",
                key=key,
                minimum=minimum,
                got=shorten(value),
            ),
            Phrase("{key} = {minimum}", key=key, minimum=minimum),
        )
    return value


def _sharing(where: str, toml: Mapping[str, Any], parties: int) -> PairwiseMasks:
    lies = toml.get("coordinator_may_lie", False)
    if not isinstance(lies, bool):
        raise refuse(
            where, Phrase("coordinator_may_lie must be true or false, got {got}.", got=shorten(lies)), MAY_LIE_HINT
        )
    if "dropouts" in toml and "minimum_parties" in toml:
        raise refuse(
            where, Phrase("dropouts and minimum_parties say the same in two ways."), Phrase("keep one of them")
        )
    dropouts = whole_number(where, toml, "dropouts", 0, None)
    minimum = whole_number(where, toml, "minimum_parties", 3, None)
    if minimum is not None:
        if minimum > parties:
            raise refuse(
                where,
                Phrase(
                    "minimum_parties = {minimum}, and there are {parties} parties.", minimum=minimum, parties=parties
                ),
                Phrase("add the cards of the others, or lower the minimum")
                if parties >= 3
                else Phrase(
                    "add the cards of the others: with two parties, each could subtract its own sum and learn the "
                    "other's"
                ),
            )
        dropouts = parties - minimum
    try:
        return PairwiseMasks(
            parties,
            dropouts,
            whole_number(where, toml, "colluders", 0, 1),
            "lying" if lies else "curious",
            whole_number(where, toml, "rows", 1, PairwiseMasks.rows),
        )
    except MurmureError as error:
        raise error_of_file(
            where,
            error,
            Phrase(
                "all these are public: how many parties take part, drop out and collude, and how many rows they hold"
            ),
        ) from None


def _schema(file: Path, toml: Mapping[str, Any]) -> Schema:
    if ("schema" in toml) == ("columns" in toml):
        problem = Phrase("both are given") if "schema" in toml else Phrase("neither is given")
        raise refuse(
            file.name,
            Phrase('columns are described by schema = "schema.toml" or by [columns.NAME]; {problem}.', problem=problem),
            Phrase("murmure schema init DATA drafts a schema"),
        )
    if "columns" in toml:
        columns = toml["columns"]
        if not isinstance(columns, dict) or not columns:
            raise refuse(
                file.name,
                Phrase("columns must be tables [columns.NAME], got {got}.", got=shorten(columns)),
                SCHEMA_HINT,
            )
        schema = Schema({name: column_from_toml(file.name, name, table) for name, table in columns.items()})
    else:
        if not isinstance(toml["schema"], str) or not toml["schema"]:
            raise refuse(
                file.name,
                Phrase("schema must be the name of a file, got {got}.", got=shorten(toml["schema"])),
                SCHEMA_HINT,
            )
        schema = Schema.load(file.parent / toml["schema"])
    schema.refuse_drafted()
    return schema


def _ratio(where: str, toml: Mapping[str, Any]) -> Fraction:
    value = toml.get("ratio", DEFAULT_RATIO)
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise refuse(
            where,
            Phrase("ratio must be a number, or a fraction in quotes, got {got}.", got=shorten(value)),
            Phrase('ratio = "1/3"'),
        )
    try:
        out = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise refuse(
            where,
            Phrase("ratio must be a number or a fraction, got {got}.", got=shorten(value)),
            Phrase('ratio = "1/3"'),
        ) from None
    if not 0 < out <= MAX_RATIO or out.denominator > 10**6:
        raise refuse(
            where,
            Phrase(
                "ratio must be above 0 and at most {max_ratio}, got {got}.", max_ratio=MAX_RATIO, got=shorten(value)
            ),
            Phrase('ratio = "1/3" is usual; above 1, rows can be worked out, so it is only for public rows'),
        )
    return out


def _tables(where: str, toml: Mapping[str, Any], key: str, example: str) -> list[dict[str, Any]]:
    tables = toml.get(key, [])
    if (
        not isinstance(tables, list)
        or not all(isinstance(table, dict) for table in tables)
        or (key in toml and not tables)
    ):
        raise refuse(
            where,
            Phrase("{key} must be tables [[{key}]]; got {got}.", key=key, got=shorten(tables)),
            Phrase("[[{key}]] and then {example}", key=key, example=example),
        )
    return tables


def _noises(where: str, toml: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    """The noise of every query and every model, in this order."""
    queries = _tables(where, toml, "queries", 'sums = ["age"]')
    models = _tables(where, toml, "models", 'model = "ols" and formula = "stay ~ age"')
    if not queries and not models:
        raise refuse(
            where,
            Phrase("queries must be tables [[queries]]; it is left out."),
            Phrase('[[queries]] and then sums = ["age"]'),
        )
    places = [
        *(Phrase("{where}, query {number}", where=where, number=number) for number in range(1, len(queries) + 1)),
        *(Phrase("{where}, model {number}", where=where, number=number) for number in range(1, len(models) + 1)),
    ]
    return split_noise(where, toml.get("noise"), [*queries, *models], places)


def _plans(
    where: str,
    toml: Mapping[str, Any],
    schema: Schema,
    sharing: PairwiseMasks,
    noises: Sequence[Mapping[str, Any] | None],
) -> tuple[Plan, ...]:
    plans = []
    for number, (query, noise) in enumerate(zip(toml.get("queries", []), noises, strict=False), 1):
        place = Phrase("{where}, query {number}", where=where, number=number)
        try:
            statistic = statistic_from_toml(place, query, schema)
            plans.append(Plan(statistic, parties=sharing, **plan_noise(place, noise)))
        except MurmureError as error:
            raise (error if str(error).startswith(place) else error_of_file(place, error)) from None
    return tuple(plans)


def _models(
    where: str, toml: Mapping[str, Any], schema: Schema, noises: Sequence[Mapping[str, Any] | None]
) -> dict[str, Any]:
    models, protected = [], []
    for number, (table, noise) in enumerate(zip(toml.get("models", []), noises, strict=True), 1):
        place = Phrase("{where}, model {number}", where=where, number=number)
        protected.append(model_noise(place, noise))
        models.append(model_from_toml(place, table, schema, protected[-1]))
        if noise is not None and models[-1].noise_refusal is not None:
            raise refuse(
                place,
                Phrase(
                    "{kind} cannot be asked with noise: {noise_refusal}.",
                    kind=type(models[-1]).__name__,
                    noise_refusal=models[-1].noise_refusal,
                ),
                NO_NOISE,
            )
    return {"models": tuple(models), "noises": tuple(protected)} if models else {}
