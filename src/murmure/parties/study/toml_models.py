"""The models of a study.toml: each [[models]] is a call of the public function that it names, before anybody is asked.

[[models]]
model = "cox"
formula = "age + ward"
time = "days"
event = "died"
grid = [30, 60, 90]

is the model of cox("age + ward", ..., time="days", event="died", grid=[30, 60, 90]): what the function checks is
checked here, and what it leaves out is left out here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from murmure import econometrics
from murmure.catalogue import MECHANISMS, MODELS, load
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.parties.study.model_keys import OLD_NAMES, STUDY_KEYS, ModelKey, exclusion_reason, keys_of
from murmure.parties.study.toml_errors import check_column, refuse

if TYPE_CHECKING:
    from murmure.plan.privacy import Central

EXAMPLE = Phrase('model = "ols" and formula = "stay ~ age + ward"')
OTHER_NAMES = {"bins": "histogram", "bisection": "quantile", "lloyd": "kmeans"}  # classes that are called otherwise


def model_from_toml(where: str, table: Mapping[str, Any], schema: Schema, noise: Central | None = None) -> Any:
    """The model that one [[models]] asks for. noise: what protects its sums, if anything does."""
    from murmure.econometrics.model import NO_ROWS
    from murmure.plan.privacy import Secure

    name = function_name(where, table.get("model"))
    keys = keys_of(name)
    for word in table:
        if word not in keys and word not in STUDY_KEYS:
            raise _unknown(where, name, word, list(keys))
    arguments = {}
    for key in keys.values():
        if key.name in table:
            arguments[key.name] = _value(where, name, key, table[key.name], schema)
        elif key.required:
            raise refuse(
                where,
                Phrase(
                    "{name}.{key_name} must be {words}; it is left out.", name=name, key_name=key.name, words=key.words
                ),
                Phrase("{example}", example=key.example),
            )
    # NO_ROWS: the function checks its arguments and returns its model, without asking anybody.
    privacy = Secure() if noise is None else Secure(**vars(noise))
    try:
        return getattr(econometrics, name)(data=NO_ROWS, schema=schema, privacy=privacy, **arguments)
    except MurmureError as error:
        raise refuse(where, error.message, error.hint) from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        why = f"{type(error).__name__}: {shorten(str(error), 100)}"
        raise refuse(
            where, Phrase("{name} cannot take these values ({why}).", name=name, why=why), _listed(keys)
        ) from None


def function_name(where: str, word: Any) -> str:
    """The function that a file names: ols, OLS, kaplan_meier, KaplanMeier, "kaplan-meier"."""
    if not isinstance(word, str) or not word:
        got = Phrase("it is left out") if word is None else Phrase("got {word}", word=shorten(word))
        raise refuse(where, Phrase("model must name a model; {got}.", got=got), EXAMPLE)
    functions = {_plain(name): name for name in econometrics.FUNCTIONS}
    known = {name.lower(): functions[name.lower()] for name in MODELS if name.lower() in functions}
    known |= functions | OTHER_NAMES
    if _plain(word) not in known:
        near = difflib.get_close_matches(_plain(word), known, 1)
        hint = (
            Phrase("did you mean {known}?", known=known[near[0]])
            if near
            else Phrase("there are {functions}", functions=", ".join(econometrics.FUNCTIONS))
        )
        raise refuse(where, Phrase("there is no model {word!r}.", word=word), hint)
    return known[_plain(word)]


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


def _listed(keys: Iterable[str]) -> str:
    return Phrase("it takes {keys}", keys=", ".join(keys))


def _unknown(where: str, name: str, key: str, keys: list[str]) -> InvalidParameter:
    """Which key, of which model, the nearest one, and all that there are."""
    reason = exclusion_reason(name, key)
    if reason is not None:
        return refuse(
            where,
            Phrase("{name} takes no {key!r} in a study: {reason}.", name=name, key=key, reason=reason),
            _listed(keys),
        )
    renamed = [other for other in OLD_NAMES.get(key, ()) if other in keys]
    near = renamed or difflib.get_close_matches(key.lower(), keys, 1)
    hint = _listed(keys)
    if near:
        hint = Phrase("did you mean {key}? {keys}", key=near[0], keys=hint)
    return refuse(where, Phrase("{name} takes no {key!r}.", name=name, key=key), hint)


def _value(where: str, name: str, key: ModelKey, value: Any, schema: Schema) -> Any:
    if not key.accepts(value):
        raise refuse(
            where,
            Phrase(
                "{name}.{key_name} must be {words}, got {got}.",
                name=name,
                key_name=key.name,
                words=key.words,
                got=shorten(value),
            ),
            Phrase("{example}", example=key.example),
        )
    return _mechanisms(where, key, value, schema) if (name, key.name) == ("randomised_ols", "randomised") else value


def _mechanisms(where: str, key: ModelKey, table: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """{ smoker = { mechanism = "GRR", epsilon = 1.0 } }: how each column was randomised, over the schema's domain."""
    out = {}
    for column, about in table.items():
        place = Phrase("{where}, randomised.{column}", where=where, column=column)
        check_column(place, column, schema)
        kind = about.get("mechanism") if isinstance(about, dict) else None
        if not isinstance(kind, str) or kind not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise refuse(
                place,
                Phrase("mechanism must be one of {known}, got {got}.", known=known, got=shorten(about)),
                Phrase("{example}", example=key.example),
            )
        maker = load(kind)
        settings = {name: value for name, value in about.items() if name != "mechanism"}
        taken = [f.name for f in fields(maker) if f.init and f.name != "domain"]
        for name in settings:
            if name not in taken:
                raise refuse(place, Phrase("{kind} takes no {name!r}.", kind=kind, name=name), _listed(taken))
        try:
            out[column] = maker(schema[column], **settings)
        except MurmureError as error:
            raise refuse(place, error.message, error.hint) from None
        except TypeError:
            raise refuse(
                place, Phrase("{kind} is not complete, or has values of another kind.", kind=kind), _listed(taken)
            ) from None
    return out
