"""Every function of econometrics runs from a study.toml: a coordinator and the parties, each in a process of its own,
over HTTP. What each of them is told equals the public function on the pooled rows, in the clear.

All models are questions of one study between three parties, so that processes are started once. Levels of parties take
five, and are asked in a study of their own.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.parties.study.hospitals import COLUMNS

from murmure import GRR, Schema, econometrics
from murmure.cli import main
from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
from murmure.parties.party.folder import PartyFolder as PartyHome
from murmure.parties.study.document import Study
from murmure.parties.study.model_examples import EXAMPLES, examples_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

ROWS = 24
TERMS = f"""name = "Every model"
purpose = "To see that each of them runs."
rows = 1000
least_rows = {ROWS}
ratio = 1000
"""


def table(k: int) -> dict[str, list[Any]]:
    """Of party k, by a rule: everything varies, and nothing is explained without error."""
    i = [k * ROWS + j for j in range(ROWS)]
    age = [18 + (29 * v + 7 * k) % 80 for v in i]
    distance = [(11 * v + v * v // 3) % 19 for v in i]
    days = [1 + (37 * v * v + 11 * v) % 39 for v in i]
    return {
        "age": age,
        "stay": [1 + (7 * v * v + 3 * v) % 29 + a // 5 for v, a in zip(i, age, strict=True)],
        "days": days,
        "falls": [min(12, (13 * v * v + v) % 5 * (v % 3) // 2 + d // 6) for v, d in zip(i, distance, strict=True)],
        "size": [1 + v % 4 for v in i],
        "distance": distance,
        "share": [f"{(57 * v * v + 19 * v) % 91 / 100 + 0.04:.2f}" for v in i],
        "treated": [v % 2 for v in i],
        "after": [v // 2 % 2 for v in i],
        "ward": ["ABC"[(v * v + v // 5) % 3] for v in i],
        "smoker": ["yes" if (v * v + v // 7) % 5 < 2 else "no" for v in i],
        "ill": ["yes" if (37 * v * v + 11 * k + v // 7) % 100 < a else "no" for v, a in zip(i, age, strict=True)],
        "died": ["yes" if (17 * v * v + v // 3) % 7 < 4 else "no" for v in i],
    }


Tables = list[dict[str, list[Any]]]


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    try:
        os.close(here)
        work(there)
    finally:
        os._exit(0)


def played(folder: Path, toml: str, tables: Tables) -> list[Any]:
    """What every party is told at the end, in JSON."""
    (folder / "study.toml").write_text(toml)
    homes = [PartyHome.create(folder / f"p{k}", f"Hospital {k}") for k in range(len(tables))]
    for k, held in enumerate(tables):
        lines = [",".join(held), *(",".join(map(str, row)) for row in zip(*held.values(), strict=True))]
        (folder / f"r{k}.csv").write_text("\n".join(lines) + "\n")
    office = CoordinatorFolder.create(folder / "office", "Office")
    study = Study.from_toml(folder / "study.toml", tuple(one.card for one in homes), office.card)
    served = StudyFolder.create(office, study)

    def serves(pipe: int) -> None:
        from murmure.parties.http.server import ServerSettings, serve

        how = ServerSettings(port=0, once=False, patience=60.0)
        serve(served, how, lambda where: (os.write(pipe, where.parties.encode()), None)[1])

    def joins(k: int) -> Callable[[int], None]:
        rows = ("--home", folder / f"p{k}", "--rows", folder / f"r{k}.csv", "--approve", study.digest.hex())
        rows = (*rows, "--ledger", folder / f"l{k}")

        def work(pipe: int) -> None:
            args = ["party", "join", url, *map(str, rows), "--minimum-parties", "3", "--rows-are-public", "--json"]
            ran = CliRunner().invoke(main, args)
            with os.fdopen(pipe, "wb") as file:
                file.write(json.dumps([ran.exit_code, ran.stdout, str(ran.exception)]).encode())

        return work

    coordinator, pipe = forked(serves)
    try:
        url = os.read(pipe, 200).decode()
        parties = [forked(joins(k)) for k in range(len(tables))]
        told = []
        for pid, said in parties:
            with os.fdopen(said, "rb") as file:
                told.append(json.loads(file.read()))
            os.waitpid(pid, 0)
    finally:
        os.kill(coordinator, signal.SIGKILL)
        os.waitpid(coordinator, 0)
        os.close(pipe)
    assert [code for code, _, _ in told] == [0] * len(tables), told
    return [json.loads(out) for _, out, _ in told]


def in_the_clear(name: str, keys: dict[str, Any], schema: Schema, tables: Tables) -> dict[str, Any]:
    """The public function, called by hand."""
    if name == "randomised_ols":
        keys = keys | {"randomised": {"smoker": GRR(schema["smoker"], epsilon=3.0)}}
    pooled = {column: [value for one in tables for value in one[column]] for column in tables[0]}
    data: Any = tables if name == "fixed_effects" else pooled
    result = getattr(econometrics, name)(data=data, schema=schema, **keys)
    return json.loads(json.dumps(result.to_dict()))  # type: ignore[no-any-return]


FRACTION = re.compile(r"-?\d+/\d+")
BY_WHICH = ("how", "notes", "Parties", "Rounds")  # how a result was obtained differs


def alike(a: Any, b: Any) -> bool:
    """Every figure to 1e-9, every word."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [key for key in a if key not in BY_WHICH]
        return keys == [key for key in b if key not in BY_WHICH] and all(alike(a[key], b[key]) for key in keys)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, str) and isinstance(b, str) and FRACTION.fullmatch(a) and FRACTION.fullmatch(b):
        return alike(float(Fraction(a)), float(Fraction(b)))
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def test_every_name_has_an_example() -> None:
    """A function that is added is added here too, or this fails."""
    functions = {name for name in econometrics.__all__ if name not in econometrics.OTHERS}

    assert set(EXAMPLES) == functions == set(econometrics.FUNCTIONS)
    families = {tomllib.loads(text)["family"] for text in EXAMPLES["mle"]}
    assert families == {"exponential", "weibull", "beta", "multinomial"}


@pytest.mark.parametrize(
    ("parties", "names"),
    [(3, [name for name in econometrics.FUNCTIONS if name != "fixed_effects"]), (5, ["fixed_effects"])],
    ids=["all but levels of parties", "levels of parties"],
)
def test_every_model_over_http_is_the_public_function_on_the_pooled_rows(
    tmp_path: Path, parties: int, names: list[str]
) -> None:
    models = "\n".join(text for name in names for text in examples_of(name))
    toml = f"minimum_parties = {parties}\n{TERMS}{COLUMNS}{models}"
    tables = [table(k) for k in range(parties)]
    told = played(tmp_path, toml, tables)
    (tmp_path / "schema.toml").write_text(COLUMNS)
    schema = Schema.load(tmp_path / "schema.toml")
    asked = tomllib.loads(toml)["models"]

    assert all(one["models"] == told[0]["models"] for one in told)
    assert {one["model"] for one in asked} == set(names)
    wrong = {}
    for keys, found in zip(asked, told[0]["models"], strict=True):
        name = keys.pop("model")
        assert found["error"] is None, (name, found["error"])
        clear = in_the_clear(name, keys, schema, tables)
        if not alike(clear, found["result"]):
            wrong[name] = (clear, found["result"])
    assert not wrong
