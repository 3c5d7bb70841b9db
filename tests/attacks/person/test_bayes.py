"""The Bayes guess: closed forms against enumeration, against drawing, and against what the papers write."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from tests.listing import listed

import murmure as mu
from murmure.attacks import bayes_guess
from murmure.attacks.person.guesses import value_guess
from murmure.attacks.person.guesses.drawn_guess import drawn_record_hits, drawn_value_hits, hits
from murmure.attacks.person.guesses.hash_guess import bins_in_use, every_hash, hash_success
from murmure.attacks.person.guesses.targets import GuessTarget
from murmure.attacks.person.guesses.value_guess import enumerated_success, value_success
from murmure.certify.certificate import certify
from murmure.cli import main
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.laws.bits import BitsChannel
from murmure.laws.hashed import Hashed
from murmure.laws.subset import Subset
from murmure.local.base.record_mechanism import RecordMechanism

EXAMPLES = listed("murmure.local")
PEOPLE = 6_000
FAILURE = 1e-6  # of all comparisons with drawn people together, by Bernstein's inequality: no normal curve is assumed


def falling(k: int) -> np.ndarray:
    """Shares k, k-1, ... 1 of their sum: no two are alike."""
    return np.arange(k, 0, -1) / (k * (k + 1) / 2)


def priors(mechanism: Any, even: bool) -> Any:
    if even:
        return None
    if isinstance(mechanism, RecordMechanism):
        return [falling(domain.size) for domain in mechanism.domains]
    return falling(mechanism.domain.size)


def bernstein(chance: float, n: int, failure: float) -> float:
    """The mean of n independent numbers in [0, 1] with this mean is further away with at most this probability."""
    odds = math.log(2 / failure)
    return math.sqrt(2 * chance * (1 - chance) * odds / n) + 2 * odds / (3 * n)


# -- every mechanism of the catalogue ------------------------------------------------------------------------------


@pytest.mark.parametrize("even", [True, False], ids=["even", "falling"])
@pytest.mark.parametrize("mechanism", [pytest.param(m, id=name) for name, m in EXAMPLES])
def test_computed_is_drawn(mechanism: Any, even: bool) -> None:
    """What is computed is what drawn people give; what cannot be computed is measured, with an interval."""
    target = GuessTarget.of(mechanism, priors(mechanism, even), None)
    computed = target.success()
    if computed is None:
        result = bayes_guess(mechanism, priors(mechanism, even), people=60, repetitions=3, rng=Random.seeded(1))
        assert result.rows[-1].repetitions == 3 and len(result.notes) == 2
        assert all(row.low <= row.value <= row.high for row in result.rows)  # type: ignore[operator]
        if isinstance(
            target.channel, Hashed
        ):  # a mean over 20,000 hashes is computed, and right to much less than this
            drawn, mean = target.drawn(PEOPLE // 4, Random.seeded(18)), result.rows[0].value
            assert abs(drawn - mean) <= bernstein(mean, PEOPLE // 4, FAILURE / (2 * len(EXAMPLES)))
        return
    n = PEOPLE if max(np.prod(target.channel.inputs), 1) < 100 else PEOPLE // 4
    drawn = target.drawn(n, Random.seeded(18))

    assert abs(drawn - computed) <= bernstein(computed, n, FAILURE / (2 * len(EXAMPLES)))
    assert target.baseline - 1e-12 <= computed <= 1 + 1e-12
    epsilon = certify(mechanism).epsilon
    assert computed <= target.baseline * math.exp(epsilon) * (1 + 1e-9)  # no report moves the odds further than that


def test_most_of_the_catalogue_is_computed() -> None:
    """Not computed: hashes into a number of bins that is no power of two, and a wide hidden draw with a prior."""
    missing = {
        name
        for name, m in EXAMPLES
        for even in (True, False)
        if GuessTarget.of(m, priors(m, even), None).success() is None
    }
    assert missing == {"local.hashing[3]", "local.hashing[4]", "local.adp[3]"}


@pytest.mark.parametrize("even", [True, False], ids=["even", "falling"])
def test_rules_are_the_enumeration(even: bool) -> None:
    """Every law that can be listed, in exact fractions."""
    compared = 0
    for name, mechanism in EXAMPLES:
        channel = mechanism.channel
        if isinstance(mechanism, RecordMechanism) or channel.inputs > 11 or channel.outcomes() is None:
            continue
        f = np.full(channel.inputs, 1 / channel.inputs) if even else falling(channel.inputs)[::-1]
        computed, counted = value_success(channel, f), enumerated_success(channel, f)
        assert computed == pytest.approx(counted, rel=1e-12), name
        compared += 1
    assert compared >= 30


@pytest.mark.parametrize("target", [None, 1])
def test_records_are_the_enumeration(target: int | None) -> None:
    """All reports and all records, with shares that differ, in exact fractions."""
    compared = 0
    for name, mechanism in EXAMPLES:
        if not isinstance(mechanism, RecordMechanism) or math.prod(mechanism.channel.inputs) > 12:
            continue
        channel = mechanism.channel
        f = [falling(k) for k in channel.inputs]
        records = list(itertools.product(*map(range, channel.inputs)))
        reports = list(channel.outcomes())
        if len(reports) * len(records) > 1500:
            continue
        total = Fraction(0)
        for y in reports:
            joint = {
                x: channel.prob(x, y) * math.prod(Fraction(float(f[i][v])) for i, v in enumerate(x)) for x in records
            }
            groups = [[x] for x in records] if target is None else [[x for x in records if x[1] == v] for v in range(3)]
            total += max(sum(joint[x] for x in group) for group in groups)
        prior = [list(shares) for shares in f]
        attribute = None if target is None else mechanism.columns[target]
        computed = GuessTarget.of(mechanism, prior, attribute).success()
        assert computed == pytest.approx(float(total), rel=1e-12), name
        compared += 1
    assert compared >= 12


def test_laws_that_speak_against_the_truth() -> None:
    """A bit that is set less often for the true value; a set that mostly leaves it out: the guess turns around."""
    for channel in (BitsChannel(4, 2**62, 2**63), Subset(5, 2, 2**61), Subset(5, 4, 2**61)):
        for f in (np.full(channel.inputs, 1 / channel.inputs), falling(channel.inputs)):
            assert value_success(channel, f) == pytest.approx(enumerated_success(channel, f), rel=1e-12)


# -- published closed forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 7, 16, 74])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_published_formulas(k: int, epsilon: float) -> None:
    """Gursoy et al. 2022 and Arcolezi et al. 2023, written as sums over the number of other bits that are set."""

    def success(mechanism: Any) -> float:
        return bayes_guess(mechanism).rows[0].value

    E, h = math.exp(epsilon), math.exp(epsilon / 2)

    def unary(p: float, q: float) -> float:
        others = stats.binom(k - 1, q)
        return (1 - p) / k * (1 - q) ** (k - 1) + sum(p / i * others.pmf(i - 1) for i in range(1, k + 1))

    domain = mu.Categories(k)
    assert success(mu.GRR(domain, epsilon)) == pytest.approx(E / (E + k - 1))
    assert success(mu.SUE(domain, epsilon)) == pytest.approx(unary(h / (h + 1), 1 / (h + 1)))
    assert success(mu.OUE(domain, epsilon)) == pytest.approx(unary(0.5, 1 / (E + 1)))
    subset = mu.SubsetSelection(domain, epsilon)
    w = subset.channel.size
    assert success(subset) == pytest.approx(E / (w * E + k - w))


# -- hashes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 9))
@pytest.mark.parametrize("m", [1, 2, 3])
def test_bins_in_use(k: int, m: int) -> None:
    """The mean number of images of {0 .. k-1} under all linear maps, one by one."""
    columns = (k - 1).bit_length()
    total = 0
    for a in itertools.product(range(1 << m), repeat=columns):
        images = set()
        for v in range(k):
            image = 0
            for column, word in enumerate(a):
                image ^= word if v >> column & 1 else 0
            images.add(image)
        total += len(images)
    assert bins_in_use(k, m) == pytest.approx(total / (1 << (m * columns)), rel=1e-12)


def test_every_hash_is_listed_once() -> None:
    channel: Hashed = mu.OLH(mu.Categories(6), 1.0).channel
    seeds = every_hash(channel)
    assert seeds is not None and len(np.unique(seeds, axis=0)) == len(seeds) == 4**4
    f = falling(6)
    assert hash_success(channel, f, seeds).mean() == pytest.approx(enumerated_success(channel, f), rel=1e-12)
    assert every_hash(mu.OLH(mu.Categories(5), 0.5).channel) is None


# -- priors, ties, mutants -----------------------------------------------------------------------------------------


def test_ties_are_counted_in_parts() -> None:
    """Two of three values fit equally well: whoever is right gets one half, whichever is guessed."""
    posterior = np.log([[0.4, 0.1], [0.4, 0.1], [0.2, 0.8]])
    assert hits(posterior, np.array([0, 2])).tolist() == [0.5, 1.0]
    assert hits(posterior, np.array([2, 0])).tolist() == [0.0, 0.0]


def test_a_certain_prior_needs_no_report() -> None:
    row = bayes_guess(mu.GRR(mu.Categories(3), 1.0), [0.0, 1.0, 0.0]).rows[0]
    assert row.value == row.baseline == pytest.approx(1)


def test_a_wrong_rule_would_be_found() -> None:
    """A mutant: unary encoding guessed as if nobody's bits could all be 0. The comparison with drawing refuses it."""
    channel, f = mu.SUE(mu.Categories(3), 1.0).channel, np.full(3, 1 / 3)
    right = value_success(channel, f)
    drawn = float(drawn_value_hits(channel, f, PEOPLE, Random.seeded(3)).mean())
    p, q = float(channel.p), float(channel.q)
    mutant = p / (3 * q) * (1 - (1 - q) ** 3)
    room = bernstein(right, PEOPLE, FAILURE)  # type: ignore[arg-type]

    assert abs(drawn - right) < room < abs(drawn - mutant)  # type: ignore[operator]


def test_a_hidden_draw_guesses_from_all_columns() -> None:
    """With a prior the other columns tell whether a column is real: more than its own report alone."""
    schema = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(30)})
    mechanism = mu.RSFD(schema, 4.0, "GRR")
    prior = {"a": [0.7, 0.3], "b": [0.9, *[0.1 / 29] * 29]}
    whole = GuessTarget.of(mechanism, prior, "a").success()
    s = float(mechanism.channel.chances.prob(0))
    alone = sum(
        max(
            share * (s * float(mechanism.channel.parts[0].real.prob(x, y)) + (1 - s) * 0.5)
            for x, share in enumerate([0.7, 0.3])
        )
        for y in range(2)
    )
    drawn = drawn_record_hits(
        mechanism.channel, GuessTarget.of(mechanism, prior, "a").shares, 0, PEOPLE, Random.seeded(5)
    )

    assert whole is not None and whole > alone + 0.005
    assert abs(float(drawn.mean()) - whole) <= bernstein(whole, PEOPLE, FAILURE)


def test_all_reports_of_one_client() -> None:
    """RAPPOR: what a client keeps tells more than one report, and no more than its bits."""
    rappor = mu.RAPPOR(mu.Categories(5), 4.0, 1.0)
    once, always = bayes_guess(rappor).rows[0].value, bayes_guess(rappor.for_ever).rows[0].value
    assert once < always == pytest.approx(bayes_guess(mu.SUE(mu.Categories(5), 4.0)).rows[0].value)


def test_a_mapped_report_tells_less() -> None:
    grr = mu.GRR(mu.Categories(4), 1.0)
    f = np.full(4, 0.25)
    parity = value_success(mu.Mapped(grr.channel, lambda y: y % 2), f)
    assert parity == pytest.approx(0.25 * 2 * float(grr.channel.prob(0, 0) + grr.channel.prob(0, 2)))
    assert value_success(mu.Mapped(mu.OUE(mu.Categories(40), 1.0).channel, lambda y: 0), np.full(40, 1 / 40)) is None


def test_large_domains() -> None:
    """No table of values and reports is made where a rule is known."""
    for make in (mu.GRR, mu.SUE, mu.OUE, mu.SubsetSelection, mu.HadamardResponse, mu.BLH):
        k = 20_000
        f = np.full(k, 1 / k)
        assert 1 / k < value_success(make(mu.Categories(k), 2.0).channel, f) < 10 / k
    assert value_guess.MAX_PAIRS < 100_000**2


# -- results, bad input, command line ------------------------------------------------------------------------------


def test_several_mechanisms_make_curves() -> None:
    laws = [make(mu.Categories(4), e) for make in (mu.GRR, mu.OUE) for e in (0.5, 1.0, 2.0)]
    result = bayes_guess(laws)
    assert result.axis == "epsilon" and len(result.rows) == 6 and "<svg" in result.to_page()
    same = bayes_guess([mu.GRR(mu.Categories(4), 1.0), mu.GRR(mu.Categories(9), 1.0)])
    assert len({row.setting["mechanism"] for row in same.rows}) == 2
    assert bayes_guess(mu.Warner(mu.Categories(["no", "yes"]), truth=0.5)).axis is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: bayes_guess([]), "at least one mechanism"),
        (lambda m: bayes_guess("GRR"), "needs a mechanism that randomises one person's answer, got 'G'"),
        (lambda m: bayes_guess(m, [0.5, 0.5]), "the prior of GRR must be 3 shares that sum to 1"),
        (lambda m: bayes_guess(m, [0.5, 0.5, math.nan]), "must be 3 shares"),
        (lambda m: bayes_guess(m, [1.5, -0.5, 0.0]), "must be 3 shares"),
        (lambda m: bayes_guess(m, "abc"), "must be 3 shares"),
        (lambda m: bayes_guess(m, {"0": 0.5}), "must have a share for each of its 3 values"),
        (lambda m: bayes_guess(m, attribute="a"), "it has no column 'a' to choose"),
        (lambda m: bayes_guess(m, people=0), "people must be a whole number from 1"),
        (lambda m: bayes_guess(m, repetitions=-1), "repetitions must be a whole number from 0"),
        (lambda m: bayes_guess(m, rng=7), "rng must be a murmure.Random"),
        (lambda m: bayes_guess(SMP, attribute="c"), "SMP randomises no column 'c'"),
        (lambda m: bayes_guess(SMP, {"c": [1.0]}), "names a column 'c' that is not randomised"),
        (lambda m: bayes_guess(SMP, [[0.5, 0.5]]), "must have shares for its 2 columns"),
        (lambda m: bayes_guess(SMP, {"a": [0.5, 0.6]}), "the prior of 'a' must be 2 shares"),
        (lambda m: bayes_guess(WIDE, {"a": [0.2, 0.8]}), "whole record of 200,000 possible ones is not known"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        call(mu.GRR(mu.Categories(3), 1.0))


SMP = mu.SMP(mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)}), 1.0)
WIDE = mu.RSFD(mu.Schema({"a": mu.Categories(2), "b": mu.Categories(1000), "c": mu.Categories(100)}), 1.0)


def murmure(*words: str) -> Any:
    return CliRunner().invoke(main, ["attack", "bayes", *words])


def test_command(tmp_path: Path) -> None:
    schema, plan, priors = (tmp_path / name for name in ("s.toml", "plan.json", "priors.json"))
    columns = mu.Schema({"a": mu.Categories(["no", "yes"]), "b": mu.Categories(3)})
    schema.write_text(columns.to_toml())
    plan.write_text(mu.Plan(mu.Marginals(columns), person=mu.SMP(columns, 1.0)).to_json())
    priors.write_text('{"a": [0.8, 0.2], "b": [0.5, 0.3, 0.2]}')

    ran = murmure("GRR", "oue", "--categories", "4", "--epsilon", "0.5,1", "--json")
    rows = json.loads(ran.output)["rows"]
    assert [(row["mechanism"], row["at"]) for row in rows] == [("GRR", 0.5), ("GRR", 1), ("OUE", 0.5), ("OUE", 1)]
    page, picture = tmp_path / "a.html", tmp_path / "a.svg"
    ran = murmure(
        "GRR", "--labels", "no,yes", "--epsilon", "1", "--prior", "0.9,0.1", "--html", str(page), "--plot", str(picture)
    )
    assert ran.exit_code == 0 and "90.00%" in ran.output and "<svg" in page.read_text() and picture.stat().st_size
    for words in (["smp", "rsfd", "rsrfd-grr"], ["spl", "--attribute", "b"]):
        ran = murmure(*words, "--schema", str(schema), "--epsilon", "1", "--priors", str(priors))
        assert ran.exit_code == 0, ran.output
    ran = murmure("--plan", str(plan), "--repetitions", "2", "--seed", "1", "--people", "50")
    assert ran.exit_code == 0 and "measured (SMP[" in ran.output
    assert murmure("two-coins").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to attack"),
        (["GRR", "--plan", "x.json"], "a MECHANISM and --plan exclude one another"),
        (["GRR"], "GRR needs --epsilon and one of"),
        (["NoSuch", "--epsilon", "1"], "there is no mechanism 'NoSuch'"),
        (["GRR", "--categories", "3", "--epsilon", "1", "--prior", "1,1,1"], "must be 3 shares that sum to 1"),
        (["GRR", "--categories", "3", "--epsilon", "1", "--attribute", "a"], "--attribute is a column of --schema"),
        (["GRR", "--categories", "3", "--epsilon", "1", "--priors", "a"], "--priors is for the columns of --schema"),
        (["GRR", "--categories", "3", "--epsilon", "1", "--title", "T"], "--title is for a page"),
    ],
)
def test_command_errors(words: list[str], message: str) -> None:
    ran = murmure(*words)
    assert ran.exit_code == 2 and message in ran.output + ran.stderr
