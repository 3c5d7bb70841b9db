"""`murmure audit`: by name, a program, a function; exit status, JSON, page and picture; and what is typed wrongly."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.domain import Categories
from murmure.core.schema import Schema

PROGRAM = """
import json, random, sys
for line in sys.stdin:
    value = json.loads(line)
    print(json.dumps(value if random.random() < float(sys.argv[1]) else random.choice(["no", "yes"])))
"""


def audit(*words: Any) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, words)])


def test_by_name_as_json_with_a_page_and_a_picture(tmp_path: Path) -> None:
    page, plot = tmp_path / "a.html", tmp_path / "a.svg"
    words = ("GRR", "--categories", 3, "--epsilon", 1, "--samples", 2000, "--alpha", 0.001, "--seed", 1)
    ran = audit(*words, "--json", "--html", page, "--plot", plot)
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["verdict"] == "consistent" and found["bound"] <= found["certificate"] == found["claim"] == 1
    assert "<svg" in page.read_text("utf-8") and plot.stat().st_size


def test_a_claim_beside_the_mechanism_and_a_record(tmp_path: Path) -> None:
    Path(tmp_path / "s.toml").write_text(Schema({"a": Categories(2), "b": Categories(2)}).to_toml())
    options = ("--schema", tmp_path / "s.toml", "--epsilon", 1, "--samples", 20_000, "--seed", 1)
    ran = audit("rsfd-grr", *options, "--calibrate", "paper", "--claim", 1)
    assert ran.exit_code == 1 and "violates" in ran.output
    assert audit("Warner", "--epsilon", 3, "--claim", 1, "--samples", 2000, "--seed", 1).exit_code == 1


def test_a_program_and_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "coins.py"
    script.write_text(PROGRAM)
    options = ("--pair", "no,yes", "--epsilon", 1.3, "--samples", 2000, "--alpha", 0.001)
    for truth, status in ((0.5, 0), (0.95, 1)):
        ran = audit("--command", shlex.join([sys.executable, str(script), str(truth)]), *options)
        assert ran.exit_code == status, ran.output
    (tmp_path / "audited_randomiser.py").write_text("def tell(value):\n    return value\n")
    monkeypatch.chdir(tmp_path)
    ran = audit("--python", "audited_randomiser:tell", *options)
    assert ran.exit_code == 3 and "deterministic" in ran.output


@pytest.mark.parametrize(
    "line, told",
    [
        ("", "nothing to audit"),
        ("GRR --url http://localhost", "exclude one another"),
        ("GRR --epsilon 1", "--categories"),
        ("NOPE --epsilon 1", "there is no mechanism"),
        ("--url http://localhost --pair 0,1", "--epsilon"),
        ("--url http://localhost --epsilon 1", "--pair"),
        ("--url ftp://x --epsilon 1 --pair 0,1", "not an http address"),
        ("--command '' --epsilon 1 --pair 0,1", "not a command"),
        ("--python nothing --epsilon 1 --pair 0,1", "MODULE:NAME"),
        ("--python nowhere:at_all --epsilon 1 --pair 0,1", "cannot find"),
        ("--url http://localhost --epsilon 1 --pair 0", "two values"),
        ("--url http://localhost --epsilon 1 --pair 0,1 --batched", "--batched is for --python"),
        ("--url http://localhost --epsilon 1 --pair 0,1 --categories 3", "takes no mechanism's options"),
        ("GRR --categories 3 --epsilon 1 --samples 0", "samples must be"),
        ("GRR --categories 3 --epsilon 1 --alpha 2", "alpha must be"),
        ("GRR --categories 3 --epsilon 1 --title T", "--title is for a page"),
    ],
)
def test_what_is_typed_wrongly(line: str, told: str) -> None:
    ran = audit(*shlex.split(line))
    assert ran.exit_code == 2 and told in " ".join(ran.output.split()), ran.output
