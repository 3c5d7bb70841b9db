"""Every attack, found by listing: it says who attacks, beats or meets a stated baseline, and can be shown and repeated.

An attack is a file with EXAMPLES, functions without arguments that run it on something small from a seed.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.listing import listed

from murmure import attacks
from murmure.attacks.base.attack_result import AttackResult
from murmure.cli import main
from murmure.cli.attack import attack

FOLDERS = ("murmure.attacks.person", "murmure.attacks.curator", "murmure.attacks.parties")
EXAMPLES = listed(*FOLDERS)
pytestmark = pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in EXAMPLES])


def test_who_attacks_is_said(run: Callable[[], AttackResult]) -> None:
    result = run()
    assert result.threat.sees and result.threat.knows and result.threat.wants
    assert result.rows and result.measure and result.title


def test_figures_have_a_baseline_and_an_interval(run: Callable[[], AttackResult]) -> None:
    for row in run().rows:
        assert math.isfinite(row.value) and math.isfinite(row.baseline)
        if row.low is not None and row.high is not None:
            assert row.low <= row.value <= row.high and row.repetitions is not None
            assert row.low < row.high and not row.all_equal
        else:
            assert row.repetitions in (None, 1) or row.all_equal


def test_a_seeded_attack_is_the_same_again(run: Callable[[], AttackResult]) -> None:
    assert run().to_json() == run().to_json()


def test_it_is_shown_everywhere(run: Callable[[], AttackResult], tmp_path: Path) -> None:
    result = run()
    assert json.loads(result.to_json())["rows"]
    for language in ("en", "fr"):
        assert result.summary(language) and result.to_latex(language)  # type: ignore[arg-type]
        assert "<svg" in result.to_page(lang=language)  # type: ignore[arg-type]
    result.plot(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size


def test_it_has_a_command(run: Callable[[], AttackResult]) -> None:
    name = run().name
    assert name in attack.list_commands(None)  # type: ignore[arg-type]
    assert CliRunner().invoke(main, ["attack", name, "--help"]).exit_code == 0


def test_every_attack_has_examples(run: Callable[[], AttackResult]) -> None:
    """A file without EXAMPLES would escape this list."""
    for function, module in attacks.ATTACKS.items():
        assert importlib.import_module(module).EXAMPLES, function
    files = {
        f"{folder}.{i.name}"
        for folder in FOLDERS
        for i in pkgutil.iter_modules(importlib.import_module(folder).__path__)
        if not i.ispkg
    }
    assert files == set(attacks.ATTACKS.values())
