"""Plans as data, what they refuse, and report files that are whole or are not there."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.listing import listed

import murmure as mu
import murmure.local
from murmure.core.errors import (
    InvalidParameter,
    NoUnbiasedEstimate,
    OutsideDomain,
    PlanMismatch,
    PlanRefused,
)
from murmure.core.types import Affine, NoAffine, Total

EXAMPLES = [example for _, example in listed("murmure.local")]
UNBIASED = [m for m in EXAMPLES if isinstance(m.affine(), Affine)]
BIASED = [m for m in EXAMPLES if isinstance(m.affine(), NoAffine)]
YES_NO = mu.Categories(["no", "yes"])


def plan_for(mechanism: Any) -> mu.Plan:
    """The question that this mechanism answers."""
    ask = mu.Histogram if mechanism.affine().of == "cells" else mu.Mean
    return mu.Plan(ask(mechanism.domain), person=mechanism)


def grr_plan(epsilon: float = 1.0, domain: Any = YES_NO) -> mu.Plan:
    return mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon))


# ---- JSON and digest


def test_there_are_examples_of_both_kinds() -> None:
    """The lists below are not empty."""
    assert len(UNBIASED) > 20 and len(BIASED) > 5


@pytest.mark.parametrize("mechanism", UNBIASED, ids=repr)
def test_a_plan_comes_back_from_json(mechanism: Any) -> None:
    """to_json and back: an equal plan, the same text, the same digest, the same guarantee, the same integers."""
    plan = plan_for(mechanism)
    back = mu.Plan.from_json(plan.to_json())

    assert back == plan
    assert back.to_json() == plan.to_json()
    assert back.digest == plan.digest
    assert back.guarantees()["reader"].epsilon == plan.guarantees()["reader"].epsilon
    assert back.person.channel.integers() == plan.person.channel.integers()


def test_a_clear_plan_comes_back_from_json() -> None:
    """A plan without a mechanism is data too."""
    plan = mu.Plan(mu.Mean(mu.Integers(18, 99, column="age")))

    assert mu.Plan.from_json(plan.to_json()) == plan


def test_json_carries_the_integers_as_text() -> None:
    """No client computes an exponential, and none that reads numbers as doubles loses a digit."""
    held = json.loads(grr_plan().to_json())

    assert held["murmure"] == 1
    assert held["person"]["law"]["outside"] == str(grr_plan().person.channel.outside)


def test_the_digest_tells_plans_apart() -> None:
    """Epsilon, label, order of labels, column, mechanism or question: each changes the digest."""
    named = mu.Categories(["no", "yes"], column="smokes")
    plans = [
        grr_plan(),
        grr_plan(math.nextafter(1.0, 2.0)),
        grr_plan(domain=mu.Categories(["yes", "no"])),
        grr_plan(domain=mu.Categories(["no", "Yes"])),
        grr_plan(domain=mu.Categories(2)),
        grr_plan(domain=mu.Categories([False, True])),
        grr_plan(domain=mu.Categories([0, 1])),
        grr_plan(domain=named),
        mu.Plan(mu.Histogram(YES_NO), person=mu.OUE(YES_NO, 1.0)),
        mu.Plan(mu.Histogram(YES_NO), person=mu.Warner(YES_NO, epsilon=1.0)),
        mu.Plan(mu.Histogram(YES_NO)),
        grr_plan(domain=mu.Integers(0, 1)),
        mu.Plan(mu.Mean(mu.Integers(0, 1)), person=mu.GRR(mu.Integers(0, 1), 1.0)),
    ]

    assert len({plan.digest for plan in plans}) == len(plans)


def test_the_digest_is_the_same_in_another_process() -> None:
    """Whatever Python's hash seed, a plan has one digest: reports travel between machines."""
    code = (
        "import murmure as mu; d = mu.Categories(['no', 'yes']); "
        "print(mu.Plan(mu.Histogram(d), person=mu.GRR(d, 1.0)).digest)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert found == {grr_plan().digest}


@pytest.mark.parametrize(
    "labels", [[np.int64(1), np.int64(2)], [np.str_("a"), np.str_("b")], np.array([1, 2]), ["été", "hiver"], [1.5, 2.5]]
)
def test_labels_that_json_can_hold(labels: Any) -> None:
    """NumPy's numbers and text are written as numbers and text, and read back equal."""
    plan = mu.Plan(mu.Histogram(mu.Categories(labels)))

    assert mu.Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("labels", [[(1, 2), (3, 4)], [b"a", b"b"], [1 + 2j, 2j]], ids=["tuples", "bytes", "complex"])
def test_labels_that_json_cannot_hold_are_refused(labels: Any) -> None:
    """A plan that could not be read back is refused when it is written at the latest, with a MurmureError."""
    with pytest.raises(mu.MurmureError, match=r"(?i)label"):
        _ = mu.Plan(mu.Histogram(mu.Categories(labels))).digest


# ---- what a plan refuses


def needs_epsilon(kind: type) -> bool:
    """It has an epsilon, and no default for it: Warner's may be None, the unrelated question has none."""
    return any(f.name == "epsilon" and f.default is dataclasses.MISSING for f in dataclasses.fields(kind))


WITH_EPSILON = {type(m).__name__: m for m in EXAMPLES if needs_epsilon(type(m))}  # one example of each


def test_every_mechanism_with_an_epsilon_is_here() -> None:
    """The next test misses no mechanism: each public one that needs an epsilon is among the examples."""
    from murmure.catalogue import MECHANISMS, load

    assert len(WITH_EPSILON) > 10
    assert {name for name in MECHANISMS if needs_epsilon(load(name))} <= set(WITH_EPSILON)


@pytest.mark.parametrize(
    "epsilon", [0, -1, -1e-300, math.inf, -math.inf, math.nan, "1", None, True, False, [1.0], {}], ids=repr
)
@pytest.mark.parametrize("name", WITH_EPSILON)
def test_a_bad_epsilon_is_refused_by_name(name: str, epsilon: Any) -> None:
    """Zero, negative, infinite, NaN, text, nothing or a boolean: refused, naming class, epsilon and what was got."""
    with pytest.raises(
        InvalidParameter, match=rf"{name}\.epsilon must be a positive finite number.*, got .*\n  Hint: "
    ):
        dataclasses.replace(WITH_EPSILON[name], epsilon=epsilon)


@pytest.mark.parametrize("privacy", [mu.Central, mu.Secure])
@pytest.mark.parametrize("delta", [True, False, "1e-6", None, -1e-9, 1, 1.0, math.nan, math.inf, 1e-6 + 0j])
def test_a_delta_that_is_no_chance_is_refused_by_name(privacy: Any, delta: Any) -> None:
    """From 0 to just below 1, as a number: true and false are none."""
    with pytest.raises(InvalidParameter, match=r"Central\.delta must be at least 0 and below 1, got"):
        privacy(epsilon=1.0, delta=delta)

    assert [privacy(epsilon=1.0, delta=good).delta for good in (0, 1e-6, 0.5)] == [0, 1e-6, 0.5]


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "1", True])
def test_a_bad_epsilon_is_refused_by_warner(epsilon: Any) -> None:
    """None means two coins; anything else that is no budget is refused; RAPPOR's second budget likewise."""
    with pytest.raises(InvalidParameter, match=r"Warner\.epsilon must be a positive finite number, got"):
        mu.Warner(YES_NO, epsilon=epsilon)
    with pytest.raises(InvalidParameter, match=r"RAPPOR\.epsilon_once must be a positive finite number, got"):
        mu.RAPPOR(YES_NO, 4.0, epsilon)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mu.GRR(4, 1.0), r"GRR\.domain must be Categories, Integers, Interval, Decimals or Dates, got 4"),
        (lambda: mu.Duchi(YES_NO, 1.0), r"Duchi\.domain must be Integers, Interval or Dec.* got Cat.*\n  Hint: .*GRR"),
        (lambda: mu.Mean(YES_NO), r"Mean\.domain must be Integers, Interval or Decimals, got Categories"),
        (lambda: mu.Histogram("age"), r"Histogram\.domain must be Categories, .* or Dates, got 'age'"),
        (lambda: mu.Warner(mu.Categories(3)), r"Warner\.domain must hold two answers, got 3"),
        (lambda: mu.Warner(YES_NO, truth=1.0), r"Warner\.truth must lie strictly between 0 and 1, got 1\.0"),
        (lambda: mu.Warner(YES_NO, yes_coin=math.nan), r"Warner\.yes_coin must lie strictly between 0 and 1, got nan"),
        (lambda: mu.Warner(YES_NO, epsilon=1.0, truth=0.5), r"either an epsilon or two coins"),
        (lambda: mu.UnrelatedQuestion(YES_NO, truth=0.5, innocuous="x"), r"UnrelatedQuestion\.innocuous .* got 'x'"),
        (lambda: mu.RAPPOR(YES_NO, 1.0, 1.0), r"RAPPOR\.epsilon_once must be below epsilon = 1\.0, got 1\.0"),
        (lambda: mu.SubsetSelection(mu.Categories(4), 1.0, w=4), r"SubsetSelection\.w .* from 1 to 3, got 4"),
        (lambda: mu.SubsetSelection(mu.Categories(4), 1.0, w=True), r"SubsetSelection\.w .* got True"),
        (lambda: mu.BoundedStaircase(mu.Integers(0, 9), 1.0, gamma=0.5), r'gamma must be "absolute" or "variance"'),
        (lambda: mu.BoundedLaplace(mu.Integers(0, 9999), 1.0), r"BoundedLaplace\.domain must have at most 4096 values"),
        (lambda: mu.Plan(3), r"Plan\.statistic must be a statistic, got 3"),
        (lambda: mu.Plan(mu.Histogram), r"Plan\.statistic must be a statistic"),
        (lambda: mu.Plan(mu.Histogram(YES_NO), person=3), r"Plan\.person must be a mechanism, got 3"),
    ],
)
def test_a_bad_part_is_refused(make: Any, words: str) -> None:
    """Owner, name, what was wanted and what was got, before anybody is asked anything."""
    with pytest.raises(InvalidParameter, match=words):
        make()


@pytest.mark.parametrize("mechanism", BIASED, ids=repr)
def test_a_biased_mechanism_is_refused_with_the_reason(mechanism: Any) -> None:
    """Bounded reports lean to the middle: no plan takes them for a mean or a histogram, and the message says why."""
    for ask in (mu.Mean, mu.Histogram):
        with pytest.raises(
            PlanRefused, match=f"{type(mechanism).__name__} cannot answer {ask.__name__}: .*middle"
        ) as no:
            mu.Plan(ask(mechanism.domain), person=mechanism)
        assert "Hint:" in str(no.value)
    with pytest.raises(NoUnbiasedEstimate, match=r"no unbiased estimate: .*middle"):
        mechanism.estimate(np.zeros(mechanism.outputs, np.int64), 1)


def test_a_mean_does_not_answer_a_histogram() -> None:
    """Duchi's bit tells the mean and nothing else; the refusal says so."""
    domain = mu.Integers(0, 9)

    with pytest.raises(PlanRefused, match="Duchi cannot answer Histogram: its reports give a mean"):
        mu.Plan(mu.Histogram(domain), person=mu.Duchi(domain, 1.0))


def test_question_and_mechanism_share_a_domain() -> None:
    """Two domains, or one domain under two columns, are refused."""
    with pytest.raises(PlanRefused, match=r"asks about Categories\(3\), the mechanism randomises Categories\(4\)"):
        mu.Plan(mu.Histogram(mu.Categories(3)), person=mu.GRR(mu.Categories(4), 1.0))


def test_what_is_no_sharing_does_not_fill_the_parties_slot() -> None:
    with pytest.raises(InvalidParameter, match="how parties share"):
        mu.Plan(mu.Histogram(YES_NO), parties=object())


# ---- what a plan promises


def test_a_clear_plan_protects_nobody_and_says_so() -> None:
    """Without a mechanism both observers' epsilon is infinite, in words too; nothing is reported through it."""
    plan = mu.Plan(mu.Histogram(YES_NO))
    guarantees = plan.guarantees()

    assert [guarantees[who].epsilon for who in ("collector", "reader")] == [math.inf, math.inf]
    assert "no differential privacy" in str(guarantees["reader"])
    assert "no differential privacy" in repr(mu.run(plan, ["no", "yes"]))
    assert "no differential privacy" in mu.run(plan, ["no", "yes"])._repr_html_()
    with pytest.raises(PlanRefused, match="no mechanism at the person"):
        plan.report(["no"], mu.Random.seeded(1))


def test_a_local_plan_costs_both_observers_the_same() -> None:
    """Collector and reader see the same randomised answers: one certificate for both."""
    guarantees = grr_plan().guarantees()

    assert guarantees["collector"] == guarantees["reader"] == mu.certify(grr_plan().person)


def test_the_three_places_make_a_run() -> None:
    """report, tally and settle, one after the other, give what run gives from the same seed."""
    plan, answers = grr_plan(), ["no", "yes", "no"] * 100
    reports = plan.report(answers, mu.Random.seeded(5))
    release = plan.settle(plan.tally(reports), reports.seeded)
    together = mu.run(plan, answers, rng=mu.Random.seeded(5))

    assert len(reports) == 300
    assert release.estimate.mean.tolist() == together.estimate.mean.tolist()
    assert release.seeded and together.seeded
    assert release.plan == together.plan == plan.digest
    assert plan.estimate(reports).estimate.mean.tolist() == release.estimate.mean.tolist()


def test_nobody_is_not_settled() -> None:
    """A total of nobody has no shares."""
    with pytest.raises(PlanRefused, match="nobody was added up"):
        grr_plan().settle(Total(0, np.zeros(2, np.int64)))


def test_a_bad_row_stops_a_report() -> None:
    """A value outside the domain is an error before anything is randomised."""
    with pytest.raises(OutsideDomain, match="row 1 holds 'maybe'"):
        grr_plan().report(["no", "maybe"], mu.Random.secure())


# ---- reports of another plan, or of none


@pytest.mark.parametrize(
    ("mechanism", "reports"),
    [
        (mu.GRR(mu.Categories(4), 1.0), np.array([0, 4])),
        (mu.GRR(mu.Categories(4), 1.0), np.array([0, -1])),
        (mu.GRR(mu.Categories(4), 1.0), np.array([0.0, 1.0])),
        (mu.GRR(mu.Categories(4), 1.0), np.zeros((2, 2), int)),
        (mu.OUE(mu.Categories(4), 1.0), np.array([[16]], np.uint64)),
        (mu.OUE(mu.Categories(4), 1.0), np.array([[1]], np.int64)),
        (mu.OUE(mu.Categories(70), 1.0), np.array([[1]], np.uint64)),
        (mu.SubsetSelection(mu.Categories(4), 1.0, w=2), np.array([[0b0111]], np.uint64)),
        (mu.HadamardResponse(mu.Categories(4), 1.0), np.array([8])),
        (mu.OLH(mu.Categories(4), 1.0), np.array([[0, 0, 0, 4]], np.uint16)),
        (mu.OLH(mu.Categories(4), 1.0), np.array([[4, 0, 0, 0]], np.uint16)),
        (mu.OLH(mu.Categories(4), 1.0), np.array([[0, 4, 0, 0]], np.uint16)),
        (mu.OLH(mu.Categories(4), 1.0), np.array([[0, 0, 0, 0], [0, 0, 4, 0]], np.uint16)),
        (mu.OLH(mu.Categories(4), 1.0), np.array([[0, 0, 0]], np.uint16)),
        (mu.Duchi(mu.Integers(0, 9), 1.0), np.array([2])),
        (mu.Piecewise(mu.Integers(0, 9), 1.0), np.array([10**6])),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, np.ndarray) else str(value.tolist()),
)
def test_a_report_that_the_law_cannot_give_is_refused(mechanism: Any, reports: Any) -> None:
    """A tally counts only what its mechanism can have said: not other codes, shapes, types or sizes of sets."""
    with pytest.raises(InvalidParameter, match=rf"{type(mechanism).__name__}\.tally"):
        mechanism.tally(reports)


def test_reports_answer_one_plan() -> None:
    """Reports made for another epsilon are refused, naming both plans, with a way out."""
    reports = grr_plan(1.0).report(["no", "yes"], mu.Random.seeded(1))

    with pytest.raises(PlanMismatch, match=rf"answer plan {reports.plan[:12]}, not this plan .*\n  Hint: "):
        grr_plan(2.0).tally(reports)
    with pytest.raises(InvalidParameter, match="takes Reports, got 'ndarray'"):
        grr_plan().tally(np.array([0, 1]))


# ---- files


@pytest.mark.parametrize("mechanism", UNBIASED, ids=repr)
def test_reports_come_back_from_a_file(mechanism: Any, tmp_path: Path) -> None:
    """Saved and loaded: the same bytes and types, the same plan, the same mark; so the same release."""
    plan = plan_for(mechanism)
    values = mechanism.domain.numbers() if mechanism.domain.numbers() is not None else list(mechanism.domain.values)
    reports = plan.report(list(values) * 3, mu.Random.seeded(2))
    reports.save(tmp_path / "reports.npz")
    back = mu.Reports.load(tmp_path / "reports.npz")

    assert (back.plan, back.seeded, back.data.dtype) == (reports.plan, True, reports.data.dtype)
    assert np.array_equal(back.data, reports.data)
    assert plan.estimate(back).estimate.mean.tolist() == plan.estimate(reports).estimate.mean.tolist()


def test_a_file_keeps_the_name_it_was_given(tmp_path: Path) -> None:
    """`answers.bin` is `answers.bin`, text or path: no suffix is added behind the caller's back."""
    reports = grr_plan().report(["no"], mu.Random.seeded(1))
    reports.save(str(tmp_path / "answers.bin"))

    assert [p.name for p in tmp_path.iterdir()] == ["answers.bin"]
    assert len(mu.Reports.load(str(tmp_path / "answers.bin"))) == 1


@pytest.mark.parametrize("failing", ["savez", "fsync", "replace"])
@pytest.mark.parametrize("before", [False, True], ids=["new file", "file to be replaced"])
def test_a_failed_save_leaves_nothing_half_written(
    failing: str, before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disk full, killed or unplugged in the middle: the old file or none, and no .part beside it."""
    target = tmp_path / "reports.npz"
    reports = grr_plan().report(["no", "yes"] * 50, mu.Random.seeded(1))
    if before:
        target.write_bytes(b"the old file")

    def half(file: Any, **arrays: Any) -> None:
        file.write(b"PK\x03\x04 half a file")
        raise OSError(28, "No space left on device")

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*((np, "savez", half) if failing == "savez" else (os, failing, fail)))
    with pytest.raises((OSError, KeyboardInterrupt)):
        reports.save(target)

    assert [p.name for p in tmp_path.iterdir()] == (["reports.npz"] if before else [])
    assert not before or target.read_bytes() == b"the old file"


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    """Cut anywhere, a report file is refused with a MurmureError that names it and says why; never half read."""
    path = tmp_path / "reports.npz"
    grr_plan().report(["no", "yes"] * 500, mu.Random.seeded(1)).save(path)
    whole = path.read_bytes()
    for cut in [0, 1, 3, 4, 10, 100, len(whole) // 2, len(whole) - 100, len(whole) - 22, len(whole) - 1]:
        path.write_bytes(whole[:cut])
        with pytest.raises(InvalidParameter, match=r"reports\.npz' is not a report file .*\n  Hint: .*truncated"):
            mu.Reports.load(path)


def test_a_corrupt_file_is_refused(tmp_path: Path) -> None:
    """One byte changed in the reports is found by the checksum of the file, and refused."""
    path = tmp_path / "reports.npz"
    grr_plan().report(["no", "yes"] * 500, mu.Random.seeded(1)).save(path)
    whole = bytearray(path.read_bytes())
    at = whole.index(b"data.npy") + 300
    whole[at] ^= 0xFF
    path.write_bytes(whole)

    with pytest.raises(InvalidParameter, match=r"reports\.npz' is not a report file"):
        mu.Reports.load(path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A text, an array, another archive, a pickle, a folder and a missing file are no report files."""
    (tmp_path / "text").write_text("no, yes, no")
    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    np.savez(tmp_path / "pickle.npz", data=np.array([object()], object), plan=np.array("x"), seeded=np.array(True))
    for name in ("text", "array.npy", "other.npz", "pickle.npz", "."):
        with pytest.raises(InvalidParameter, match="is not a report file"):
            mu.Reports.load(tmp_path / name)
    with pytest.raises(InvalidParameter, match="there is no report file"):
        mu.Reports.load(tmp_path / "nowhere.npz")


def test_a_loaded_file_answers_its_own_plan_only(tmp_path: Path) -> None:
    """The digest travels in the file: estimating with another plan is refused."""
    path = tmp_path / "reports.npz"
    grr_plan(1.0).report(["no", "yes"], mu.Random.seeded(1)).save(path)

    with pytest.raises(PlanMismatch, match="answer plan"):
        grr_plan(0.5).estimate(mu.Reports.load(path))
    assert grr_plan(1.0).estimate(mu.Reports.load(path)).estimate.n == 2


def test_a_file_in_no_folder_is_refused(tmp_path: Path) -> None:
    """Saving where there is no folder raises and creates nothing."""
    with pytest.raises((mu.MurmureError, OSError)):
        grr_plan().report(["no"], mu.Random.seeded(1)).save(tmp_path / "no" / "such" / "file.npz")

    assert list(tmp_path.iterdir()) == []
