"""The page shows the worst round of every row and the best, the margin of the worst, and in how many it was met."""

from __future__ import annotations

from typing import Any

import goals
import pytest
import sections
import table
from rounds import at_least, at_most

BASE, FAST = "murmure base", "murmure fast"
ABOUT = {
    "date": "1 May 2026, 10:00 UTC",
    "processor": "AMD EPYC",
    "cores": 2,
    "python": "3.11.7",
    "ours": ["murmure 1"],
    "peers": ["pure-ldp 1"],
    "byte code": "written; caches warm",
    "rounds": 2,
    "loads": [0.1, 0.3],
}
Record = dict[str, Any]


def measured(task: str, lib: str, *seconds: float, n: int = 1, **more: Any) -> list[Record]:
    """A record a round."""
    return [
        {"task": task, "lib": lib, "how": "way", "n": n, "round": i, "seconds": s, "per_item_ns": s * 1e9 / n} | more
        for i, s in enumerate(seconds)
    ]


def cells(section: sections.Section, label: str) -> dict[str, str]:
    (row,) = (row for row in section.lines if row[0] == label)
    assert len(row) == len(section.head)
    return dict(zip(section.head, row, strict=True))


def test_a_ratio_row_shows_worst_best_margin_and_rounds() -> None:
    row = goals.Ratio("grr.client", "GRR client", 50, 150)
    records = measured("grr.client", "peer", 400e-9, 300e-9)
    records += measured("grr.client", BASE, 4e-9, 5e-9) + measured("grr.client", FAST, 2e-9, 3e-9)
    section = sections.ratio_section([row], records)

    assert section.lines == [
        [
            "GRR client",
            "peer (way) 300 (1)",
            "4",
            "60 to 100",
            "2",
            "100 to 200",
            "50 / 150",
            "1.20 / **0.67**",
            "2 of 2 / **1 of 2**",
        ]
    ]
    assert [label for label, _ in section.goals] == ["GRR client (base)", "GRR client (fast)"]


def test_a_row_that_nobody_measured_is_a_miss() -> None:
    section = sections.ratio_section([goals.Ratio("grr.client", "GRR client", None, 150)], [])

    assert section.lines[0][-2:] == ["- / ?", "- / ?"]
    assert [(label, goal.always) for label, goal in section.goals] == [("GRR client (fast)", False)]


def test_learners_are_judged_by_their_fast_column() -> None:
    task, label, wanted = goals.FITS[0].task, goals.FITS[0].label, goals.FITS[0].wanted
    records = measured(task, "scikit-learn", 0.1 * wanted, 0.1 * wanted) + measured(task, "diffprivlib", 9.0)
    records += measured(task, BASE, 1.0, 1.0) + measured(task, FAST, 0.05, 0.2)
    row = cells(sections.fit_section(records), label)

    assert (row["margin"], row["met"]) == ("**0.50**", "**1 of 2**")
    assert row["diffprivlib, ms"] == "9,000"


def test_a_secure_sum_is_judged_by_time_and_by_ratio() -> None:
    small, long, many = goals.SECURE
    assert small.ratio and long.server and many.client
    records = measured("secure.flower", "flower", 8.0, 9.0, server=8.0, client=0.1)
    records += measured(small.task, "murmure", 1.0, 2.0, server=8 / small.ratio, client=0.1)
    records += measured(long.task, "murmure", 1.0, server=long.server / 4, client=0.1)
    records += measured(many.task, "murmure", 1.0, server=1.0, client=many.client * 2)
    section = sections.masked_section(records)

    assert cells(section, small.label)["margin"] == "- / - / 1.00"
    assert cells(section, small.label)["met"] == "- / - / 2 of 2"
    assert cells(section, long.label)["margin"] == "4.00 / - / -"
    assert cells(section, many.label)["met"] == "1 of 1 / **0 of 1** / -"


def test_spark_may_add_so_much_of_the_time_in_memory() -> None:
    row = next(row for row in goals.SPARK if row.most is not None)
    assert row.most is not None
    records = measured("spark.memory", FAST, 2.0, 2.0)
    records += measured(f"spark.{row.way}", FAST, 2.0 * (1 + row.most), 2.2, n=7)
    line = cells(sections.added_section(records), f"7, {row.label}")

    assert (line["added"], line["margin"], line["met"]) == (f"{row.most:.0%} to 10%", "1.00", "2 of 2")


def test_a_large_table_is_judged_round_by_round() -> None:
    task = goals.STREAMED[0]
    records: list[Record] = []
    for n, copies in ((10, (1.0, 1.0)), (100, (10.0, 20.0))):
        records += measured(f"copy.{n}", "arrow", *copies, n=n)
        for lib in (BASE, FAST):
            records += measured(f"once.{task.task}.{n}", lib, copies[0], copies[0], n=n, megabytes=n)
            records += measured(f"sanitise.{task.task}.{n}", lib, copies[0], copies[0], n=n, megabytes=n)
            records += measured(f"estimate.{task.task}.{n}", lib, copies[0] / 2, copies[0] / 2, n=n, megabytes=2 * n)
    line = cells(sections.streamed_section(records), f"100, {task.label}, fast")

    assert task.acts == ("once",) and task.times == 1.2
    assert line["times the copy (wanted)"] == "1 to 0.5 (1.2)"
    assert line["growth a row (wanted)"].startswith("1 (")
    assert line["peak, MB (wanted)"].startswith("100 (")
    assert (line["sanitise, s"], line["then estimate, s"]) == ("10", "-")

    steps = next(row for row in goals.STREAMED if row.task == task.task and row.acts == goals.TWO_STEPS)
    line = cells(sections.streamed_section(records), f"100, {steps.label}, fast")

    assert line["times the copy (wanted)"] == "1.5 to 0.75"
    assert line["peak, MB (wanted)"] == "200"
    assert (line["sanitise, s"], line["then estimate, s"]) == ("10", "5")
    assert line["met"] in ("-", "- / - / -")


def test_regressions_are_judged_by_time_digits_and_memory() -> None:
    row, n = goals.REGRESSED[0], 100
    figures = {"params": [1.0, 2.0], "bse": [0.5, 0.25]}
    off = {"params": [1.0, 2.0 * (1 + 1e-6)], "bse": [0.5, 0.25]}
    records = measured(f"{row.task}.{n}", "statsmodels", 8.0, 8.0, n=n, peak=70, **figures)
    records += measured(f"{row.task}.{row.way}.{n}", "murmure", 1.0, 0.5, n=n, megabytes=100, **figures)
    records[-1] |= off
    line = cells(sections.regressed_section(records), f"{n}, {row.label}")

    assert line["ratio (wanted)"].startswith("8 to 16")
    assert line["largest difference (wanted)"].startswith("1e-06 to 0")
    assert line["met"] == "2 of 2 / **1 of 2** / 1 of 1 / 1 of 1"


def test_costs_are_judged_in_seconds_and_in_memory() -> None:
    limit = next(row for row in goals.BUDGETS if row.unit == "s" and row.most)
    memory = next(row for row in goals.BUDGETS if row.unit == "MB")
    assert limit.most and memory.most
    records = measured(limit.task, BASE, limit.most / 2, limit.most / 4) + measured(limit.task, FAST, limit.most * 2)
    records += measured(memory.task, BASE, 0.1, 0.1, megabytes=memory.most / 2)
    section = sections.budget_section(records)

    assert cells(section, limit.label)["margin"] == "2.00 / **0.50**"
    assert cells(section, memory.label)["met"] == "2 of 2 / ?"


def test_the_summary_names_every_miss_and_the_closest_others() -> None:
    good = [(f"row {i}", at_least([100.0 + i], 100.0)) for i in range(9)]
    text = table.summary([*good, ("slow", at_least([90.0, 200.0], 100.0)), ("gone", at_most([], 1.0))])

    assert "9 of 11 goals were met in every round" in text
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert lines == [
        "| slow | **0.90** | **1 of 2** |",
        "| gone | ? | ? |",
        *(f"| row {i} | {1 + i / 100:.2f} | 1 of 1 |" for i in range(table.CLOSEST)),
    ]


def test_a_part_that_was_not_measured_says_how_to_measure_it() -> None:
    text = table.page({"columns": {"about": ABOUT, "records": []}})

    assert "Not measured yet: `script/bench --only secure`." in text
    assert "`script/bench --only columns`" not in text
    assert "Measured on 1 May 2026, 10:00 UTC, 2 rounds, load 0.1 to 0.3, 2 cores of AMD EPYC." in text
    assert "- byte code: written; caches warm\n" in text


def test_a_failure_is_named_in_its_section_without_its_message() -> None:
    broken = {"task": "grr", "lib": "pure-ldp", "error": "exit 1: /home/somebody"}
    text = table.page({"columns": {"about": ABOUT, "records": [broken]}})

    assert "Failed: pure-ldp grr." in text and "somebody" not in text


def test_two_machines_are_not_mixed_silently() -> None:
    parts = {"columns": {"about": ABOUT, "records": []}, "cox": {"about": ABOUT | {"processor": "Xeon"}, "records": []}}
    text = table.page(parts)

    assert "**Not all parts were measured alike; above is what differs: processor.**" in text
    assert "- processor: AMD EPYC (columns); Xeon (cox)\n" in text
    assert text.count("of Xeon.") == 1


@pytest.mark.parametrize(
    "value, text", [(0.00123456, "0.00123"), (12.345, "12.3"), (123456, "123,000"), (99.96, "100")]
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert sections.number(value) == text


def test_a_huge_margin_is_not_spelt_out() -> None:
    assert sections.margins(at_most([1e-9], 1.0), at_most([-1.0], 1.0)) == "over 100 / over 100"
