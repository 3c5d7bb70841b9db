"""Reports as they travel: one spelling each, read back as they were drawn, and refused where no law draws them."""

from __future__ import annotations

import json
import timeit
from typing import Any

import numpy as np
import pytest
from tests.vectors.make_browser import FILE, examples

import murmure as mu
from murmure.core.errors import (
    InvalidParameter,
    MurmureError,
    OutsideDomain,
    PlanMismatch,
    PlanRefused,
    UnsafeRandomness,
)
from murmure.core.schema import Schema
from murmure.laws.hashed import Hashed
from murmure.laws.records import Sampled
from murmure.laws.subset import Subset
from murmure.plan.sent_reports import answer, parse_reports, received, report_check, sent


def plans() -> dict[str, Any]:
    out = {}
    for name, person in examples():
        statistics = (mu.Marginals,) if isinstance(person.domain, Schema) else (mu.Histogram, mu.Mean)
        for statistic in statistics:
            try:
                out[name] = mu.Plan(statistic(person.domain), person=person)
                break
            except MurmureError:
                continue  # bounded numbers answer no statistic
    return out


PLANS = plans()
VECTORS = {one["name"]: one for one in json.loads(FILE.read_text(encoding="utf-8"))["plans"]}


def people(plan: Any, n: int = 60) -> Any:
    cases = VECTORS[next(name for name, other in PLANS.items() if other is plan)]["cases"]
    answers = [cases[i * 7 % len(cases)]["answers"] for i in range(n)]
    if not isinstance(plan.person.domain, Schema):
        return answers
    return {name: [one[name] for one in answers] for name in answers[0]}


def arrays(data: Any) -> list[Any]:
    if not hasattr(data, "parts"):
        return [data]
    return [*data.parts, *(data.rows or ())]


@pytest.mark.parametrize("name", PLANS)
def test_reports_come_back_as_they_were_drawn(name: str) -> None:
    plan = PLANS[name]
    reports = plan.report(people(plan), mu.Random.seeded(3))

    travelled = json.loads(json.dumps(sent(plan, reports)))
    back = received(plan, travelled)

    assert all(
        (a == b).all() and a.dtype == b.dtype for a, b in zip(arrays(reports.data), arrays(back.data), strict=True)
    )
    assert (plan.tally(back).sum == plan.tally(reports).sum).all()
    assert sent(plan, back) == travelled


@pytest.mark.parametrize("name", PLANS)
def test_the_vectors_of_browsers_are_reports_that_the_plan_reads(name: str) -> None:
    plan, vector = PLANS[name], VECTORS[name]
    assert plan.digest == vector["digest"]

    reports = [{"plan": plan.digest, "report": case["report"]} for case in vector["cases"]]

    assert plan.tally(received(plan, reports)).n == len(reports)


@pytest.mark.parametrize("name", PLANS)
def test_an_answer_is_one_report(name: str) -> None:
    plan = PLANS[name]

    report = answer(plan, VECTORS[name]["cases"][0]["answers"])

    assert report.keys() == {"plan", "report"} and report["plan"] == plan.digest
    assert len(received(plan, [report])) == 1


WRONG = {
    "GRR 1": [4, -1, 1.0, "1", True, None, [1]],
    "HadamardResponse 1": [8, -1, "0", None],
    "OUE 0": ["20", "1", "001", "0x", "1F", 3, None, " 1", "\u06611"],
    "OUE of 128": ["0" * 31, "0" * 33, "0" * 34, "G" * 32],
    "RAPPOR 0": ["08", "ff"],
    "SubsetSelection of 70": ["0" * 18, "f" * 18, "ff" * 8 + "40"],
    "OLH of 1000": ["0" * 44, "ffff" * 12, "0" * 48 + "00"],
    "SMP 0": [[None, None], [0, 0], [0], [0, None, None], [2, None], 0, None, {"smoker": 0}],
    "SMP 2": [[0, None, None], [0, 0, 0], [0, 3, None]],
    "SPL 0": [[0, None], [0, 3], [2, 0], []],
    "RSFD 4": [["00", "08"], ["04", "00"], ["00"], [None, "00"], [0, 0]],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_law_draws_is_refused(name: str) -> None:
    plan = PLANS[name]
    good = answer(plan, VECTORS[name]["cases"][0]["answers"])
    for report in WRONG[name]:
        with pytest.raises(InvalidParameter, match="not a report of the plan"):
            received(plan, [good, {"plan": plan.digest, "report": report}])


def test_what_is_not_a_report_is_refused() -> None:
    plan, other = PLANS["GRR 1"], PLANS["GRR 0"]
    for document in (
        None,
        1,
        "x",
        [],
        {},
        {"report": 1},
        {"plan": plan.digest},
        {"plan": plan.digest, "report": 1, "at": 2},
    ):
        with pytest.raises(InvalidParameter, match="an object with plan and report"):
            received(plan, [document])
    for digest in (other.digest, None, 7, plan.digest.upper()):
        with pytest.raises(PlanMismatch):
            received(plan, [{"plan": digest, "report": 1}])


def test_nobody_sends_nothing() -> None:
    assert len(received(PLANS["OUE 0"], [])) == len(received(PLANS["SMP 0"], [])) == 0


def test_an_answer_is_drawn_from_secure_words_only() -> None:
    with pytest.raises(UnsafeRandomness):
        answer(PLANS["GRR 1"], 1, mu.Random.seeded(1))


def test_answers_that_are_refused() -> None:
    domain = mu.Categories(["no", "yes"], outside="drop")
    dropping = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))
    clear = mu.Plan(mu.Histogram(mu.Categories(2)))

    with pytest.raises(OutsideDomain, match="leaves such rows out"):
        answer(dropping, "perhaps")
    with pytest.raises(InvalidParameter, match="smoker, region"):
        answer(PLANS["SMP 0"], "yes")
    with pytest.raises(PlanRefused):
        answer(clear, 1)


def test_columns_in_turn_follow_the_number() -> None:
    plan = PLANS["SMP 3"]

    shown = [answer(plan, {"a": 0, "b": 0, "c": 0}, number=number)["report"] for number in range(6)]

    assert [[entry is not None for entry in row].index(True) for row in shown] == [0, 1, 2, 0, 1, 2]


def test_a_forged_subset_cannot_hold_more_values_than_the_law() -> None:
    """The weight of a report is capped by its law."""
    plan = PLANS["SubsetSelection of 70"]
    forged = np.packbits(np.arange(72) < 21, bitorder="little").tobytes().hex()

    with pytest.raises(InvalidParameter, match="20 of 70 bits"):
        received(plan, [{"plan": plan.digest, "report": forged}])


# -- one definition of what a report is, written a second time and slowly ----------------------------------------------


def is_report(plan: Any, value: Any) -> bool:
    """From the docstring of the format: whole numbers, hexadecimal text, and lists with null where nothing is shown."""
    person = plan.person
    if not isinstance(person.domain, Schema):
        return is_cell(person, value)
    if not isinstance(value, list) or len(value) != len(person.parts):
        return False
    shown = [(part, cell) for part, cell in zip(person.parts, value, strict=True) if cell is not None]
    take = person.channel.draw.take if isinstance(person.channel, Sampled) else len(person.parts)
    return len(shown) == take and all(is_cell(getattr(part, "real", part), cell) for part, cell in shown)


def is_cell(part: Any, cell: Any) -> bool:
    law = part.channel
    if law.report_ndim == 0:
        return isinstance(cell, int) and not isinstance(cell, bool) and cell in range(len(law.outcomes()))
    if not isinstance(cell, str) or any(digit not in "0123456789abcdef" for digit in cell):
        return False
    if isinstance(law, Hashed):
        if len(cell) != 4 * (law.value_bits + 2):
            return False
        words = [int(cell[at + 2 : at + 4] + cell[at : at + 2], 16) for at in range(0, len(cell), 4)]
        return all(seed < 1 << law.seed_bits for seed in words[:-1]) and words[-1] < law.g
    if len(cell) != 2 * -(-law.inputs // 8):
        return False
    octets = [int(cell[at : at + 2], 16) for at in range(0, len(cell), 2)]
    bits = [v for v in range(8 * len(octets)) if octets[v // 8] >> v % 8 & 1]
    return all(v < law.inputs for v in bits) and (not isinstance(law, Subset) or len(bits) == law.size)


ODD = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    255,
    256,
    1 << 70,
    0.0,
    1.0,
    float("nan"),
    "",
    "0",
    "00",
    "é",
    "\n",
    [],
    [None],
    {},
)


def broken(value: Any, rng: np.random.Generator) -> Any:
    """A report with something changed, which may leave it a report."""
    if rng.random() < 0.1:
        return ODD[rng.integers(len(ODD))]
    if isinstance(value, list):
        out = list(value)
        place = int(rng.integers(len(out)))
        kind = rng.integers(4)
        if kind == 0:
            out[place] = broken(out[place], rng)
        elif kind == 1:
            out[place] = ODD[rng.integers(len(ODD))]
        elif kind == 2:
            del out[place]
        else:
            out.insert(place, out[int(rng.integers(len(out)))])
        return out
    if isinstance(value, str):
        letters = list(value)
        for _ in range(int(rng.integers(1, 4))):
            letters[int(rng.integers(len(letters)))] = "0123456789abcdefgF \n\u0661"[rng.integers(21)]
        return "".join(letters)[: len(letters) - (rng.random() < 0.1)] + "0" * (rng.random() < 0.1)
    return value + int(rng.integers(-3, 4)) if isinstance(value, int) else value


def accepts(work: Any, *arguments: Any) -> bool:
    try:
        work(*arguments)
    except InvalidParameter as error:
        assert "not a report of the plan" in str(error)
        return False
    return True


@pytest.mark.parametrize("name", PLANS)
def test_the_fast_check_accepts_exactly_the_reports(name: str) -> None:
    """Against the slow definition above, and what is accepted is what `received` reads; seeded."""
    plan, rng = PLANS[name], np.random.default_rng(7)
    check = report_check(plan)
    good = [document["report"] for document in sent(plan, plan.report(people(plan), mu.Random.seeded(3)))]
    values = [*ODD, *good, *(broken(good[i % len(good)], rng) for i in range(400))]

    wanted = [is_report(plan, value) for value in values]

    assert [accepts(check, value) for value in values] == wanted
    taken = [value for value, is_one in zip(values, wanted, strict=True) if is_one]
    documents = [{"plan": plan.digest, "report": value} for value in taken]
    assert sent(plan, parse_reports(plan, taken)) == documents == sent(plan, received(plan, documents))
    refused = [value for value, is_one in zip(values, wanted, strict=True) if not is_one]
    assert len(refused) > 20 and not any(
        accepts(received, plan, [{"plan": plan.digest, "report": value}]) for value in refused[:40]
    )


@pytest.mark.parametrize(("questions", "microseconds"), [(1, 3.0), (10, 10.0)])
def test_a_check_takes_microseconds(questions: int, microseconds: float) -> None:
    """The best of twenty, since other tests run beside this one."""
    domain = mu.Categories(5)
    schema = mu.Schema({f"q{i}": domain for i in range(questions)})
    one = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))
    ten = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, 5.0, oracle="GRR"))
    check, value = (report_check(one), 3) if questions == 1 else (report_check(ten), [3] * questions)

    best = min(timeit.repeat(lambda: check(value), number=500, repeat=20)) / 500

    assert best * 1e6 < microseconds
