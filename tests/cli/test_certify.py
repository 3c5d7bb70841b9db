"""`murmure certify`: certificates of mechanisms and of plans."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import murmure as mu
from murmure.catalogue import MECHANISMS
from murmure.cli import main

CERTIFICATE = {
    "epsilon",
    "delta",
    "relation",
    "unit",
    "public",
    "method",
    "witness",
    "assumption",
    "asked",
    "promise",
}


def option(name: str) -> str:
    return "--" + name.replace("_", "-")


def call(name: str) -> list[str]:
    """The command line that builds the first example of a mechanism: a new mechanism needs nothing here."""
    module = importlib.import_module(MECHANISMS[name])
    example = next(one for one in module.EXAMPLES if type(one).__name__ == name)
    domain = example.domain
    if isinstance(domain, mu.Categories):
        values = domain.values
        args = ["--categories", str(values)] if isinstance(values, int) else ["--labels", ",".join(map(str, values))]
    elif isinstance(domain, mu.Integers):
        args = ["--integers", f"{domain.low}:{domain.high}"]
    else:
        args = ["--interval", f"{domain.low!r}:{domain.high!r}", "--cells", str(domain.cells)]
    for field in fields(example):
        value = getattr(example, field.name)
        if field.name != "domain" and value != field.default:
            args += [option(field.name), str(value)]
    return args


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["certify", *args], catch_exceptions=False)


def held(*args: str) -> Any:
    result = run(*args, "--json")

    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_certified(name: str) -> None:
    """In words and in JSON; the certified epsilon is never above the one asked for."""
    said = run(name.lower(), *call(name))
    certificate = held(name.upper(), *call(name))

    assert said.exit_code == 0, said.output
    assert said.stdout.startswith(name)
    assert "\nepsilon = " in said.stdout and ", delta = " in said.stdout
    for word in ("protects", "computed by", "public", "witness, the report that tells most"):
        assert f"\n  {word}: " in said.stdout
    assert set(certificate) == CERTIFICATE | {"mechanism", "reports"}
    assert certificate["mechanism"]["type"] == name
    assert certificate["asked"] is None or certificate["epsilon"] <= certificate["asked"]
    assert set(certificate["witness"]) == {"input", "other", "report", "words"}


def test_the_certificate_is_that_of_the_library() -> None:
    """The same numbers as mu.certify, to the last digit."""
    certificate = held("GRR", "--categories", "4", "--epsilon", "1")
    expected = mu.certify(mu.GRR(mu.Categories(4), 1.0))

    assert certificate["epsilon"] == expected.epsilon
    assert certificate["public"] == list(expected.public)
    assert (certificate["witness"]["input"], certificate["witness"]["other"]) == expected.witness[:2]


def test_the_witness_is_told_in_words() -> None:
    assert "is 2.718 times likelier from 3 than from 0" in run("GRR", "--categories", "4", "--epsilon", "1").stdout
    assert "'yes to a, no to the rest'" in run("OUE", "--labels", "a,b,c", "--epsilon", "1").stdout
    assert "the set {" in run("SubsetSelection", "--categories", "40", "--epsilon", "1").stdout


def test_the_promise_is_the_largest_belief_from_even_odds() -> None:
    """e^eps / (1 + e^eps), rounded up: 75 in 100 for two fair coins, 73.2 at epsilon 1."""
    assert "surer than 75 in 100" in " ".join(run("Warner").stdout.split())
    assert "surer than 73.2 in 100" in held("GRR", "--categories", "4", "--epsilon", "1")["promise"]
    assert "give the answer away" in held("GRR", "--categories", "4", "--epsilon", "9")["promise"]


def test_coins_are_taken_at_their_exact_value() -> None:
    """Two fair coins cost ln 3; 1/2 and 0.5 are the same coin."""
    fair = held("Warner", "--truth", "1/2", "--yes-coin", "0.5")

    assert fair["epsilon"] == pytest.approx(math.log(3), abs=1e-12)
    assert fair["mechanism"]["truth"] == "1/2"
    assert fair["asked"] is None
    assert held("Warner", "--epsilon", "1")["epsilon"] <= 1


def test_the_assumption_is_said() -> None:
    unrelated = ("UnrelatedQuestion", "--truth", "0.7", "--innocuous", "1/4")

    assert "unknown to whoever sees the report" in held(*unrelated)["promise"]
    assert "\n  provided: " in run(*unrelated).stdout


def test_reports_add_up_unless_a_draw_is_kept() -> None:
    """Three fresh reports cost three times one; any number from one of RAPPOR's clients cost its epsilon."""
    one = held("GRR", "--categories", "4", "--epsilon", "1")["epsilon"]
    three = held("GRR", "--categories", "4", "--epsilon", "1", "--reports", "3")

    assert (three["epsilon"], three["reports"]) == (3 * one, 3)
    assert "3 reports of at most 1 each" in run("GRR", "--categories", "4", "--epsilon", "1", "--reports", "3").stdout
    kept = ("RAPPOR", "--categories", "4", "--epsilon", "4", "--epsilon-once", "1")
    assert held(*kept)["epsilon"] <= 1
    assert held(*kept, "--for-ever")["epsilon"] == held(*kept, "--for-ever", "--reports", "1000")["epsilon"] <= 4
    assert "one client" in held(*kept, "--for-ever")["promise"]


def test_options_of_single_mechanisms() -> None:
    """--relation, --w and --gamma reach what they are meant for."""
    assert held("GRR", "--categories", "4", "--epsilon", "1", "--relation", "attribute")["unit"] == "attribute"
    assert held("SubsetSelection", "--categories", "9", "--epsilon", "1", "--w", "4")["mechanism"]["w"] == 4
    stairs = ("BoundedStaircase", "--interval", "0:1", "--cells", "50", "--epsilon", "1")
    assert held(*stairs, "--gamma", "variance")["mechanism"]["gamma"] == "variance"


def test_wide_words_are_text_in_json() -> None:
    """64-bit words lose digits in most readers of JSON, so they are text; small integers are numbers."""
    assert held("OUE", "--categories", "70", "--epsilon", "1")["witness"]["report"] == ["1", "0"]
    assert held("GRR", "--categories", "4", "--epsilon", "1")["witness"]["report"] == 3


def test_methods_are_named() -> None:
    """How the epsilon was found, in the certificate's own words."""
    at = ("--categories", "4", "--epsilon", "1")

    assert held("GRR", *at)["method"] == "closed form over classes of reports"
    assert held("OUE", *at)["method"] == "closed form, two bits differ"
    assert held("Warner")["method"] == "enumerated"


def test_the_list() -> None:
    """Every mechanism: what for, which options, and a sentence without Python in it."""
    rows = {row["mechanism"]: row for row in held("--list")}

    assert list(rows) == list(MECHANISMS)
    assert all(set(row) == {"mechanism", "for", "options", "about"} for row in rows.values())
    for row in rows.values():
        assert row["options"]
        assert row["about"].endswith(".")
        assert not any(sign in row["about"] for sign in ("`", "epsilon=", "domain)"))
    assert rows["SubsetSelection"]["options"] == ["--epsilon", "[--w]"]
    assert rows["RAPPOR"]["options"] == ["--epsilon", "--epsilon-once"]
    for name, what in {"Warner": "yes-no", "UnrelatedQuestion": "yes-no", "GRR": "answers", "Duchi": "numbers"}.items():
        assert rows[name]["for"] == what


def test_the_list_in_words() -> None:
    """Names and options are whole; every mechanism shows its --epsilon."""
    said = run("--list").stdout

    assert "\u2026" not in said
    words = " ".join(said.split())
    for row in held("--list"):
        assert f"{row['mechanism']}: {row['for']}; {' '.join(row['options'])}; {row['about']}" in words
    assert "[...] may be left out" in words


def plan_file(tmp_path: Path, person: Any) -> str:
    path = tmp_path / "plan.json"
    path.write_text(mu.Plan(mu.Histogram(mu.Categories(4)), person=person).to_json(), encoding="utf-8")
    return str(path)


def test_a_plan(tmp_path: Path) -> None:
    """What each observer can learn."""
    path = plan_file(tmp_path, mu.GRR(mu.Categories(4), 1.0))
    certified = held("--plan", path)

    assert set(certified) == {"plan", "about", "reports", "guarantees"}
    assert set(certified["guarantees"]) == {"collector", "reader"}
    assert all(set(c) == CERTIFICATE for c in certified["guarantees"].values())
    assert certified["guarantees"]["collector"]["epsilon"] <= 1
    assert "What they can learn: collector and reader" in run("--plan", path).stdout
    assert held("--plan", path, "--reports", "2")["guarantees"]["reader"]["epsilon"] > 1.9


def test_a_plan_in_the_clear(tmp_path: Path) -> None:
    """An infinite epsilon is the text "inf", and the words say what it means."""
    path = plan_file(tmp_path, None)

    assert held("--plan", path)["guarantees"]["reader"]["epsilon"] == "inf"
    assert "nothing is protected" in run("--plan", path).stdout
    assert held("--plan", path)["guarantees"]["reader"]["method"] == "nothing is randomised"
    assert held("--plan", path)["guarantees"]["reader"]["witness"] is None


# ---- solutions over a schema


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    path = tmp_path / "schema.toml"
    path.write_text(mu.Schema({"smoker": mu.Categories(["no", "yes"]), "children": mu.Integers(0, 9)}).to_toml())
    return str(path)


def test_a_solution_has_two_certificates(schema_file: str) -> None:
    """The published calibration states 1; the certifier finds 1.489880 for the row and 1.193855 for one attribute."""
    args = ["certify", "rsfd", "--schema", schema_file, "--epsilon", "1", "--calibrate", "paper"]
    said = json.loads(CliRunner().invoke(main, [*args, "--json"]).output)

    assert said["record"]["epsilon"] == pytest.approx(1.489880, abs=1e-6)
    assert said["attribute"]["epsilon"] == pytest.approx(1.193855, abs=1e-6)
    text = CliRunner().invoke(main, args).output
    assert "A whole row" in text and "One attribute" in text and "1.19385" in text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["SPL", "--epsilon", "1"], "needs --schema"),
        (["spl", "--schema", "S"], "needs --epsilon"),
        (["splt", "--schema", "S", "--epsilon", "1"], "there is no solution 'splt'"),
        (["spl", "--schema", "S", "--epsilon", "1", "--calibrate", "paper"], "spl takes no --calibrate"),
        (["rsrfd-grr", "--schema", "S", "--epsilon", "1"], "needs priors"),
        (["spl", "--schema", "S", "--epsilon", "1", "--categories", "3"], "--schema is for a solution"),
        (["--list", "--schema", "S"], "--schema is for a solution"),
    ],
)
def test_solutions_that_cannot_be_meant(schema_file: str, args: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["certify", *(schema_file if a == "S" else a for a in args)])

    assert result.exit_code == 2 and message in result.output
