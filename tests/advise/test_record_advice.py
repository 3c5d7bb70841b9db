"""Which solution for records: exact variances, checked against math.md section 5 and against formulas written out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.advise.record_advice import figure_variances, least_variance, mean_variance, sample_sizes
from murmure.local.base.record_mechanism import protocol_names

N = 1_000_000
MIXED = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        "job": mu.Categories(30),
        "age": mu.Integers(18, 99),
        "income": mu.Interval(0.0, 100.0, cells=64),
    }
)


def alike(d: int, k: int) -> mu.Schema:
    return mu.Schema({f"c{i}": mu.Categories(k) for i in range(d)})


def even(schema: mu.Schema) -> list[Any]:
    return [np.full(schema[name].size, 1 / schema[name].size) for name in schema.private]


def of(mechanism: Any) -> float:
    return mean_variance(mechanism, N, even(mechanism.domain))


@pytest.mark.parametrize(
    ("d", "k", "epsilon"),
    [
        *((2, 2, 3.06), (2, 4, 4.47), (2, 16, 7.29)),
        *((5, 2, 4.71), (5, 4, 7.20), (5, 16, 13.2)),
        *((10, 2, 6.53), (10, 4, 10.5), (10, 16, 21.3)),
    ],
)
def test_splitting_wins_above_these_epsilons(d: int, k: int, epsilon: float) -> None:
    """math.md section 5, "SPL against SMP" (GRR, f = 1/k): V(eps/d) against d V(eps) + f(1-f)(d-1)."""
    schema = alike(d, k)
    for factor, splitting in ((0.99, False), (1.01, True)):
        one, some = (make(schema, factor * epsilon, oracle="GRR") for make in (mu.SPL, mu.SMP))

        assert (of(one) < of(some)) == splitting
        p, q = (float(x) for x in (one.parts[0].supports.p, one.parts[0].supports.q))
        f = 1 / k
        assert of(one) == pytest.approx((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2 / N, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "best"), [(1.0, 1), (2.5, 1), (5.0, 2), (7.5, 2), (10.0, 3), (15.0, 5)])
def test_how_many_attributes_to_draw(epsilon: float, best: int) -> None:
    """math.md section 5: the best m of k = 4 (GRR); those that are tried reach far enough, and advise agrees."""
    schema = alike(10, 4)
    tried = {m: of(mu.SMP(schema, epsilon, oracle="GRR", sample=m)) for m in range(1, 11)}

    assert min(tried, key=tried.__getitem__) == best
    assert best in sample_sizes(10, epsilon)
    assert mu.advise(schema, epsilon, N).best["solution"] == f"SMP, {best} of 10"


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0, 20.0])
@pytest.mark.parametrize("k", [2, 3, 64])
def test_no_larger_draw_is_better_than_those_tried(k: int, epsilon: float) -> None:
    """Beyond `samples` (and short of splitting) the variance only grows."""
    schema, d = alike(12, k), 12
    tried = [of(mu.SMP(schema, epsilon, sample=m)) for m in sample_sizes(d, epsilon)]
    beyond = [of(mu.SMP(schema, epsilon, sample=m)) for m in range(len(tried) + 1, d)]

    assert not beyond or min(tried) < min(beyond)


def test_rows_hold_certificates_pairs_bits_and_protocols() -> None:
    """What the certifier finds, for the record and for one attribute; pairs where two real attributes are shown."""
    advice = mu.advise(alike(3, 4), 2.0, 1000)
    rows = {row["solution"]: row for row in advice.rows}

    assert set(rows) == {
        *("SPL", "SMP, 1 of 3", "SMP, 2 of 3", "Plain"),
        *(f"RS+FD[{name}]" for name in ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")),
    }
    assert all(row["epsilon_record"] == pytest.approx(2.0) and row["epsilon_record"] <= 2.0 for row in rows.values())
    assert rows["SPL"]["epsilon_attribute"] == pytest.approx(2 / 3)
    assert rows["SMP, 1 of 3"]["epsilon_attribute"] == pytest.approx(2.0)
    fakes = math.log(1 + (math.exp(2.0) - 1) / 3)  # equal k, calibrated per record
    assert rows["RS+FD[GRR]"]["epsilon_attribute"] == pytest.approx(fakes)
    assert [rows[name]["pairs"] for name in ("SPL", "SMP, 1 of 3", "SMP, 2 of 3", "RS+FD[GRR]")] == [3, 0, 3, 0]
    assert rows["RS+FD[OUE-z]"]["columns"]["c1"]["protocol"] == "OUE-z"
    assert rows["SPL"]["report_bits"] == pytest.approx(6.0)
    json.dumps(advice.rows, allow_nan=False)


def test_sampling_is_never_noisier_than_fakes_at_the_same_record_epsilon() -> None:
    """math.md section 5: fakes are a post-processing of sampling."""
    for epsilon in (0.5, 1.0, 3.0, 6.0):
        rows = {row["solution"]: row for row in mu.advise(alike(4, 5), epsilon, 10_000).rows}
        fakes = [row["mean_variance"] for name, row in rows.items() if name.startswith("RS+FD")]

        assert rows["SMP, 1 of 4"]["mean_variance"] < min(fakes)


def test_rows_are_ranked_and_the_best_of_each_epsilon_comes_first() -> None:
    for rank_by, key in (("mean", "mean_variance"), ("worst", "worst_variance")):
        advice = mu.advise(MIXED, [1.0, 4.0], 5000, rank_by=rank_by)  # type: ignore[call-overload]
        for epsilon in (1.0, 4.0):
            block = [row for row in advice.rows if row["epsilon"] == epsilon]
            ranked = [row[key] for row in block if row[key] is not None]

            assert ranked == sorted(ranked)
            assert [row["best"] for row in block] == [True] + [False] * (len(block) - 1)
            assert block[-1]["solution"] == "Plain" and "biased, no figure: age, income" in block[-1]["note"]


def test_means_count_in_units_of_their_width() -> None:
    """The same numbers on another scale are the same problem."""
    small = mu.Schema({"a": mu.Categories(3), "x": mu.Interval(0.0, 1.0, cells=32)})
    large = mu.Schema({"a": mu.Categories(3), "x": mu.Interval(-500.0, 500.0, cells=32)})
    for make in (mu.SPL, mu.SMP, mu.RSFD):  # fakes of GRR: their shares sum to one whatever is reported
        assert of(make(small, 2.0)) == pytest.approx(of(make(large, 2.0)), rel=1e-9)


def test_a_mean_among_fakes_is_read_off_its_shares() -> None:
    """v' cov v, with the covariance of one report written out: a code supports one cell."""
    schema = mu.Schema({"a": mu.Categories(3), "x": mu.Interval(0.0, 1.0, cells=32)})
    fakes, numbers = mu.RSFD(schema, 2.0), schema["x"].numbers()
    assert numbers is not None
    high, low = fakes.parts[1]._cells
    chances = np.array([np.where(np.arange(32) == x, high, low) for x in range(32)])  # of every report, by value
    person = np.mean([np.diag(row) - np.outer(row, row) for row in chances], axis=0) / (high - low)[0] ** 2
    expected = numbers @ person @ numbers / (numbers[-1] - numbers[0]) ** 2 / 100

    assert figure_variances(fakes, 100, even(schema))["x"] == pytest.approx(expected, rel=1e-9)


def test_the_average_is_over_all_figures() -> None:
    """Shares of 2 and 30 values and two means are 34 figures."""
    mechanism = mu.SPL(MIXED, 2.0)
    held = figure_variances(mechanism, 1000, even(MIXED))

    assert [len(v) for v in held.values()] == [2, 30, 1, 1]  # type: ignore[arg-type]
    assert mean_variance(mechanism, 1000, even(MIXED)) == pytest.approx(np.concatenate(list(held.values())).mean())
    assert mean_variance(mu.Plain(MIXED, 2.0), 1000, even(MIXED)) == math.inf


def test_known_shares_move_the_variances() -> None:
    """Where nearly everybody answers alike, drawing some people costs less."""
    schema = alike(2, 2)
    unknown = {row["solution"]: row for row in mu.advise(schema, 6.0, 1000).rows}
    known = {row["solution"]: row for row in mu.advise(schema, 6.0, 1000, shares={"c0": [0.99, 0.01]}).rows}

    assert known["SMP, 1 of 2"]["mean_variance"] < unknown["SMP, 1 of 2"]["mean_variance"]
    assert known["SPL"]["mean_variance"] == pytest.approx(unknown["SPL"]["mean_variance"])
    assert known["SPL"]["columns"]["c1"] == unknown["SPL"]["columns"]["c1"]


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0, 12.0])
@pytest.mark.parametrize("schema", [MIXED, alike(3, 2), alike(6, 4), alike(1, 3)], ids=["mixed", "3x2", "6x4", "1x3"])
def test_choose_takes_the_best(schema: mu.Schema, epsilon: float) -> None:
    """What `--solution auto` takes is what advise marks."""
    mechanism, best = least_variance(schema, epsilon, 10_000), mu.advise(schema, epsilon, 10_000).best

    assert type(mechanism).__name__ == best["mechanism"]
    assert mean_variance(mechanism, 10_000, even(schema)) == pytest.approx(best["mean_variance"])
    assert list(protocol_names(mechanism)) == [held["protocol"] for held in best["columns"].values()]


def test_protocols_are_named() -> None:
    assert protocol_names(mu.SPL(MIXED, 0.5)) == ("GRR", "OUE", "Hybrid", "Hybrid")
    assert protocol_names(mu.ADP(alike(2, 40), 1.0, "rsfd")) == ("OUE-z", "OUE-z")
    assert protocol_names(mu.ADP(alike(2, 2), 1.0)) == ("GRR", "GRR")


def test_text_html_and_plots(tmp_path: Path) -> None:
    """A table with its legend; names are escaped; a drawing to a file or an axis."""
    schema = mu.Schema({"<b>a</b>": mu.Categories(2), "x": mu.Integers(0, 99)})
    advice = mu.advise(schema, [1.0, 2.0], 1000)
    text, page = str(advice), advice._repr_html_()

    assert text.count("<- best") == 2 and "1,000 people" in " ".join(text.split())
    assert 'class="best"' in page and "<b>a" not in page
    for suffix in ("svg", "png"):
        advice.plot(tmp_path / f"figure.{suffix}")
        assert (tmp_path / f"figure.{suffix}").stat().st_size > 1000
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert advice.plot(ax) is ax
    plt.close(figure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: mu.advise(s, 1.0, 0), r"advise\.people must be a whole number, at least 1, got 0"),
        (lambda s: mu.advise(s, 1.0, 10**400), r"advise\.people must be a whole number, at least 1, got 1000"),
        (lambda s: mu.advise(s, -1.0, 10), r"advise\.epsilon must be a positive finite number"),
        (lambda s: mu.advise(s, [], 10), r"advise\.epsilon: the list is empty"),
        (lambda s: mu.advise(s, 1.0, 10, rank_by="var-star"), r"advise\.rank_by must be one of mean, worst"),
        (lambda s: mu.advise(s, 1.0, 10, statistic="mean"), r"advise\.statistic is for a single domain"),
        (lambda s: mu.advise(s, 1.0, 10, shares=[0.5, 0.5]), r"advise\.shares must be given by column"),
        (lambda s: mu.advise(s, 1.0, 10, shares={"z": [1.0]}), r"advise\.shares names columns that are not randomised"),
        (lambda s: mu.advise(s, 1.0, 10, shares={"c0": [0.5, 0.6]}), r"column 'c0' must be 2 numbers that sum to 1"),
        (lambda s: least_variance(s, 1.0, 1.5), r"advise\.people must be a whole number"),
        (
            lambda s: mu.advise(mu.Schema({"w": mu.Column(mu.Categories(2), public=True)}), 1.0, 10),
            r"public columns only",
        ),
        (
            lambda s: mu.advise(mu.Schema({"w": mu.Column(mu.Categories(2), from_data=True)}), 1.0, 10),
            r"were read off the data",
        ),
    ],
)
def test_bad_arguments(call: Any, message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message):
        call(alike(2, 2))


def test_a_number_with_many_values_is_advised_about_too() -> None:
    """A plain table of it takes the window: bounded Laplace has no room for so many values."""
    schema = mu.Schema({"income": mu.Integers(0, 6000)})

    assert "Plain" in {row["solution"] for row in mu.advise(schema, epsilon=1.0, people=1000).rows}
