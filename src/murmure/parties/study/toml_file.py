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
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.schema import Schema, column_from_toml
from murmure.parties.study.document import DEFAULT_LEAST_ROWS, DEFAULT_RATIO, MAX_RATIO, Study
from murmure.parties.study.model_checks import NO_NOISE
from murmure.parties.study.toml_models import model_from_toml
from murmure.parties.study.toml_queries import model_noise, plan_noise, split_noise, statistic_from_toml
from murmure.parties.study.visible_text import message_without_hint
from murmure.plan.plan import Plan
from murmure.secure.identity import Card
from murmure.secure.sharing import PairwiseMasks
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

FILE = 'schema = "schema.toml", counted from the study\'s file'
FEARED = "coordinator_may_lie = false: the totals that it reports are believed; its lists never are"
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
    held = _loaded(file)
    for key in held.keys() - set(KEYS):
        raise wrong(file.name, f"there is no key {key!r}.", _near(key, KEYS))
    for key in ("name", "purpose"):
        if not isinstance(held.get(key), str) or not held[key].strip():
            got = "it is left out" if key not in held else f"got {shorten(held[key])}"
            raise wrong(file.name, f"{key} must be text; {got}.", f'{key} = "..."; every party reads it')
    said = {key: " ".join(held[key].split()) for key in ("name", "purpose")}
    sharing = _sharing(file.name, held, len(cards))
    schema = _schema(file, held)
    noises = _noises(file.name, held)
    plans = _plans(file.name, held, schema, sharing, noises)
    asked = _models(file.name, held, schema, noises[len(plans) :])
    least = whole(file.name, held, "least_rows", 1, DEFAULT_LEAST_ROWS)
    try:
        terms = (cards, plans, least, _ratio(file.name, held))
        study = Study(said["name"], said["purpose"], coordinator, *terms, **(asked and {**asked, "parties": sharing}))
        study.check_ratio()
        study.check_conditions(minimum_cell)
    except MurmureError as error:
        raise of_file(file.name, error) from None
    return study


def _loaded(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise InvalidParameter(f"cannot read {str(file)!r}: {why}.", hint="name the study's TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise wrong(
            file.name, f"this is not TOML: {error}.", 'a line is key = value, and text stands in "quotes"'
        ) from None
    except RecursionError:
        raise wrong(file.name, "it is nested too deeply to be a study.", None) from None


def wrong(where: str, what: str, hint: str | None) -> InvalidParameter:
    return InvalidParameter(f"{where}: {what}", hint=hint)


def of_file(where: str, error: MurmureError, otherwise: str | None = None) -> MurmureError:
    """What a constructor says, said about the file; the class of the error stays."""
    message = message_without_hint(error)
    message = re.sub(r"\b(?:PairwiseMasks|Study)(?:\.|: )(\w+)", r"\1", message)  # a file has no classes
    kind = type(error) if type(error).__init__ is MurmureError.__init__ else InvalidParameter
    if not message.startswith((f"{where}:", f"{where},")):
        message = f"{where}: {message}"
    return kind(message, hint=error.hint or otherwise)


def _near(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key.lower(), list(known), 1)
    return f"did you mean {near[0]}?" if near else f"it takes {', '.join(known)}"


def whole(where: str, held: Mapping[str, Any], key: str, least: int, default: Any) -> Any:
    """A whole number of the file, or what stands for it where it is left out."""
    value = held.get(key, default)
    if key in held and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise wrong(where, f"{key} must be a whole number, at least {least}, got {shorten(value)}.", f"{key} = {least}")
    return value


def _sharing(where: str, held: Mapping[str, Any], parties: int) -> PairwiseMasks:
    lies = held.get("coordinator_may_lie", False)
    if not isinstance(lies, bool):
        raise wrong(where, f"coordinator_may_lie must be true or false, got {shorten(lies)}.", FEARED)
    if "dropouts" in held and "minimum_parties" in held:
        raise wrong(where, "dropouts and minimum_parties say the same in two ways.", "keep one of them")
    dropouts = whole(where, held, "dropouts", 0, None)
    minimum = whole(where, held, "minimum_parties", 3, None)
    if minimum is not None:
        if minimum > parties:
            raise wrong(
                where,
                f"minimum_parties = {minimum}, and there are {parties} parties.",
                "add the cards of the others, or lower the minimum"
                if parties >= 3
                else "add the cards of the others: of two, each could subtract its own sum and have the other's",
            )
        dropouts = parties - minimum
    try:
        return PairwiseMasks(
            parties,
            dropouts,
            whole(where, held, "colluders", 0, 1),
            "lying" if lies else "curious",
            whole(where, held, "rows", 1, PairwiseMasks.rows),
        )
    except MurmureError as error:
        raise of_file(
            where, error, "all these are public: how many take part, vanish, collude, and hold rows"
        ) from None


def _schema(file: Path, held: Mapping[str, Any]) -> Schema:
    if ("schema" in held) == ("columns" in held):
        said = "both stand there" if "schema" in held else "neither stands there"
        raise wrong(
            file.name,
            f'columns are described by schema = "schema.toml" or by [columns.NAME]; {said}.',
            "murmure schema init DATA drafts a schema",
        )
    if "columns" in held:
        columns = held["columns"]
        if not isinstance(columns, dict) or not columns:
            raise wrong(file.name, f"columns must be tables [columns.NAME], got {shorten(columns)}.", FILE)
        schema = Schema({name: column_from_toml(file.name, name, said) for name, said in columns.items()})
    else:
        if not isinstance(held["schema"], str) or not held["schema"]:
            raise wrong(file.name, f"schema must be the name of a file, got {shorten(held['schema'])}.", FILE)
        schema = Schema.load(file.parent / held["schema"])
    schema.refuse_drafted()
    return schema


def _ratio(where: str, held: Mapping[str, Any]) -> Fraction:
    value = held.get("ratio", DEFAULT_RATIO)
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise wrong(where, f"ratio must be a number, or a fraction in quotes, got {shorten(value)}.", 'ratio = "1/3"')
    try:
        out = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise wrong(where, f"ratio must be a number or a fraction, got {shorten(value)}.", 'ratio = "1/3"') from None
    if not 0 < out <= MAX_RATIO or out.denominator > 10**6:
        raise wrong(
            where,
            f"ratio must lie above 0 and at most at {MAX_RATIO}, got {shorten(value)}.",
            'ratio = "1/3" is usual; above 1 rows can be solved for, which is for rows that are public',
        )
    return out


def _tables(where: str, held: Mapping[str, Any], key: str, example: str) -> list[dict[str, Any]]:
    said = held.get(key, [])
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said) or (key in held and not said):
        raise wrong(where, f"{key} must be tables [[{key}]]; got {shorten(said)}.", f"[[{key}]] and then {example}")
    return said


def _noises(where: str, held: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    """Of every query and every model, in this order."""
    queries = _tables(where, held, "queries", 'sums = ["age"]')
    models = _tables(where, held, "models", 'model = "ols" and formula = "stay ~ age"')
    if not queries and not models:
        raise wrong(where, "queries must be tables [[queries]]; it is left out.", '[[queries]] and then sums = ["age"]')
    places = [
        *(f"{where}, query {number}" for number in range(1, len(queries) + 1)),
        *(f"{where}, model {number}" for number in range(1, len(models) + 1)),
    ]
    return split_noise(where, held.get("noise"), [*queries, *models], places)


def _plans(
    where: str,
    held: Mapping[str, Any],
    schema: Schema,
    sharing: PairwiseMasks,
    noises: Sequence[Mapping[str, Any] | None],
) -> tuple[Plan, ...]:
    plans = []
    for number, (query, noise) in enumerate(zip(held.get("queries", []), noises, strict=False), 1):
        place = f"{where}, query {number}"
        try:
            asks = statistic_from_toml(place, query, schema)
            plans.append(Plan(asks, parties=sharing, **plan_noise(place, noise)))
        except MurmureError as error:
            raise (error if str(error).startswith(place) else of_file(place, error)) from None
    return tuple(plans)


def _models(
    where: str, held: Mapping[str, Any], schema: Schema, noises: Sequence[Mapping[str, Any] | None]
) -> dict[str, Any]:
    models, protected = [], []
    for number, (said, noise) in enumerate(zip(held.get("models", []), noises, strict=True), 1):
        place = f"{where}, model {number}"
        protected.append(model_noise(place, noise))
        models.append(model_from_toml(place, said, schema, protected[-1]))
        if noise is not None and models[-1].protects is not None:
            raise wrong(
                place, f"{type(models[-1]).__name__} cannot be asked with noise: {models[-1].protects}.", NO_NOISE
            )
    return {"models": tuple(models), "noises": tuple(protected)} if models else {}
