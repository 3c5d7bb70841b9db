"""The keys of a [[models]] are the keywords of the public function: none is missing, none is new, each is checked."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.parties.study.hospitals import COLUMNS

from murmure import GRR, Integers, Piecewise, Schema, econometrics
from murmure.catalogue import model_functions
from murmure.cli import main
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.econometrics.model import NO_ROWS, model_to_dict
from murmure.econometrics.steps.newton import FAMILY_ROUNDS
from murmure.parties.study.document import Study
from murmure.parties.study.model_examples import EXAMPLES
from murmure.parties.study.model_keys import EXCLUDED, STUDY_KEYS, excluded_of, key_table, keys_of
from murmure.parties.study.toml_models import model_from_toml
from murmure.plan.privacy import Central, Secure
from murmure.secure.errors import CohortRefused
from murmure.secure.identity import Identity

NAMES = list(econometrics.FUNCTIONS)
EVERY = [(name, tomllib.loads(text)) for name in EXAMPLES for text in EXAMPLES[name]]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    file = tmp_path_factory.mktemp("keys") / "schema.toml"
    file.write_text(COLUMNS)
    return Schema.load(file)


def said(name: str, **keys: Any) -> dict[str, Any]:
    """The first example of a model, with these keys."""
    return {"model": name} | tomllib.loads(EXAMPLES[name][0]) | keys


def refused(asked: dict[str, Any], schema: Schema) -> str:
    with pytest.raises(InvalidParameter) as error:
        model_from_toml("s.toml, model 1", asked, schema)
    assert str(error.value).startswith("s.toml, model 1")
    return str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_every_keyword_is_a_key_or_is_left_out_for_a_reason(name: str) -> None:
    keywords = inspect.signature(getattr(econometrics, name)).parameters
    left_out = {**EXCLUDED, **excluded_of(name)}

    assert list(keys_of(name)) == [key for key in keywords if key not in left_out]
    assert all(left_out[key] for key in keywords if key not in keys_of(name))
    assert set(excluded_of(name)) <= set(keywords) and set(model_functions()[name].required) <= set(keywords)
    assert not set(STUDY_KEYS) & set(keywords)
    assert [row[0] for row in key_table(name)] == list(keys_of(name)) and all(words for _, words, _ in key_table(name))


def test_the_rounds_of_a_family_are_those_of_its_fit() -> None:
    """An entry is literal, so a constant of the code is repeated in it."""
    assert model_functions()["mle"].defaults["rounds"] == str(FAMILY_ROUNDS)


@pytest.mark.parametrize(("name", "keys"), EVERY, ids=[f"{name} {i}" for i, (name, _) in enumerate(EVERY)])
def test_a_file_makes_the_model_that_the_function_asks(name: str, keys: dict[str, Any], schema: Schema) -> None:
    """The same data, field by field: what decides every question."""
    found = model_from_toml("s.toml, model 1", {"model": name, **keys}, schema)
    if name == "randomised_ols":
        keys = keys | {"randomised": {"smoker": GRR(schema["smoker"], epsilon=3.0)}}
    wanted = getattr(econometrics, name)(data=NO_ROWS, schema=schema, privacy=Secure(), **keys)

    assert model_to_dict(found) == model_to_dict(wanted) and type(found) is type(wanted)


@pytest.mark.parametrize("name", NAMES)
def test_examples_use_every_key(name: str) -> None:
    """A keyword that a function gains is tried in an example."""
    tried = {key for text in EXAMPLES[name] for key in tomllib.loads(text)}
    rare = {"errors", "rounds", "offset"}  # tried with other models

    assert set(keys_of(name)) - tried <= rare, "add the key to an example in parties/study/model_examples.py"


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_key_names_the_model_the_nearest_key_and_all_keys(name: str, schema: Schema) -> None:
    keys = list(keys_of(name))
    for wrong, near in [("qqq", None), *((f"{key}z", key) for key in keys)]:
        message = refused(said(name, **{wrong: 1}), schema)
        listed = message.rpartition(" it takes ")[2]

        assert f"{name} takes no {wrong!r}" in message
        assert listed.split(", ") == keys  # the real list, each once
        assert near is None or f"did you mean {near}?" in message
    for key, why in {**EXCLUDED, **excluded_of(name)}.items():
        if key in inspect.signature(getattr(econometrics, name)).parameters:
            assert f"{name} takes no {key!r} in a study: {why}" in refused(said(name, **{key: "x"}), schema)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_of_another_kind_is_refused_in_words(name: str, schema: Schema) -> None:
    """Whatever TOML can hold: refused by the type of the keyword, or by the function itself, and never by a crash."""
    import datetime

    for key in keys_of(name).values():
        for value in ("", "x y", 7, -0.5, True, [], [1], ["a", 2], [["a"]], {}, {"a": 1}, datetime.date(2026, 1, 1)):
            asked = said(name, **{key.name: value})
            if key.accepts(value):
                try:
                    model_from_toml("s.toml, model 1", asked, schema)
                except InvalidParameter as error:
                    assert str(error).startswith("s.toml, model 1")
                continue
            message = refused(asked, schema)
            assert f"{name}.{key.name} must be {key.words}, got " in message and f"Hint: {key.name} = " in message


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_is_named(name: str, schema: Schema) -> None:
    for key in keys_of(name).values():
        if key.required:
            asked = said(name)
            del asked[key.name]
            assert f"{name}.{key.name} must be {key.words}; it is left out" in refused(asked, schema)


def test_a_model_has_the_names_of_its_function_and_of_its_class(schema: Schema) -> None:
    """Files of version 0.5 named classes too."""
    for word in ("histogram", "Bins", "HISTOGRAM"):
        assert type(model_from_toml("s", said("histogram") | {"model": word}, schema)).__name__ == "Bins"
    for word in ("kaplan_meier", "kaplan-meier", "KaplanMeier", "Kaplan Meier"):
        assert type(model_from_toml("s", said("kaplan_meier") | {"model": word}, schema)).__name__ == "KaplanMeier"
    assert "did you mean grid? " in refused({"model": "ecdf", "column": "age", "cuts": [30]}, schema)
    assert "did you mean edges? " in refused({"model": "histogram", "column": "age", "cuts": [30]}, schema)


def test_noise_is_known_where_a_model_depends_on_it(schema: Schema) -> None:
    """With noise a weighted regression has no likelihood, as the function says it."""
    exact = model_from_toml("s", said("wls"), schema)
    noisy = model_from_toml("s", said("wls"), schema, Central(1.0))

    assert exact.likelihood and not noisy.likelihood


def test_mechanisms_of_columns(schema: Schema) -> None:
    def with_(**randomised: Any) -> dict[str, Any]:
        return {"model": "randomised_ols", "formula": "stay ~ age + smoker", "randomised": randomised}

    assert "there is no private column 'smokr'" in refused(with_(smokr={"mechanism": "GRR", "epsilon": 1.0}), schema)
    assert "mechanism must be one of Warner" in refused(with_(smoker={"mechanism": "Grrr"}), schema)
    assert "mechanism must be one of Warner" in refused(with_(smoker=1.0), schema)
    assert "GRR takes no 'epsilom'" in refused(with_(smoker={"mechanism": "GRR", "epsilom": 1.0}), schema)
    assert "OUE is not complete" in refused(with_(smoker={"mechanism": "OUE"}), schema)
    assert "epsilon must be" in refused(with_(smoker={"mechanism": "GRR", "epsilon": -1.0}), schema)
    numbers = Schema({"stay": Integers(0, 60), "pay": Integers(0, 9)})
    asked = {"model": "randomised_ols", "formula": "stay ~ pay"}
    found = model_from_toml("s", asked | {"randomised": {"pay": {"mechanism": "Piecewise", "epsilon": 4.0}}}, numbers)
    wanted = econometrics.randomised_ols(
        "stay ~ pay", NO_ROWS, randomised={"pay": Piecewise(numbers["pay"], 4.0)}, schema=numbers
    )
    assert found == wanted


def test_difference_in_differences_of_one_column_twice(schema: Schema) -> None:
    assert "must be two columns" in refused(said("did", post="treated"), schema)


def test_the_command_lists_what_a_file_may_ask() -> None:
    everything = CliRunner().invoke(main, ["study", "models"])
    one = CliRunner().invoke(main, ["study", "models", "Kaplan-Meier"])
    as_json = json.loads(CliRunner().invoke(main, ["study", "models", "cox", "--json"]).stdout)
    wrong = CliRunner().invoke(main, ["study", "models", "coxx"])

    assert everything.exit_code == 0 and all(name in everything.output for name in NAMES)
    assert one.exit_code == 0 and 'model = "kaplan_meier"' in one.output
    assert all(key in one.output for key in keys_of("kaplan_meier"))
    assert [row["key"] for row in as_json["cox"]["keys"]] == list(keys_of("cox"))
    assert wrong.exit_code == 2 and "did you mean cox?" in wrong.output


@pytest.mark.parametrize("family", ["exponential", "weibull", "beta", "multinomial"])
def test_families_obey_the_rules_of_a_study(family: str, tmp_path: Path) -> None:
    """Every round counts as sums; labels of an outcome are conditions; its words say what rounds release."""
    office, *roster = (Identity.fresh().card(name) for name in ("Office", "a", "b", "c"))
    outcome = {"beta": "share", "multinomial": "ward"}.get(family, "days")

    def study(least_rows: int, rounds: int, ratio: int = 1000) -> Study:
        asked = f'[[models]]\nmodel = "mle"\nfamily = "{family}"\nformula = "{outcome} ~ age + smoker"\n'
        terms = f'name = "s"\npurpose = "p"\nminimum_parties = 3\nratio = {ratio}\nleast_rows = {least_rows}\n'
        (tmp_path / "s.toml").write_text(f"{terms}{COLUMNS}{asked}rounds = {rounds}\n")
        return Study.from_toml(tmp_path / "s.toml", tuple(roster), office)

    made = study(100, 12)
    model = made.models[0]
    assert made.exact_sums > study(100, 6).exact_sums > model.max_sums / 2
    with pytest.raises(CohortRefused, match="exact sums"):
        study(100, 12, ratio=1)
    assert made.rare_condition(5) is None and study(9, 12).rare_condition(5) is not None
    if family == "multinomial":
        problem = study(25, 12).rare_condition(5)  # a label, and a label of another column: one of six rows
        assert problem is not None and "ward" in str(problem)
    for language, words in (("en", "the first round releases"), ("fr", "le premier tour publie")):
        assert any(words in line for line in made.in_words(language))  # type: ignore[arg-type]
    assert Study.from_json(made.to_json()).models == made.models


def test_a_study_of_a_stranger_with_wrong_fields_is_refused(tmp_path: Path) -> None:
    """Whatever stands in the fields of the new models, reading refuses it, and never crashes."""
    office, *roster = (Identity.fresh().card(name) for name in ("Office", "a", "b", "c"))
    asked = "".join(f'[[models]]\nmodel = "mle"\n{text}\n' for text in EXAMPLES["mle"])
    terms = 'name = "s"\npurpose = "p"\nminimum_parties = 3\nratio = 1000\nleast_rows = 100\n'
    (tmp_path / "s.toml").write_text(f"{terms}{COLUMNS}{asked}")
    written = Study.from_toml(tmp_path / "s.toml", tuple(roster), office).to_json()
    wrong: tuple[Any, ...] = (None, 5, -1, 0.5, True, "x", "1e9999999", [], ["a"], [["1"]], {}, {"type": "Fraction"})
    for number in range(len(EXAMPLES["mle"])):
        fields = json.loads(written)["models"][number]
        for key in fields:
            for value in wrong:
                held = json.loads(written)
                held["models"][number][key] = value
                try:
                    again = Study.from_json(json.dumps(held)).models[number]
                except MurmureError:
                    continue
                assert (key, value) in (("start", []), ("rounds", 5)) and getattr(again, key) in ((), 5)
