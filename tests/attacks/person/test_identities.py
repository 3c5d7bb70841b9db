"""Re-identification: every count, score and chance against a plain loop over people, and the surveys as published."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import reidentification
from murmure.attacks.base.guesses import guesses, likeliest, pick_one
from murmure.attacks.person.survey_rules.fake_data import fake_profiles, found_by_likelihood
from murmure.attacks.person.survey_rules.matching import Candidates, Profiles, chances, found
from murmure.attacks.person.survey_rules.sampled import only_known, sampled_profiles
from murmure.attacks.person.survey_rules.surveys import NOTHING, Surveys, attribute_range, reported_columns
from murmure.cli import main
from murmure.laws.kernel_loader import available
from murmure.laws.law import Law

ADULT = Path(__file__).parents[3].parent / "shared" / "data"
SIZES = (3, 2, 5, 4, 2, 6)
ORACLES = ("GRR", "SUE", "OUE", "OLH", "SubsetSelection", "HadamardResponse", "BLH")
TOP = (1, 2, 7)


def population(n: int, seed: int = 1) -> np.ndarray:
    """With equal records, so that there are ties."""
    rng = np.random.default_rng(seed)
    some = np.stack([rng.integers(0, k, max(2, n // 2)) for k in SIZES], axis=1)
    return some[rng.integers(0, len(some), n)].astype(np.int64)


def channels(oracle: str, epsilon: float) -> list[Any]:
    return [getattr(mu, oracle)(mu.Categories(k), epsilon).channel for k in SIZES]


def chance_by_hand(scores: Sequence[float], target: int, k: int) -> float:
    """The share of all orders of equals in which the target is among the best k."""
    better = sum(s > scores[target] + 1e-9 for s in scores)
    equal = sum(abs(s - scores[target]) <= 1e-9 for s in scores)
    places = [place for place in range(better, better + equal) if place < k]
    return len(places) / equal


# -- matching


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("again", [False, True])
def test_matching_is_a_loop_over_people(oracle: str, again: bool) -> None:
    """Equal attributes, and likelihoods from `log_prob` of each report, after every survey."""
    n, surveys, rng = 60, 4, mu.Random.seeded(5)
    codes, laws = population(n), channels(oracle, 1.5)
    column = reported_columns(Surveys.draw(rng, surveys, len(SIZES)), n, len(SIZES), again, rng)
    guessed, likely = sampled_profiles(laws, codes, column, mu.Random.seeded(6))
    replay = mu.Random.seeded(6)  # the same draws in the same order: columns by number in each survey
    reports: dict[tuple[int, int], Any] = {}
    for s in range(surveys):
        for j in np.unique(column[:, s][column[:, s] >= 0]):
            rows = np.flatnonzero(column[:, s] == j)
            drawn = Law(laws[j], codes[rows, j]).sample(replay)
            assert (guessed.value[rows, s] == pick_one(likeliest(laws[j], drawn), replay)).all()
            reports |= {(int(t), s): y for t, y in zip(rows, drawn, strict=True)}
    people = Candidates(codes, SIZES)
    for profiles in (guessed, likely):
        got = found(people.patterns(profiles, compiled=False), profiles, profiles.agrees(codes), TOP)
        wanted = np.zeros((surveys, len(TOP)))
        for t, s in itertools.product(range(n), range(surveys)):
            scores = np.zeros(n)
            for i in range(s + 1):
                j = column[t, i]
                if j < 0:
                    continue
                if profiles is guessed:
                    scores += codes[:, j] == guessed.value[t, i]
                else:
                    scores += laws[j].log_prob(codes[:, j], np.repeat(np.asarray(reports[t, i])[None], n, axis=0))
            wanted[s] += [chance_by_hand(scores.tolist(), t, k) / n for k in TOP]
        assert got == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 127, 128, 129, 150, 192])
@pytest.mark.parametrize("oracle", ["GRR", "OUE"])
def test_both_ways_count_who_agrees_with_exactly_these_entries(oracle: str, n: int, compiled: bool) -> None:
    """With people who fill their words of 64 or not, values that nobody holds, and entries that are missing."""
    if compiled and not available():
        pytest.skip("Numba is not installed")
    codes = population(n, 3)
    codes[codes[:, 5] == 4, 5] = 0
    rng = mu.Random.seeded(2)
    column = reported_columns(Surveys.draw(rng, 5, 6), n, 6, True, rng)
    people = Candidates(codes, SIZES)
    for profiles in sampled_profiles(channels(oracle, 0.7), codes, column, rng):
        wanted = np.zeros((1 << 5, n), np.int64)
        for person in codes:
            agrees = profiles.agrees(np.broadcast_to(person, codes.shape))
            wanted[agrees @ (1 << np.arange(5)), np.arange(n)] += 1

        assert people.patterns(profiles, compiled).tolist() == wanted.tolist()


def test_ties_are_a_chance() -> None:
    """Three people before the target and four like it: places 4 to 7."""
    got = chances(np.array([3]), np.array([4]), [1, 3, 4, 5, 7, 10])

    assert got.tolist() == [[0, 0, 0.25, 0.5, 1, 1]]


def test_breaking_ties_for_or_against_the_target_is_wrong() -> None:
    """Everybody alike: whoever ranks the target first finds all, last nobody; the truth is k / n."""
    codes = np.zeros((40, 6), np.int64)
    column, value = np.zeros((40, 1), np.int64), np.zeros((40, 1), np.int64)
    profiles = Profiles(column, value, None, np.ones((40, 1)))
    got = found(Candidates(codes, SIZES).patterns(profiles), profiles, profiles.agrees(codes), TOP)

    assert got == pytest.approx(np.array([[k / 40 for k in TOP]]), abs=1e-12)


def test_unknown_columns_say_nothing() -> None:
    codes, rng = population(80), mu.Random.seeded(3)
    column = reported_columns(Surveys.draw(rng, 3, 6), 80, 6, False, rng)
    guessed, likely = sampled_profiles(channels("OUE", 2.0), codes, column, rng)
    people = Candidates(codes, SIZES)
    for profiles in (guessed, likely):
        nothing = only_known(profiles, np.array([], np.int64))
        got = found(people.patterns(nothing), nothing, nothing.agrees(codes), TOP)
        assert got == pytest.approx(np.array([[k / 80 for k in TOP]] * 3))
        some = only_known(profiles, np.array([0, 2]))
        assert set(np.unique(some.column)) <= {NOTHING, 0, 2} and (some.weight[some.column < 0] == 0).all()


# -- guesses


@pytest.mark.parametrize("oracle", [*ORACLES, "RAPPOR"])
def test_guesses_come_from_the_likeliest_values(oracle: str) -> None:
    """The mask of each kind of law is that of its likelihoods; the guess is right as often as the law says.

    Seeded; without a seed |z| > 4.9 has a chance of 1e-6.
    """
    domain = mu.Categories(5)
    mechanism = mu.RAPPOR(domain, 3.0, 1.0) if oracle == "RAPPOR" else getattr(mu, oracle)(domain, 1.0)
    channel, n = mechanism.channel, 20_000
    reports = Law(channel, np.full(n, 3)).sample(mu.Random.seeded(1))
    by_likelihood = likeliest.dispatch(object)(channel, reports)

    assert (likeliest(channel, reports) == by_likelihood).all()
    hit = guesses(channel, reports, mu.Random.seeded(2)) == 3
    expected = np.where(by_likelihood[:, 3], 1 / by_likelihood.sum(axis=1), 0.0)
    assert abs((hit - expected).sum()) < 4.9 * math.sqrt((expected * (1 - expected)).sum() + 1e-12) + 1e-9


# -- surveys


def test_surveys_are_those_of_the_paper() -> None:
    """d = 10: 5 to 9 columns each; people split evenly; nobody reports a column twice."""
    assert [attribute_range(d) for d in (2, 3, 9, 10, 18)] == [(1, 1), (2, 2), (4, 8), (5, 9), (9, 17)]
    rng = mu.Random.seeded(8)
    sizes = {len(Surveys.draw(rng, 1, 10).columns[0]) for _ in range(100)}
    assert sizes == {5, 6, 7, 8, 9}
    surveys = Surveys.draw(rng, 5, 10)
    column = reported_columns(surveys, 1003, 10, False, rng)
    assert all(len(set(row)) == 5 for row in column.tolist())
    counts = np.bincount(column[:, 0], minlength=10)[surveys.columns[0]]
    assert counts.sum() == 1003 and counts.max() - counts.min() <= 1


def test_memoised_reports_are_not_new() -> None:
    """Non-uniform: the column that a survey gives a person, or nothing if it was reported before."""
    rng = mu.Random.seeded(9)
    surveys = Surveys(tuple(np.array([0, 1]) for _ in range(5)))  # two columns, five times
    column = reported_columns(surveys, 500, 6, True, rng)
    new = column >= 0

    assert new[:, 0].all() and (new.sum(axis=1) <= 2).all() and set(np.unique(column)) == {NOTHING, 0, 1}
    assert abs(new[:, 1].mean() - 0.5) < 0.12  # a fair coin each: five standard errors


# -- RS+FD


@pytest.mark.parametrize("oracle", ["GRR", "OUE-z", "SUE-r"])
def test_the_real_column_is_predicted_by_bayes(oracle: str) -> None:
    """P[column j is real | y], by enumerating records under independent shares."""
    sizes, shares = (2, 3), ([0.8, 0.2], [0.6, 0.3, 0.1])
    schema = mu.Schema({str(i): mu.Categories(k) for i, k in enumerate(sizes)})
    mechanism = mu.RSFD(schema, 1.0, oracle, "paper")
    x = [np.array([0, 1, 1, 0]), np.array([2, 0, 1, 0])]
    records = mechanism.channel.sample(x, mu.Random.seeded(4))
    parts = mechanism.channel.parts
    mine = np.exp(mechanism.channel.real_log_odds(records, [np.array(f) for f in shares])).T
    for t in range(4):
        y = records.row(t)
        fakes = [part.fake_prob(yi) for part, yi in zip(parts, y, strict=True)]
        real = [
            Fraction(1, 2)
            * sum(Fraction(f) * part.real.prob(v, y[j]) for v, f in enumerate(shares[j]))
            * math.prod(fakes[:j] + fakes[j + 1 :], start=Fraction(1))
            for j, part in enumerate(parts)
        ]
        assert mine[0][t] / mine[1][t] == pytest.approx(float(real[0] / real[1]), rel=1e-9)


def test_fake_records_are_matched_by_their_likelihood() -> None:
    """Against `log_prob` of the whole record, which knows nothing of this file; and unknown columns are averaged."""
    sizes, n, rng = (3, 2, 4), 40, mu.Random.seeded(11)
    codes = np.stack([np.random.default_rng(3).integers(0, k, n) for k in sizes], axis=1)
    schema = mu.Schema({str(i): mu.Categories(k) for i, k in enumerate(sizes)})
    surveys = Surveys((np.array([0, 2]), np.array([2, 1, 0])))
    mechanisms = [
        mu.RSFD(mu.Schema({str(j): schema[str(j)] for j in asked}), 2.0, "GRR", "paper") for asked in surveys.columns
    ]
    guessed, likelihoods = fake_profiles(mechanisms, surveys, codes, rng)
    replay = mu.Random.seeded(11)
    records = mechanisms[0].channel.sample([codes[:, j] for j in surveys.columns[0]], replay)  # drawn first of all
    got = found_by_likelihood(likelihoods[:1], codes, np.arange(3), np.arange(n), TOP)[0]
    wanted = np.zeros(len(TOP))
    for t in range(n):
        y = repeated_record(records, t, n)
        scores = mechanisms[0].channel.log_prob([codes[:, j] for j in surveys.columns[0]], y)
        wanted += [chance_by_hand(scores.tolist(), t, k) / n for k in TOP]
    assert got == pytest.approx(wanted, abs=1e-12)
    none = found_by_likelihood(likelihoods, codes, np.array([], int), np.arange(n), TOP)
    assert none == pytest.approx(np.array([[k / n for k in TOP]] * 2))
    assert (guessed.column[:, 1] != guessed.column[:, 0]).all()


def repeated_record(records: Any, t: int, n: int) -> Any:
    """The record of one person, n times."""
    from murmure.laws.records import Records

    return Records(n, tuple(np.repeat(part[t : t + 1], n, axis=0) for part in records.parts))


# -- the whole attack

SCHEMA = mu.Schema({name: mu.Categories(k) for name, k in zip("abcdef", SIZES, strict=True)})


def table(n: int, seed: int = 1) -> dict[str, Any]:
    return dict(zip("abcdef", population(n, seed).T, strict=True))


def test_without_noise_everybody_with_a_record_of_their_own_is_found() -> None:
    """Six surveys about six columns at epsilon 30; and at a tiny epsilon hardly more than by guessing."""
    grid = np.array(list(itertools.product(*map(range, SIZES))))[::7]
    people = dict(zip("abcdef", grid.T, strict=True))
    for oracle in ("GRR", "SubsetSelection"):
        result = reidentification(
            people, SCHEMA, 30.0, oracle=oracle, surveys=6, top=[1], repetitions=1, rng=mu.Random.seeded(1)
        )
        assert [row.value for row in result.rows if row.at == 6] == [1.0, 1.0]
    tiny = reidentification(people, SCHEMA, 0.01, surveys=3, top=[5], repetitions=10, rng=mu.Random.seeded(1))
    for row in tiny.rows:
        assert row.baseline == 5 / len(grid) and abs(row.value - row.baseline) < 0.03


def test_the_exact_posterior_is_the_ceiling() -> None:
    """Of GRR both scores rank alike; of OUE and RS+FD the likelihood knows more than one guess. Paired by seed."""

    def both(**settings: Any) -> np.ndarray:
        rows = reidentification(
            table(300), SCHEMA, 3.0, surveys=4, top=[5], repetitions=8, rng=mu.Random.seeded(2), **settings
        ).rows
        return np.array([row.value for row in rows if row.at == 4])

    assert both(oracle="GRR")[0] == pytest.approx(both(oracle="GRR")[1])
    for settings in ({"oracle": "OUE"}, {"oracle": "OLH"}, {"solution": "rsfd", "oracle": "OUE-z"}):
        equal, exact = both(**settings)
        assert exact > equal + 0.005


def test_more_surveys_more_knowledge_more_found() -> None:
    """Full knowledge beats partial knowledge, and reporting new columns beats repeating old ones."""

    def last(**settings: Any) -> float:
        return float(
            reidentification(
                table(300), SCHEMA, 5.0, surveys=4, top=[5], scores=["equal attributes"], repetitions=8,
                rng=mu.Random.seeded(4), **settings,
            ).rows[-1].value
        )  # fmt: skip

    assert last() > last(knowledge="partial") and last() > last(metric="non-uniform")


def test_targets_and_axis() -> None:
    one = reidentification(
        table(90), SCHEMA, [2.0, 4.0], surveys=2, top=[3], targets=30, axis="epsilon", repetitions=2,
        rng=mu.Random.seeded(1),
    )  # fmt: skip
    assert one.details["targets"] == 30 and {row.at for row in one.rows} == {2.0, 4.0}
    assert {row.setting["surveys"] for row in one.rows} == {1, 2} and "epsilon" not in one.rows[0].setting


def test_planned_surveys() -> None:
    """One survey about one column, without noise: people with the same value cannot be told apart."""
    people = table(50)
    result = reidentification(people, SCHEMA, 30.0, surveys=[["f"]], top=[1], repetitions=1, rng=mu.Random.seeded(1))
    alike = np.bincount(people["f"])

    assert [row.value for row in result.rows] == pytest.approx([(alike > 0).sum() / 50] * 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be a positive finite number"),
        ({"oracle": "grr"}, "oracle must be one of GRR"),
        ({"solution": "rsfd", "oracle": "OLH"}, "oracle must be one of GRR, SUE-z"),
        ({"solution": "spl"}, "solution must be one of smp, rsfd"),
        ({"metric": "both"}, "metric must be one of uniform, non-uniform"),
        ({"knowledge": "none"}, "knowledge must be one of full, partial"),
        ({"scores": ["mine"]}, "scores must be one of equal attributes"),
        ({"surveys": 7}, "7 surveys over 6 columns"),
        ({"surveys": 9, "metric": "non-uniform"}, "at most 8 surveys"),
        ({"surveys": True}, "surveys must be a whole number"),
        ({"surveys": "abc"}, "or for each survey the names of its columns"),
        ({"surveys": [["a", "z"]]}, "or for each survey the names of its columns"),
        ({"surveys": [["a", "a"]]}, "or for each survey the names of its columns"),
        ({"surveys": [[]]}, "or for each survey the names of its columns"),
        ({"top": [0]}, "top must be a whole number from 1"),
        ({"targets": 21}, "there are 20 people"),
        ({"repetitions": 0}, "repetitions must be a whole number from 1"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], message: str) -> None:
    given = {"epsilon": 1.0, "repetitions": 1, **settings}
    with pytest.raises(mu.MurmureError, match=message):
        reidentification(table(20), SCHEMA, **given)


def test_refused_tables() -> None:
    with pytest.raises(mu.MurmureError, match="Schema"):
        reidentification(table(20), {"a": 1}, 1.0)  # type: ignore[arg-type]
    with pytest.raises(mu.MurmureError, match="at least two people and two columns"):
        reidentification({"a": [0, 1]}, mu.Schema({"a": mu.Categories(2)}), 1.0, surveys=1)
    with pytest.raises(mu.MurmureError):
        reidentification({"a": [9], "b": [0]}, mu.Schema({"a": mu.Categories(2), "b": mu.Categories(2)}), 1.0)


def test_the_command(tmp_path: Path) -> None:
    people = table(40)
    lines = [",".join("abcdef"), *(",".join(map(str, row)) for row in zip(*people.values(), strict=True))]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    (tmp_path / "s.toml").write_text(SCHEMA.to_toml())
    words = ["attack", "identities", f"{tmp_path}/p.csv", "--schema", f"{tmp_path}/s.toml", "--epsilon", "2,6"]
    words += ["--surveys", "2", "--repetitions", "2", "--top", "1", "--seed", "3"]
    ran = CliRunner().invoke(main, [*words, "--json"])
    assert ran.exit_code == 0, ran.output
    shown = json.loads(ran.output)
    assert shown["attack"] == "identities" and len(shown["rows"]) == 2 * 2 * 2
    assert {(row["epsilon"], row["top"]) for row in shown["rows"]} == {(2.0, 1), (6.0, 1)}
    ran = CliRunner().invoke(main, [*words, "--html", f"{tmp_path}/p.html", "--plot", f"{tmp_path}/p.svg"])
    assert ran.exit_code == 0 and "equal attributes (epsilon 2, top 1)" in ran.output
    assert "<svg" in (tmp_path / "p.html").read_text("utf-8") and (tmp_path / "p.svg").stat().st_size
    for more, message in (
        (["--surveys", "7"], "7 surveys over 6 columns"),
        (["--top", "x"], "is neither a number"),
        (["--oracle", "Foo"], "oracle must be one of"),
    ):
        ran = CliRunner().invoke(main, [*words, *more])
        assert ran.exit_code != 0 and message in ran.output + ran.stderr
    ran = CliRunner().invoke(main, words[:2])
    assert ran.exit_code != 0 and "needs a table PEOPLE, --schema and --epsilon" in ran.output + ran.stderr


def adult() -> tuple[mu.Schema, dict[str, Any]]:
    """The table of the literature: 45,222 people, ten columns, each value by its rank."""
    columns, rows = (0, 1, 3, 5, 6, 7, 8, 9, 13, 14), []
    for name in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(ADULT / name, "rt") as file:
            rows += [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15 and "?" not in row]
    codes = {str(j): np.unique([row[j].rstrip(".") for row in rows], return_inverse=True)[1] for j in columns}
    return mu.Schema({name: mu.Categories(int(code.max()) + 1) for name, code in codes.items()}), codes


@pytest.mark.slow
def test_adult_over_five_surveys_within_a_minute() -> None:
    """45,222 people, all as targets, both scores, one epsilon, after the kernels are compiled."""
    if not (ADULT / "adult.data.gz").exists():
        pytest.skip("needs the Adult data, which is not distributed here: adult.data.gz in ../shared/data")
    schema, people = adult()
    assert len(people["0"]) == 45_222
    reidentification(people, schema, 1.0, targets=100, repetitions=1, rng=mu.Random.seeded(1), oracle="OUE")
    began = time.process_time()
    reidentification(people, schema, 1.0, repetitions=1, rng=mu.Random.seeded(1), oracle="OUE")

    assert time.process_time() - began < 60
