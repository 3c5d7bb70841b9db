"""Long names in every table, picture and command: two coefficients never look alike."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure import econometrics as ec
from murmure.cli import main
from murmure.core.estimates.estimate import Estimate
from murmure.econometrics.results.result import ModelResult
from murmure.show.document import Document, Table
from murmure.show.text import text as document_text

STEM = "income_of_the_household_before_taxes_in_the_year_before_the_interview"
LEVELS = [f"from {k} 000 to less than {k + 1} 000 euros" for k in range(4)]
N = 240


def people(stem: str = STEM) -> dict[str, list[Any]]:
    rng = np.random.default_rng(11)
    return {
        "y": rng.integers(0, 40, N).tolist(),
        "days": rng.integers(1, 30, N).tolist(),
        "died": rng.integers(0, 2, N).tolist(),
        stem: [LEVELS[k] for k in rng.integers(0, 4, N)],
        f"{stem}_of_the_father": rng.integers(0, 9, N).tolist(),
        f"{stem}_of_the_mother": rng.integers(0, 9, N).tolist(),
    }


def right(stem: str = STEM) -> str:
    return f"{stem} + {stem}_of_the_father + {stem}_of_the_mother + {stem}_of_the_father:{stem}_of_the_mother"


def first_cells(text: str) -> list[str]:
    """What stands left of the numbers, line by line."""
    return [line.split("  ")[0].strip() for line in text.splitlines() if STEM[:8] in line]


@pytest.mark.parametrize("length", [20, 37, 60, len(STEM)])
def test_every_coefficient_has_a_line_of_its_own(length: int) -> None:
    stem = STEM[:length]
    rows = people(stem)
    results: list[Any] = [
        ec.ols(f"y ~ {right(stem)}", rows),
        ec.poisson(f"y ~ {right(stem)}", rows),
        ec.cox(right(stem), rows, time="days", event="died"),
        ec.ridge(f"y ~ {right(stem)}", rows),
    ]
    for result in results:
        for table in result.tables():
            names = [row[0] for row in table.rows]
            lines = document_text(Document("", (table,))).splitlines()[-len(names) :]
            shown = [line.split("  ")[0] for line in lines]
            assert len(set(shown)) == len(names)
            for name, cell in zip(names, shown, strict=True):
                assert cell == name or (cell[:8] == name[:8] and cell[-8:] == name[-8:] and "..." in cell)


@pytest.mark.parametrize("wide", [4, 40, 200])
def test_tables_of_any_result(wide: int) -> None:
    """Whatever a result shows: labels that differ only in the middle, only at the end, or only at the beginning."""
    names = [f"{a}{'-' * wide}{b}{'-' * wide}{c}" for a in "ab" for b in "cd" for c in "ef"]

    class Made(ModelResult):
        how = None

        def tables(self) -> list[Table]:
            return [Table("", ("", "value"), tuple((name, 1.0) for name in names))]

    lines = [line for line in Made().summary().splitlines() if line.endswith(" 1.0000")]
    assert len(set(lines)) == len(names)


def test_pictures() -> None:
    rows = people()
    fit = ec.ols(f"y ~ {right()}", rows)
    ticks = [label.get_text() for label in fit.plot().get_yticklabels()]
    assert len(set(ticks)) == len(fit.names)
    domain = mu.Categories([f"{STEM} {k}" for k in range(5)])
    estimate: Any = mu.run(
        mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 3.0)),
        [f"{STEM} {k % 5}" for k in range(500)],
        rng=mu.Random.seeded(1),
    ).estimate
    assert isinstance(estimate, Estimate)
    drawn = [label.get_text() for label in estimate.plot().get_yticklabels()]
    assert len(set(drawn)) == 5 and all(text.endswith(f" {k}") for k, text in enumerate(drawn))
    plt.close("all")


def test_estimates_of_several_columns() -> None:
    schema = mu.Schema({f"{STEM}_{k}": mu.Categories([f"{STEM}: {label}" for label in "abc"]) for k in range(3)})
    rows = {name: [f"{STEM}: {'abc'[(i + k) % 3]}" for i in range(300)] for k, name in enumerate(schema)}
    release = mu.run(mu.Plan(mu.Marginals(schema), person=mu.SMP(schema, 3.0)), rows, rng=mu.Random.seeded(2))
    lines = [line for line in str(release.estimate).splitlines() if line.strip().startswith(STEM[:8])]
    titles = [line for line in lines if not line.startswith(" ")]
    labels = [line.split("  ")[1] for line in lines if line.startswith("  ")]

    assert len(set(titles)) == 3 and len(set(labels)) == 3 and len(labels) == 9
    panels = [ax.get_title(loc="left") for ax in release.estimate.plot().axes]
    assert len({title for title in panels if title}) == 3
    plt.close("all")


def test_on_the_command_line(tmp_path: Path) -> None:
    rows = people()
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    run = CliRunner().invoke(main, ["ols", f"y ~ {right()}", str(tmp_path / "t.csv")])

    assert run.exit_code == 0, run.output
    table = run.output.split("P>|t|")[1].split("Labels are compared")[0]
    shown = first_cells(table)
    assert len(shown) == len(set(shown)) == 6
