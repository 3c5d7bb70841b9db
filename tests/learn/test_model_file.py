"""Models as JSON files: they come back as they were, and files from anybody else are refused without harm."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import CannotWrite, InvalidParameter
from murmure.learn import KMeans, LinearRegression, LogisticRegression, NaiveBayes, load_model, model_file, save_model

SCHEMA = mu.Schema(
    {
        "age": mu.Integers(18, 90),
        "bmi": mu.Interval(15.0, 45.0, cells=60),
        "smoker": mu.Categories(["no", "yes"]),
        "sick": mu.Categories(["no", "yes"]),
    }
)
NUMBERS = mu.Schema({name: SCHEMA[name] for name in ("age", "bmi")})


def rows(n: int = 400) -> dict[str, Any]:
    g = np.random.default_rng(5)
    age = g.integers(18, 91, n)
    return {
        "age": age,
        "bmi": g.uniform(15, 45, n),
        "smoker": g.choice(["no", "yes"], n),
        "sick": np.where(age + g.normal(0, 10, n) > 60, "yes", "no"),
    }


def learners(privacy: Any) -> list[Any]:
    rng = {"rng": mu.Random.seeded(4)}
    return [
        NaiveBayes(SCHEMA, "sick", privacy, **rng),
        LogisticRegression(SCHEMA, "sick", privacy, **rng),
        LinearRegression(SCHEMA, "age", privacy, **rng),
        KMeans(3, NUMBERS, privacy, **rng),
    ]


@pytest.mark.parametrize("privacy", [mu.Clear(), mu.Central(2.0), mu.Local(4.0)], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("which", range(4))
def test_what_is_loaded_is_what_was_saved(which: int, privacy: Any, tmp_path: Path) -> None:
    """The same predictions and the same summary: parameters, guarantees, cost and the mark of a seed come along."""
    made = learners(privacy)[which]
    table = {name: rows()[name] for name in made.schema}
    made.fit(table)
    path = save_model(made, tmp_path / "model.json")
    loaded: Any = load_model(path)

    assert (loaded.predict(table) == made.predict(table)).all()
    assert loaded.rng is None and loaded.seeded_ == made.seeded_ and loaded.spent_ == made.spent_
    assert loaded.summary() == made.set_params(rng=None).summary()
    assert save_model(loaded, tmp_path / "again.json").read_text() == path.read_text()
    assert b"labels_" not in path.read_bytes() and b"answers_" not in path.read_bytes()


def test_saving_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves the earlier model; a file that is something else stays; nothing unfitted is written."""
    made = learners(mu.Central(1.0))[3]
    path = tmp_path / "model.json"
    with pytest.raises(mu.MurmureError, match="not fitted"):
        save_model(made, path)
    made.fit({name: rows()[name] for name in NUMBERS})
    before = save_model(made, path).read_text()

    def half(self: Path, text: str, **how: Any) -> int:
        self.write_bytes(text[:100].encode())
        raise OSError(28, "no space left on device")

    with monkeypatch.context() as patch, pytest.raises(CannotWrite, match="no space"):
        patch.setattr(Path, "write_text", half)
        save_model(made, path)
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]
    (tmp_path / "people.json").write_text("[1, 2]")
    for wrong in ("people.json", "model.txt", "there is no/folder.json"):
        with pytest.raises(CannotWrite):
            save_model(made, tmp_path / wrong)
    with pytest.raises(InvalidParameter, match="takes a learner"):
        save_model({}, path)  # type: ignore[arg-type]


def changed(held: dict[str, Any], *place: str, to: Any) -> dict[str, Any]:
    out = at = copy.deepcopy(held)
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = to
    return out


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    made = learners(mu.Central(2.0))[0].fit(rows())
    return json.loads(json.dumps(model_file.learner_to_dict(made)))  # type: ignore[no-any-return]


HOSTILE: dict[str, Any] = {
    "another version": (("murmure-model",), 2),
    "a version that is no number": (("murmure-model",), True),
    "an unknown learner": (("learner",), "os"),
    "a learner that is no name": (("learner",), ["NaiveBayes"]),
    "a learner that is a function": (("learner",), "save_model"),
    "a parameter that no learner has": (("parameters", "evil"), 1),
    "a ledger": (("parameters", "ledger"), "ledger.db"),
    "a generator": (("parameters", "rng"), 7),
    "parameters that are a list": (("parameters",), []),
    "another privacy": (("privacy", "type"), "Path"),
    "a negative epsilon": (("privacy", "epsilon"), -1),
    "a schema that is text": (("schema",), "people"),
    "no columns": (("schema", "columns"), {}),
    "a hidden attribute": (("learned", "__class__"), 1),
    "a method": (("learned", "predict"), 1),
    "an attribute that is not learned": (("learned", "answers_"), 1),
    "an array of text": (("learned", "theta_"), {"array": ["a", "b"], "type": "f"}),
    "an array of another shape": (("learned", "theta_"), {"array": [1.0, 2.0, 3.0], "type": "f"}),
    "an array that is ragged": (("learned", "theta_"), {"array": [{"list": [1.0]}, {"list": []}], "type": "f"}),
    "an array of an unknown type": (("learned", "theta_"), {"array": [1.0], "type": "V"}),
    "an array without a type": (("learned", "theta_"), {"array": [1.0]}),
    "an array that is a number": (("learned", "theta_"), 3),
    "a whole number too large": (("learned", "class_count_"), {"array": [10**30, 1], "type": "i"}),
    "many long texts": (("learned", "classes_"), {"array": ["x" * 10_000, *["y"] * 10_000], "type": "U"}),
    "an empty value": (("learned", "theta_"), {}),
    "an array of many numbers": (
        ("learned", "class_prior_"),
        {"array": [0] * (model_file.MAX_ARRAY_CELLS + 1), "type": "f"},
    ),
    "a nested array": (("learned", "theta_"), {"array": json.loads("[" * 200 + "]" * 200), "type": "f"}),
    "guarantees that are a list": (("guarantees",), []),
    "a guarantee of another relation": (("guarantees", "reader", "relation"), "none"),
    "a guarantee below zero": (("guarantees", "reader", "epsilon"), -1.0),
    "public knowledge that is no text": (("guarantees", "reader", "public"), [1]),
    "a negative cost": (("spent", "epsilon"), -2.0),
    "a seed that is a word": (("seeded",), "no"),
    "labels beyond number": (("schema", "columns", "smoker"), None),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(name: str, model: dict[str, Any], tmp_path: Path) -> None:
    """Whatever stands in it, the answer is InvalidParameter."""
    place, to = HOSTILE[name]
    if name == "labels beyond number":
        text = json.dumps(model["schema"]).replace('"values": ["no", "yes"]', '"values": 1000000000000')
        place, to = ("schema",), json.loads(text)
        assert to != model["schema"]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(changed(model, *place, to=to)))

    with pytest.raises(InvalidParameter):
        load_model(path)


def test_arrays_are_bounded_before_they_are_made() -> None:
    """One long text would make every cell of an array as long: 10 001 cells of 10 000 letters are 400 MB."""
    for cells, kind in (
        (["x" * 10_000, *["y"] * 10_000], np.str_),
        ([0] * (model_file.MAX_ARRAY_CELLS + 1), np.float64),
    ):
        with pytest.raises(ValueError, match="array"):
            model_file._make_array(cells, kind)


def test_what_is_no_json_is_refused(model: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves, bytes, no file, deep nesting, numbers of a million digits, more bytes than any model has."""
    path, text = tmp_path / "model.json", json.dumps(model)
    deep = text.replace('"plans": [', '"plans": [' + "[" * 100_000 + "]" * 100_000 + ",", 1)
    nested = text.replace('"theta_": {', '"theta_": ' + '{"list": [' * 900 + "{}" + "]}" * 900 + ', "x_": {', 1)
    for bad in (text[:300], "[]", "null", "[" * 100_000, deep, nested, text.replace("1", "1" * 1_000_000, 1)):
        path.write_text(bad)
        with pytest.raises(InvalidParameter):
            load_model(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidParameter, match="is not text"):
        load_model(path)
    with pytest.raises(InvalidParameter, match="no such file"):
        load_model(tmp_path / "none.json")
    path.write_text(text)
    load_model(path)
    monkeypatch.setattr(model_file, "MAX_MODEL_BYTES", 1000)
    with pytest.raises(InvalidParameter, match="more than 1_000 bytes"):
        load_model(path)
