"""Adds to what a browser must send: `python -m tests.vectors.make_browser` writes browser.json. What is written stays.

    plans     each example of each mechanism: its plan as text, answers, words, and the report that they give. Words
              come from a seed (`stream`), some of them replaced by words at a threshold of the law and one below.
    domains   what a domain makes of an answer: its code, or the kind of refusal.
    bad       plans and answers that must be refused, and the code of the refusal.
    memoised  a device's key, a question, and reports over time.
    coins     plans whose public coins the collector gives out: coins and secret words, and the report that they give;
              coins that are refused (`bad`), and reports that show other coins (`others`).

A comparison of bits reads 64 words, a plane each: `planes` puts one number into all comparisons of a coin.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import murmure as mu
from murmure import catalogue
from murmure.core.errors import MurmureError
from murmure.core.fixed import WORD
from murmure.core.random import GivenWords, Random
from murmure.core.schema import Schema
from murmure.laws.bits import BitsChannel, ChainedBits
from murmure.laws.cut import Cut
from murmure.laws.hadamard import Hadamard
from murmure.laws.hashed import Hashed
from murmure.laws.hidden_draw import FakeCode, FakeValue, FakeZeros, Hidden
from murmure.laws.records import Joint, Sampled
from murmure.laws.subset import Subset
from murmure.laws.table import TableChannel, alias_tables, shift_weights
from murmure.laws.tagged import Tagged
from murmure.laws.window import WindowChannel
from murmure.local.rappor import MemoisedClient
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.public_coins import coin_words, coins_in_hex
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import report_from, sent

FILE = Path(__file__).with_name("browser.json")
MASK = WORD - 1
GAMMA = 0x9E3779B97F4A7C15
MAIN_WORDS, DEEP_WORDS = 400, 800  # more than any of these laws uses
DEEP_SEED = 1_000_000  # added to the seed of the main words


# -- words -------------------------------------------------------------------------------------------------------------


def stream(seed: int, count: int) -> list[int]:
    """SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a few lines in any language, and nobody's answers depend on it."""
    z = np.uint64(seed * 0xD1342543DE82EF95 & MASK) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return [int(word) for word in z ^ (z >> np.uint64(31))]


@dataclass(frozen=True)
class Edit:
    """Words of one report that are not those of the stream."""

    main: dict[int, int] = field(default_factory=dict)
    planes: tuple[tuple[int, int, int, int], ...] = ()  # first main word, first deep word, words of a plane, number

    def moved(self, main: int, deep: int = 0) -> Edit:
        planes = tuple((at + main, deep_at + deep, width, value) for at, deep_at, width, value in self.planes)
        return Edit({at + main: word for at, word in self.main.items()}, planes)

    def also(self, other: Edit) -> Edit:
        return Edit(other.main | self.main, self.planes + other.planes)

    def apply(self, main: list[int], deep: list[int]) -> None:
        for at, deep_at, width, value in self.planes:
            for plane in range(64):
                words, start = (main, at + plane * width) if plane < 16 else (deep, deep_at + (plane - 16) * width)
                words[start : start + width] = [MASK if value >> (63 - plane) & 1 else 0] * width
        for place, word in self.main.items():
            main[place] = word


class GivenRandom(Random):
    """Hands out given words in the order in which a law reserves them."""

    def __init__(self, main: list[int], deep: list[int]) -> None:
        super().__init__(b"", seed=0)
        self.main, self.deep_words = main, deep
        self.used = [0, 0]

    def reserve(self, n: int, width: int, depth: int = 0) -> Any:
        assert n <= 1
        at, deep_at = self.used
        self.used = [at + n * width, deep_at + n * depth]
        assert self.used[0] <= len(self.main) and self.used[1] <= len(self.deep_words)
        rows = np.array(self.main[at : at + n * width], np.uint64).reshape(n, width)
        deep = np.array(self.deep_words[deep_at : deep_at + n * depth], np.uint64).reshape(n, depth)
        given = GivenWords(rows, deep)
        given.main, given.n = rows, n  # atleast_2d would make one row of none
        return given


# -- thresholds --------------------------------------------------------------------------------------------------------


def around(*numbers: int) -> list[int]:
    """Each number and the one below, as words."""
    return sorted({n % WORD for number in numbers for n in (number, number - 1)})


def words_at(place: int, words: list[int]) -> list[Edit]:
    return [Edit({place: word}) for word in words]


def window_words(law: WindowChannel) -> list[int]:
    ends = [law.body, law.body + law.outside, law.cut, law.cut + law.inside, law.inside, law.inside + 1, WORD]
    return [word for word in around(*ends) if 0 <= word < WORD]


def cut_words(cut: Cut) -> list[int]:
    if cut.size == 1:
        return [0, MASK]
    ends = [int(end) for end in cut.ends] if cut.counts is not None else [cut.step, (cut.size - 1) * cut.step]
    return around(*ends, WORD)


def start_of(cut: Cut, code: int) -> int:
    return sum(cut.count(v) for v in range(code)) if cut.counts is not None else code * cut.step


def coin_edits(at: int, deep_at: int, width: int, threshold: int) -> list[Edit]:
    return [Edit(planes=((at, deep_at, width, value),)) for value in around(threshold)]


def table_words(table: TableChannel, x: int, columns: Any = None) -> list[int]:
    threshold, _, log = alias_tables(table.weights[x : x + 1])
    out = set()
    for column in range(1 << log) if columns is None else columns:
        base = column << (64 - log)
        out |= {base + word for word in around(int(threshold[0, column])) if word < 1 << (64 - log)}
    return sorted(out)


def edits(law: Any, x: int) -> list[Edit]:
    """Words at the thresholds of a law of one answer."""
    if isinstance(law, WindowChannel):
        return words_at(0, window_words(law))
    if isinstance(law, TableChannel):
        return words_at(0, table_words(law, x))
    if isinstance(law, BitsChannel):
        return [*words_at(law.words - 1, around(law.yes_true)), *coin_edits(0, 0, law.width, law.yes_false)]
    if isinstance(law, ChainedBits):
        ones, zeros = law._instant_coins(law.permanent.words, law.permanent.deep)
        instant = [coin_edits(c.at, c.deep_at, c.width, c.threshold) for c in (ones, zeros)]
        # All kept bits are ones, then zeros, so that the coin of each is seen.
        kept = [Edit(planes=((0, 0, law.width, value),)) for value in (0, MASK)]
        return [*edits(law.permanent, x), *(edit.also(keep) for coin in instant for edit in coin for keep in kept)]
    if isinstance(law, Hashed):
        return words_at(law.words - 1, window_words(law.bins))
    if isinstance(law, Hadamard):
        tops = around(law.keep, law.keep + 1)
        return words_at(0, [(top << law.log_order) + y & MASK for top in tops for y in (0, law.order - 1)])
    if isinstance(law, Subset):
        j = law.inputs - law.size
        steps = around(-(-WORD // j), WORD)
        return [*words_at(0, around(law.keep)), *(Edit({0: MASK, 1: word}) for word in steps)]
    assert isinstance(law, Tagged), law
    parts = [(0, law.first), (MASK, law.second)]
    return [
        *words_at(0, around(law.coin)),
        *(edit.moved(1).also(Edit({0: tag})) for tag, part in parts for edit in edits(part, x)),
    ]


def record_edits(law: Any, x: list[int]) -> Iterator[tuple[Edit, int]]:
    """Words at the thresholds of a law of records, and the number of the person."""
    if isinstance(law, Joint):
        main = deep = 0
        in_strings = set()
        for members, string in law.strings:
            yield from ((edit, 0) for edit in coin_edits(main, deep, string.width, string.yes_false))
            main, deep = main + string.words, deep + string.deep
            for i in members:
                yield from ((edit, 0) for edit in words_at(main, around(law.parts[i].yes_true)))  # type: ignore[attr-defined]
                main += 1
                in_strings.add(i)
        for i, part in enumerate(law.parts):
            if i not in in_strings:
                yield from ((edit.moved(main, deep), 0) for edit in edits(part, x[i]))
                main, deep = main + part.words, deep + part.deep
    elif isinstance(law, Sampled):
        yield from sampled_edits(law, x)
    else:
        assert isinstance(law, Hidden), law
        yield from ((edit, 0) for edit in hidden_edits(law, x))


def sampled_edits(law: Sampled, x: list[int]) -> Iterator[tuple[Edit, int]]:
    if not law.draw.in_turn:
        yield from ((edit, 0) for edit in words_at(0, cut_words(law.draw.sets)))
    shown_sets = law.draw.turns() if law.draw.in_turn else list(law.draw.outcomes())
    for number, shown in enumerate(shown_sets):
        drawn = Edit() if law.draw.in_turn else Edit({0: start_of(law.draw.sets, number)})
        main, deep = 0 if law.draw.in_turn else 1, 0
        for i in shown:
            for edit in edits(law.parts[i], x[i]):
                yield edit.moved(main, deep).also(drawn), number
            main, deep = main + law.parts[i].words, deep + law.parts[i].deep


def hidden_edits(law: Hidden, x: list[int]) -> Iterator[Edit]:
    yield from words_at(0, cut_words(law.chances))
    tags = [Edit({0: start_of(law.chances, i)}) for i in range(len(law.parts))]
    main = 1
    for i, part in enumerate(law.parts):
        other = tags[(i + 1) % len(tags)]
        if isinstance(part, FakeCode):
            yield from (edit.moved(main).also(tags[i]) for edit in edits(part.real, x[i]))
            yield from (edit.also(other) for edit in words_at(main, cut_words(part.fake)))
        elif isinstance(part, FakeValue):
            yield from (
                edit.also(tag) for tag in (tags[i], other) for edit in words_at(main, around(part.real.yes_true))
            )
            yield from (edit.also(other) for edit in words_at(main + 1, cut_words(part.fake)))
        main += part.words
    if law.unary:
        coin = coin_edits(main, 0, law.string.width, law.string.yes_false)
        yield from (edit.also(tag) for tag in tags for edit in coin)
        main += law.string.words
    for i, part in enumerate(law.parts):
        if isinstance(part, FakeZeros):
            yield from (edit.also(tags[i]) for edit in words_at(main, around(part.real.yes_true)))


# -- plans -------------------------------------------------------------------------------------------------------------


def examples() -> Iterator[tuple[str, Any]]:
    """Every example of every mechanism that a person's device can run."""
    for table in (catalogue.MECHANISMS, catalogue.RECORDS):
        for name, module in table.items():
            listed = [e for e in importlib.import_module(module).EXAMPLES if type(e).__name__ == name]
            yield from ((f"{name} {place}", example) for place, example in enumerate(listed))
    yield from more_examples()


def more_examples() -> Iterator[tuple[str, Any]]:
    """Shapes that the examples do not have: many values, missing answers, strings of bits that share words."""
    survey = mu.Schema(
        {
            "smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value"),
            "âge": mu.Integers(18, 30),
            "region": mu.Column(mu.Categories(4), missing="constant", missing_value=0),
            "cost": mu.Decimals("0.5", "2.5", 1, rounding="nearest"),
            "weight": mu.Column(mu.Interval(0.0, 9.0), public=True),
        }
    )
    bits = mu.Schema({"a": mu.Categories(70), "b": mu.Categories(50), "c": mu.Categories(2)})
    yield "GRR of 1000", mu.GRR(mu.Categories(1000), 3.0)
    yield "OUE of 128", mu.OUE(mu.Categories(128), 1.0)
    yield "SubsetSelection of 70", mu.SubsetSelection(mu.Categories(70), 0.8, w=20)
    yield "OLH of 1000", mu.OLH(mu.Categories(1000), 5.0)
    yield "Duchi of decimals", mu.Duchi(mu.Decimals("-1.5", "2.5", 1), 1.0)
    yield "Window of a grid", mu.Window(mu.Interval(-1.0, 2.0, cells=31), 1.0)
    yield "SPL of a survey", mu.SPL(survey, 4.0)
    yield "SMP of hashes", mu.SMP(survey, 2.0, oracle=("OLH", "OLH", "HadamardResponse", "Piecewise"), sample=2)
    yield "RSFD of bits", mu.RSFD(bits, 2.0, oracle=("OUE-z", "OUE-r", "GRR"))
    yield "SPL of bits", mu.SPL(bits, 3.0, oracle="OUE")
    visit = mu.Schema(
        {
            "day": mu.Column(mu.Dates("2024-02-28", "2024-03-02"), missing="constant", missing_value="2024-02-29"),
            "week": mu.Dates("2020-W52", "2021-W02", unit="week"),
            "month": mu.Dates("2023-11", "2024-02", unit="month", outside="clamp"),
            "year": mu.Dates("1969", "1971", unit="year"),
        }
    )
    yield "GRR of a year of days", mu.GRR(mu.Dates("2024-01-01", "2024-12-31"), 4.0)
    yield "OLH of weeks", mu.OLH(mu.Dates("2020-W01", "2021-W52", unit="week"), 2.0)
    yield "SPL of dates", mu.SPL(visit, 4.0)
    yield "GRR of a die", mu.GRR(mu.Categories(["no", "yes"]), truth=Fraction(4, 6))
    yield "GRR of a bag", mu.GRR(mu.Categories(7), truth=Fraction(1, 10))
    yield "GRR of a device for months", mu.GRR(mu.Dates("2024-01", "2024-12", unit="month"), truth=Fraction(1, 3))
    yield "GRR of a truth as a float", mu.GRR(mu.Integers(0, 4), truth=0.7)
    # Two attributes of exactly one word each: one string for both would save none, so each has its own.
    full = mu.Schema({"a": mu.Categories(64), "b": mu.Categories(64)})
    yield "SPL of full words", mu.SPL(full, 2.0, oracle="OUE")


def document_of(person: Any) -> tuple[str, str]:
    """The plan's text and digest. Bounded numbers answer no statistic, and get a plan all the same."""
    schema = isinstance(person.domain, Schema)
    for statistic in (mu.Marginals,) if schema else (mu.Histogram, mu.Mean):
        try:
            plan = mu.Plan(statistic(person.domain), person=person)
            return plan.to_json(), plan.digest
        except MurmureError:
            continue
    values = {
        "murmure": 1,
        "statistic": part_to_dict(mu.Mean(person.domain)),
        "person": {**part_to_dict(person), "law": person.channel.integers()},
        "parties": None,
        "curator": None,
    }
    compact = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False), hashlib.sha256(
        compact.encode()
    ).hexdigest()


def answer_of(domain: Any, code: int) -> Any:
    """What somebody enters for this code."""
    if isinstance(domain, mu.Categories):
        return code if isinstance(domain.values, int) else domain.values[code]
    return float(domain.label(code)) if not isinstance(domain, mu.Integers) else domain.low + code


def few_codes(size: int) -> list[int]:
    return sorted({0, 1, size // 2, size - 1})


def cases(person: Any) -> list[dict[str, Any]]:
    schema = isinstance(person.domain, Schema)
    out: list[dict[str, Any]] = []

    def add(x: list[int], edit: Edit, number: int = 0) -> None:
        domains = [person.domain[name] for name in person.columns] if schema else [person.domain]
        values = [answer_of(domain, code) for domain, code in zip(domains, x, strict=True)]
        answers = dict(zip(person.columns, values, strict=True)) if schema else values[0]
        seed = len(out) + 1
        main, deep, report = replay(person, answers, seed, edit, number)
        case = {"answers": answers, "seed": seed, "words": [main, deep], "report": report}
        if edit.main:
            case["main"] = {str(at): f"{word:016x}" for at, word in sorted(edit.main.items())}
        if edit.planes:
            case["planes"] = [[at, deep_at, width, f"{value:016x}"] for at, deep_at, width, value in edit.planes]
        if number:
            case["number"] = number
        out.append(case)

    if schema:
        sizes = [person.domain[name].size for name in person.columns]
        for place in range(4):
            x = [few_codes(size)[place % len(few_codes(size))] for size in sizes]
            add(x, Edit())
            for edit, number in record_edits(person.channel, x) if place in (1, 2) else ():
                add(x, edit, number)
        for place in range(max(sizes)) if '"g"' in json.dumps(person.channel.integers()) else ():
            x = [min(place, size - 1) for size in sizes]  # every row of a table has thresholds of its own
            for edit, number in record_edits(person.channel, x):
                add(x, edit, number)
        return out
    for x in few_codes(person.domain.size):
        add([x], Edit())
    for x, edit in single_edits(person.channel):
        add([x], edit)
    return out


def single_edits(law: Any) -> Iterator[tuple[int, Edit]]:
    rows = range(law.inputs) if isinstance(law, TableChannel) and law.inputs <= 12 else few_codes(law.inputs)
    for x in rows:
        if isinstance(law, TableChannel) and law.inputs > 12:
            yield from ((x, edit) for edit in words_at(0, table_words(law, x, few_codes(law.outputs))))
        else:
            yield from ((x, edit) for edit in edits(law, x))
    if isinstance(law, TableChannel) and "g" in law.rule:
        yield from shift_edits(law)


def shift_mutants(law: TableChannel) -> Iterator[tuple[str, int, int, Any]]:
    """Every integer of a shifted table moved by one, and the weights that it would have."""
    g, r, shift = [int(v) for v in law.rule["g"]], [int(v) for v in law.rule["r"]], law.rule["shift"]
    for name, numbers in (("g", g), ("r", r)):
        for place, number in enumerate(numbers):
            for by in (-1, 1):
                if 1 <= number + by < WORD:
                    moved = numbers.copy()
                    moved[place] += by
                    weights = shift_weights(moved, r, shift) if name == "g" else shift_weights(g, moved, shift)
                    yield name, place, by, weights


def shift_edits(law: TableChannel) -> Iterator[tuple[int, Edit]]:
    """For every integer moved by one a word whose report tells, where any does: most units vanish in the flooring."""
    for *_, weights in shift_mutants(law):
        for x in np.flatnonzero((weights != law.weights).any(axis=1)):
            threshold, alias, log = alias_tables(law.weights[x : x + 1])
            other, other_alias, _ = alias_tables(weights[x : x + 1])
            column = int(np.argmax((threshold != other).ravel() | (alias != other_alias).ravel()))
            ends = int(threshold[0, column]), int(other[0, column])
            yield int(x), Edit({0: (column << (64 - log)) + min(min(ends), (1 << (64 - log)) - 1)})
            break


def replay(person: Any, answers: Any, seed: int, edit: Edit, number: int = 0) -> tuple[int, int, Any]:
    """How many words the report uses, and the report."""
    main, deep = stream(seed, MAIN_WORDS), stream(seed + DEEP_SEED, DEEP_WORDS)
    edit.apply(main, deep)
    rng = GivenRandom(main, deep)
    if isinstance(person.domain, Schema):
        data = person.report({name: [value] for name, value in answers.items()}, rng, number)
    else:
        data = person.report([answers], rng)
    plan: Any = type("AnyPlan", (), {"person": person})()  # `sent` reads no more of a plan
    return (*rng.used, sent(plan, Reports(data, "", seeded=True))[0]["report"])


def plan_vectors() -> list[dict[str, Any]]:
    out = []
    for name, person in examples():
        text, digest = document_of(person)
        out.append({"name": name, "text": text, "digest": digest, "cases": cases(person)})
    return out


# -- domains -----------------------------------------------------------------------------------------------------------

ANSWERS: tuple[Any, ...] = (
    None, "", "nan", " NaN ", True, False, "true", "False", 0, 1, 2, 3, -1, 0.5, 1.5, 2.5, 0.1, 0.3, 1e300, "inf",
    "-Infinity", "1", " 1 ", "01", "1.0", "1e0", "+1", "-0", "\u00a01", "0x1", "1_0", "yes", "no", "Yes", "yes ",
    "perhaps", "l'été", "missing", 2.0000000000000004, 1.9999999999999998, 0.30000000000000004, 0.29999999999999999,
    0.1 + 0.7, 3.3000000000000003, 4.35, 0.15, 0.25, 0.35, 0.45, 1.005, 2.675, -0.05, -1.25, -1.5,
    9.999999999999999, 10, 10.000000000000002, 10.1, 12, 17, 18, 99, 100, 100000000000000.5, 100000000000001.5,
    9007199254740993, 1e15, "0.1", "0.30", "10.0000000000000001", "2.50", "\u0663", "1,5", [1], {"a": 1},
)  # fmt: skip


# What forms give for dates (date, month, week, datetime-local, a year), the ends of months, leap years and ISO years,
# and what is no date.
DATES = (
    "2024-03-05", " 2024-03-05\n", "2024-03-05T10:20", "2024-03-05 23:59:59", "2024-03-05T00:30:00.123+02:00",
    "2024-03-05T23:30:00Z", "2024-03-05T10:20-0330", "2024-03-05T24:00", "2024-03-05T10", "2024-03-05T10:60",
    "2024-03-05t10:20", "\x1a2024-03-05", "\x1a\x1a2024-03-05", "\x1a 2024-03-05",
    "\u00a02024-03-05", "NaT", " nat ", "\x1anat", "natal", "a nat",
    "2024-02-28", "2024-02-29", "2024-02-30", "2024-03-01", "2023-02-28", "2023-02-29", "2000-02-29", "1900-02-29",
    "2100-02-29",
    "2024-04-31", "2024-06-30", "2024-13-01", "2024-00-10", "2024-12-00", "2024-12-32", "2024-01-01", "2024-12-31",
    "2023-12-31", "2025-01-01", "2019-12-29", "2019-12-30", "2019-12-31", "2020-01-05", "2020-01-06", "2020-12-27",
    "2020-12-28", "2020-12-31", "2021-01-01", "2021-01-03", "2021-01-04", "2015-12-31", "2016-01-01", "1970-01-01",
    "1969-12-31", "1969-12-29", "1969-12-28", "1600-01-01", "0001-01-01", "0000-12-31", "0024-03-05", "9999-12-31",
    "10000-01-01", "12024-03-05", "-2024-03-05", "+2024-03-05", "2024-3-5", "24-03-05", "20240305", "2024/03/05",
    "05/03/2024", "5 March 2024", "2024-W10", "2024-W01", "2024-W52", "2024-W53", "2020-W52", "2020-W53", "2021-W53",
    "2015-W53", "2026-W53", "2020-W54", "2024-W00", "2024-W1", "2024-w10", "2024W10", "2024-W10-2", "0001-W01",
    "0000-W52", "9999-W52", "9999-W53", "2024-03", "2024-01", "2024-12", "2023-12", "2025-01", "2024-00", "2024-13",
    "2024-3",
    "1969-12", "0001-01", "9999-12", "2024-03-", "2024", " 2024 ", "2023", "2025", "1969", "0001", "0000", "9999",
    "10000", "24",
    "2024.0", "2.024e3", "2024.5", "+2024", "\u0662\u0660\u0662\u0664", "2024-\u0660\u0663-05", 2024, 2024.0, 2024.5,
    2023, 2025, 2024.0000000000002, 2023.9999999999998, 2024.000001, 0, 1, 9999, 10000, -2024, 1709596800, 19787,
)  # fmt: skip


def domains() -> list[Any]:
    return [
        mu.Categories(["no", "yes", "l'été"]),
        mu.Categories([False, True]),
        mu.Categories([0, 1, 2.5, "yes"], absent="yes"),
        mu.Categories(3),
        mu.Categories(["1", "true!", "perhaps"], outside="drop"),
        mu.Integers(0, 10),
        mu.Integers(-2, 99, absent=7),
        mu.Integers(0, 10, outside="clamp"),
        mu.Integers(-100000000000000, -99999999999990, outside="clamp"),
        mu.Interval(0.0, 10.0, cells=100),
        mu.Interval(-1.5, 9.0, cells=7, outside="clamp"),
        mu.Interval(0.1, 0.7, cells=6),
        mu.Decimals(0, 10, 1),
        mu.Decimals("-1.5", "2.5", 2, rounding="nearest"),
        mu.Decimals("0.5", "100.5", 1, outside="clamp"),
        mu.Decimals(-1, 10, 0, rounding="nearest", outside="clamp"),
        mu.Dates("2024-01-01", "2024-12-31"),
        mu.Dates("1969-12-28", "2100-03-01", outside="clamp"),
        mu.Dates("0001-01-01", "9999-12-31", absent="2024-02-29"),
        mu.Dates("2020-W52", "2021-W01", unit="week"),
        mu.Dates("0001-W01", "9999-W52", unit="week", outside="drop"),
        mu.Dates("2015-12-31", "2024-W10", unit="week", absent="2020-W53", outside="clamp"),
        mu.Dates("2023-12", "2024-12", unit="month"),
        mu.Dates("0001-01", "9999-12", unit="month", absent="1969-12"),
        mu.Dates("1969-11", "2024-02", unit="month", outside="clamp"),
        mu.Dates("2023", "2024", unit="year"),
        mu.Dates("0001", "9999", unit="year", outside="drop"),
        mu.Dates("1969", "2023", unit="year", absent="1970", outside="clamp"),
    ]


def grid_answers(domain: Any) -> list[Any]:
    """Numbers at the edges of cells and next to them, as a computation leaves them."""
    if isinstance(domain, mu.Categories):
        return []
    low, step, _ = (float(v) for v in domain.scale())
    edges = [
        low + step * (i + half) for i in range(0, domain.size, max(1, domain.size // 12)) for half in (-0.5, 0, 0.5)
    ]
    return [float(v) for edge in edges for v in (edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf))]


def code_of(domain: Any, answer: Any) -> Any:
    try:
        codes = domain.encode([answer])
    except MurmureError:
        return "missing" if domain.parse([answer]).missing is not None else "outside"
    return int(codes[0]) if len(codes) else "outside"


def domain_vectors() -> list[dict[str, Any]]:
    out = []
    for domain in domains():
        answers = [*ANSWERS, *(DATES if isinstance(domain, mu.Dates) else grid_answers(domain))]
        out.append({"domain": domain.to_dict(), "answers": answers, "codes": [code_of(domain, a) for a in answers]})
    return out


# -- what must be refused ----------------------------------------------------------------------------------------------


def bad_vectors() -> list[dict[str, Any]]:
    four, age, spring = mu.Categories(4), mu.Integers(18, 99), mu.Dates("2024-03-20", "2024-06-20")
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "region": mu.Categories(3)})
    base = {
        "GRR": mu.Plan(mu.Histogram(four), person=mu.GRR(four, 1.0)),
        "OUE": mu.Plan(mu.Histogram(four), person=mu.OUE(four, 1.0)),
        "OLH": mu.Plan(mu.Histogram(age), person=mu.OLH(age, 1.0)),
        "Hadamard": mu.Plan(mu.Histogram(four), person=mu.HadamardResponse(four, 1.0)),
        "Subset": mu.Plan(mu.Histogram(four), person=mu.SubsetSelection(four, 1.0)),
        "Warner": mu.Plan(mu.Histogram(mu.Categories(2)), person=mu.Warner(mu.Categories(2))),
        "Duchi": mu.Plan(mu.Mean(age), person=mu.Duchi(age, 1.0)),
        "SMP": mu.Plan(mu.Marginals(schema), person=mu.SMP(schema, 1.0, weights=(2.0, 1.0))),
        "turns": mu.Plan(mu.Marginals(schema), person=mu.SMP(schema, 1.0, draw="round-robin")),
        "RSFD": mu.Plan(mu.Marginals(schema), person=mu.RSFD(schema, 1.0)),
        "Dates": mu.Plan(mu.Histogram(spring), person=mu.GRR(spring, truth=Fraction(1, 2))),
    }
    texts = {name: plan.to_json() for name, plan in base.items()}
    out: list[dict[str, Any]] = []

    def bad(name: str, code: str, of: str = "GRR", text: str | None = None, **changes: Any) -> None:
        values = copy.deepcopy(json.loads(texts[of]))
        for path, value in changes.items():
            *way, last = path.split("__")
            at = values
            for step in way:
                at = at[int(step)] if isinstance(at, list) else at[step]
            if value is ...:
                del at[last]
            else:
                at[int(last) if isinstance(at, list) else last] = value
        written = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False) if text is None else text
        out.append({"name": name, "text": written, "code": code})

    def both(domain: Any) -> dict[str, Any]:
        return {"person__domain": domain, "statistic__domain": domain}

    def answers(name: str, code: str, given: Any, of: str = "GRR", **options: Any) -> None:
        out.append({"name": name, "text": texts[of], "answers": given, "options": options, "code": code})

    bad("not JSON", "not-a-plan", text="{murmure: 1}")
    bad("empty", "not-a-plan", text="")
    bad("a list", "not-a-plan", text="[]")
    bad("cut short", "not-a-plan", text=texts["GRR"][:200])
    bad("no version", "not-a-plan", murmure=...)
    for version in (2, 0, "1", True, None, 1.5):
        bad(f"version {version!r}", "version", murmure=version)
    bad("an unknown slot", "slots", colour="red")
    bad("a slot of every object", "slots", text=texts["GRR"].replace('"murmure"', '"__proto__": {}, "murmure"'))
    bad("no person", "no-person", person=None)
    bad("a curator", "curator", curator={"type": "DiscreteLaplace"})
    bad("parties", "curator", parties={"type": "PairwiseMasks"})
    bad("a relation", "curator", relation="replace")
    bad("missing numbers left out", "curator", missing="left out")
    for mechanism in ("GRS", "constructor", ["GRR"], None, 1):
        bad(f"mechanism {mechanism!r}", "mechanism", person__type=mechanism)
    bad("mechanism as text", "mechanism", person="GRR")
    bad("an unknown statistic", "statistic", statistic__type="Median")
    bad("a curator's statistic", "statistic", statistic__type="Count")
    bad("no statistic", "statistic", statistic=...)
    bad("weights", "weights", of="SMP", statistic__weights="weight")
    bad("another law", "law", person__law__law="bits")
    bad("an unknown law", "law", person__law__law="windows")
    bad("a law of every object", "law", person__law__law="toString")
    bad("no law", "law", person__law=...)
    bad("a law as text", "law", person__law="window")
    bad("another law of records", "law", of="SMP", person__law__law="joint")
    bad("an unknown part of records", "law", of="SMP", person__law__parts__0__law="joint")
    bad("an unknown fake", "law", of="RSFD", person__law__parts__0__kind="fake")
    two = json.loads(texts["GRR"])["person"]["domain"] | {"values": 2}
    bad("two domains", "two-domains", person__domain=two)
    bad("an unknown domain", "domain", **both({"type": "Words"}))
    bad("a domain of one", "domain", **both(two | {"values": 1}))
    bad("a label twice", "domain", **both(two | {"values": ["a", "b", "a", "c"]}))
    bad("labels that mean the same", "domain", **both(two | {"values": ["1", 1, "b", "c"]}))
    bad("a label that means nothing", "domain", **both(two | {"values": ["a", None, "b", "c"]}))
    bad("a field too many", "domain", **both(two | {"colour": "red"}))
    bad("an unknown rule", "domain", **both(two | {"outside": "guess"}))
    bad("labels clamped", "domain", **both(two | {"outside": "clamp"}))
    months = mu.Dates("2023-12", "2024-03", unit="month").to_dict()
    for name, change in {
        "another unit": {"unit": "quarter"},
        "a unit of every object": {"unit": "constructor"},
        "no unit": {"unit": None},
        "ends of another unit": {"unit": "day"},
        "an end with a day": {"first": "2023-12-31"},
        "an end with blanks": {"first": " 2023-12"},
        "an end that is no month": {"last": "2024-13"},
        "an end as a number": {"first": 2023},
        "an end that is missing": {"last": None},
        "ends reversed": {"first": "2024-04"},
        "ends that are one": {"first": "2024-03"},
        "an absent date outside": {"absent": "2024-04"},
        "an absent date that is none": {"absent": "never"},
    }.items():
        bad(f"dates: {name}", "domain", **both(months | change))
    bad("dates: ends that suit no law", "integers", **both(months | {"last": "2024-04"}))
    bad("an absent label that is none", "domain", **both(two | {"values": 4, "absent": 4}))
    reversed_bounds = {"type": "Integers", "low": 9, "high": 3, "column": None}
    bad("bounds reversed", "domain", **both(reversed_bounds))
    bad("a schema for one question", "domain", **both(json.loads(texts["SMP"])["person"]["domain"]))
    bad("one question for records", "domain", of="SMP", **both(two))
    bad("bounds read off the data", "from-data", of="SMP", **{
        f"{slot}__domain__columns__region__from_data": True for slot in ("person", "statistic")
    })  # fmt: skip
    bad("an unknown rule for missing answers", "domain", of="SMP", **{
        f"{slot}__domain__columns__region__missing": "guess" for slot in ("person", "statistic")
    })  # fmt: skip
    bad("another order", "domain", of="SMP", **{
        f"{slot}__domain__order": ["region", "region"] for slot in ("person", "statistic")
    })  # fmt: skip
    outside = json.loads(texts["GRR"])["person"]["law"]["outside"]
    texts_of_it = [f"-{outside}", f" {outside}", f"0{outside}"]
    for number in (int(outside), float(outside), [outside], *texts_of_it, "0", "1e3", "0x10", None, "", str(WORD - 1)):
        bad(f"outside {number!r}", "integers", person__law__outside=number)
    bad("an integer left out", "integers", person__law__outside=...)
    bad("an integer too many", "integers", person__law__inside="1")
    bad("a window of all", "integers", person__law__length=4)
    bad("half a step", "integers", person__law__step=0.5)
    bad("a bit that is certain", "integers", of="OUE", person__law__yes_true=str(WORD))
    bad("a bit that never comes", "integers", of="OUE", person__law__yes_false="0")
    bad("seeds of other bins", "integers", of="OLH", person__law__seed_bits=15)
    bad("bins that slide", "integers", of="OLH", person__law__bins__shift=1)
    bad("another order of a matrix", "integers", of="Hadamard", person__law__order=16)
    bad("a certain half", "integers", of="Hadamard", person__law__keep=str(1 << 61))
    bad("a subset of all", "integers", of="Subset", person__law__size=4)
    bad("a row that sums to more", "integers", of="Warner", person__law__rows__0__0=str(3 * WORD // 4 + 1))
    bad("a row too few", "integers", of="Warner", person__law__rows=[["1", "2"]])
    bad("a line that leaves the range", "integers", of="Duchi", person__law__step=str(WORD // 4))
    bad("chances that sum to less", "integers", of="SMP", person__law__draw__cut__counts__0="5")
    bad("a column too few", "integers", of="SMP", person__law__parts=[])
    bad("more columns than there are", "integers", of="SMP", person__law__draw__take=3)
    bad("turns as a number", "integers", of="SMP", person__law__draw__in_turn=1)
    bad("a fake that is another code", "integers", of="RSFD", person__law__parts__0__fake__size=3)
    answers("no answer", "missing", None)
    answers("an empty answer", "missing", "")
    answers("a number outside", "outside", 4)
    answers("half a number", "outside", 1.5)
    answers("a word", "outside", "yes")
    answers("a list of answers", "outside", [1])
    answers("no date", "missing", "", of="Dates")
    answers("a date outside", "outside", "2024-06-21", of="Dates")
    answers("a date that does not exist", "outside", "2024-04-31", of="Dates")
    answers("a date as elsewhere", "outside", "04/05/2024", of="Dates")
    answers("a month for a day", "outside", "2024-04", of="Dates")
    answers("a year for a day", "outside", 2024, of="Dates")
    answers("an answer for several", "answers", "yes", of="SMP")
    answers("answers as a list", "answers", ["yes", 1], of="SMP")
    answers("a column left out", "answers", {"smoker": "yes"}, of="SMP")
    answers("a column too many", "answers", {"smoker": "yes", "region": 1, "pay": 3}, of="SMP")
    answers("a missing answer of several", "missing", {"smoker": None, "region": 1}, of="SMP")
    answers("a wrong answer of several", "outside", {"smoker": "yes", "region": 3}, of="SMP")
    answers("turns without a number", "number", {"smoker": "yes", "region": 1}, of="turns")
    answers("half a person", "number", {"smoker": "yes", "region": 1}, of="turns", number=0.5)
    answers("coins as numbers", "coins", 1, of="GRR", coins=[1])
    answers("coins as short texts", "coins", 1, of="GRR", coins=["00"])
    answers("too few coins", "coins", 18, of="OLH", coins=["0" * 16])
    answers("too many coins", "coins", 1, of="GRR", coins=["0" * 16])
    bad("coins that the person draws, written", "public-coins", of="OLH", coins="person")
    bad("coins that are null", "public-coins", of="OLH", coins=None)
    bad("coins as a list", "public-coins", of="SMP", coins=["collector"])
    bad("coins where there are none", "public-coins", coins="collector")
    bad("coins of bits", "public-coins", of="OUE", coins="collector")
    bad("coins of a hidden draw", "public-coins", of="RSFD", coins="collector")
    bad("coins of turns", "public-coins", of="turns", coins="collector")
    return out


# -- over time ---------------------------------------------------------------------------------------------------------


def memoised_vectors() -> list[dict[str, Any]]:
    domains_over_time = [
        mu.Categories(["no", "l'été", 'a "quoted" \\ label', "\U0001f600"], column="smoker"),
        mu.Categories([0.5, 1, False, "\x7f\n"]),
        mu.Categories(70),
        mu.Interval(-1.0, 1e16, cells=5),
        mu.Decimals("0.5", "2.5", 1, absent="0.5", outside="clamp"),
        mu.Dates("2020-12-20", "2021-01-10", unit="week", column="visité", absent="2020-W53", outside="clamp"),
    ]
    out = []
    for place, domain in enumerate(domains_over_time):
        person = mu.RAPPOR(domain, 4.0, 1.0)
        plan = mu.Plan(mu.Histogram(domain), person=person)
        key, question = bytes(range(place, place + 16 + 20 * place)), f"Avez-vous fumé ? {place}"
        reports = []
        for x in few_codes(domain.size):
            for wave in range(2):
                seed = 100 * place + 10 * x + wave
                rng = GivenRandom(stream(seed, MAIN_WORDS), stream(seed + DEEP_SEED, DEEP_WORDS))
                client = MemoisedClient(person, key, question, rng, domain.size)
                data = client.report(answer_of(domain, x))
                report = sent(plan, Reports(data, plan.digest, seeded=True))[0]["report"]
                reports.append({"answer": answer_of(domain, x), "seed": seed, "words": rng.used, "report": report})
        out.append({"text": plan.to_json(), "key": key.hex(), "question": question, "reports": reports})
    return out


# -- coins that a collector gave out -----------------------------------------------------------------------------------


COIN_SEED = 2_000_000  # added to the seed of the secret words


def coined_plans() -> dict[str, mu.Plan[Any]]:
    many, nine = mu.Categories(1000), mu.Categories(9)
    schema = mu.Schema({"a": mu.Categories(5), "b": mu.Categories(40), "c": mu.Categories(70)})
    persons = {
        "SMP": mu.SMP(schema, 1.0, oracle="GRR"),
        "SMP with weights": mu.SMP(schema, 1.0, oracle=("OLH", "GRR", "OLH"), weights=(5.0, 1.0, 2.0)),
        "SMP of two": mu.SMP(schema, 2.0, oracle=("GRR", "OLH", "BLH"), sample=2),
        "SMP in turn": mu.SMP(schema, 2.0, oracle="OLH", draw="round-robin"),
        "SPL": mu.SPL(schema, 9.0, oracle=("OUE", "OLH", "OUE")),
        "ADP": mu.ADP(schema, 1.0),
    }
    return {
        "OLH": mu.Plan(mu.Histogram(many), person=mu.OLH(many, 5.0), coins="collector"),
        "BLH": mu.Plan(mu.Histogram(nine), person=mu.BLH(nine, 1.0), coins="collector"),
        **{name: mu.Plan(mu.Marginals(schema), person=p, coins="collector") for name, p in persons.items()},
    }


def coins_vectors() -> list[dict[str, Any]]:
    return [coins_vector(name, plan) for name, plan in coined_plans().items()]


def coins_vector(name: str, plan: mu.Plan[Any]) -> dict[str, Any]:
    answers = {"a": 4, "b": 20, "c": 69} if plan.of_records else 8
    law, cases = plan.person.channel, []
    in_turn = isinstance(law, Sampled) and law.draw.in_turn
    first = cut_words(law.draw.sets) if isinstance(law, Sampled) and not in_turn else []
    for seed in range(1, 7 + len(first)):
        number, words = seed if in_turn else 0, stream(seed + COIN_SEED, 50)
        words[:1] = first[seed - 1 : seed] or words[:1]  # a draw at each end of a run
        coins = coins_in_hex(coin_words(plan, iter(words), number))
        case = {"answers": answers, "coins": coins, "seed": seed, **({"number": number} if number else {})}
        cases.append(case | dict(zip(("words", "report"), replay_coins(plan, case), strict=True)))
    honest = cases[0]["coins"]
    bad = {
        "one word too few": honest[:-1],
        "one word too many": [*honest, "0" * 16],
        "no words": [],
        "nothing": None,
        "a text": honest[0],
        "numbers": [0] * len(honest),
        "short words": ["0" * 15] * len(honest),
        "capital letters": ["F" * 16] * len(honest),
    }
    return {
        "name": name,
        "text": plan.to_json(),
        "digest": plan.digest,
        "cases": cases,
        "bad": [{"why": why, "answers": answers, "coins": coins} for why, coins in bad.items()],
        "others": list(other_coins(plan, cases)),
    }


def replay_coins(plan: mu.Plan[Any], case: dict[str, Any]) -> tuple[list[int], Any]:
    """How many secret words the report uses, and the report."""
    rng = GivenRandom(stream(case["seed"], MAIN_WORDS), stream(case["seed"] + DEEP_SEED, DEEP_WORDS))
    report = report_from(plan, case["answers"], rng, case.get("number", 0), case["coins"])["report"]
    return rng.used, report


def other_coins(plan: mu.Plan[Any], cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Coins of one case with a report that shows others: other columns, or another hash."""
    laws = getattr(plan.person.channel, "parts", (plan.person.channel,))
    for one, other in itertools.pairwise(cases):
        asked = {name: value for name, value in one.items() if name in ("answers", "coins", "number")}
        if plan.of_records and [c is None for c in one["report"]] != [c is None for c in other["report"]]:
            yield {"why": "other columns", **asked, "report": other["report"]}
        cells = one["report"] if plan.of_records else [one["report"]]
        for place, (law, cell) in enumerate(zip(laws, cells, strict=True)):
            if isinstance(law, Hashed) and cell is not None:
                changed = cell[:-5] + f"{int(cell[-5], 16) ^ 4:x}" + cell[-4:]  # a bit of the last seed
                changed = changed if law.seed_bits > 8 else cell[:-7] + f"{int(cell[-7], 16) ^ 1:x}" + cell[-6:]
                report = [*cells[:place], changed, *cells[place + 1 :]]
                yield {"why": f"another hash of {place}", **asked, "report": report if plan.of_records else changed}


# -- the file ---------------------------------------------------------------------------------------------------------


def person_of(text: str) -> Any:
    """The mechanism of a plan, also of one that answers no statistic."""
    written = json.loads(text)["person"]
    return part_from_dict(written, {**catalogue.MECHANISMS, **catalogue.RECORDS}, ignored=("law",))


def replayed(vector: dict[str, Any]) -> list[Any]:
    """What Python reports today from the words of a plan's vector."""
    person = person_of(vector["text"])
    return [
        replay(person, case["answers"], case["seed"], edit_of(case), case.get("number", 0))[2]
        for case in vector["cases"]
    ]


def edit_of(case: dict[str, Any]) -> Edit:
    planes = tuple((at, deep_at, width, int(value, 16)) for at, deep_at, width, value in case.get("planes", ()))
    return Edit({int(at): int(word, 16) for at, word in case.get("main", {}).items()}, planes)


KEYS = {"plans": "digest", "domains": "domain", "bad": "name", "memoised": "question", "coins": "digest"}


def merged(written: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What was written once stays as it is; what is new is added. If its name is taken, its digest is part of it."""
    computed = {
        "plans": plan_vectors(),
        "domains": domain_vectors(),
        "bad": bad_vectors(),
        "memoised": memoised_vectors(),
        "coins": coins_vectors(),
    }
    out = {}
    for part, key in KEYS.items():
        old = written.get(part, [])
        known, names = [one[key] for one in old], {one.get("name") for one in old}
        new = [one for one in computed[part] if one[key] not in known]
        for one in new if part == "plans" else ():
            one["name"] += f" ({one['digest'][:8]})" if one["name"] in names else ""
        out[part] = [*old, *new]
    return out


def browser_text(parts: dict[str, list[Any]]) -> str:
    """The whole file: one line for each vector."""

    def lines(values: list[Any]) -> str:
        return ",\n".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)

    return "{\n" + ",\n".join(f'"{name}": [\n{lines(values)}\n]' for name, values in parts.items()) + "\n}\n"


def written_vectors() -> dict[str, list[Any]]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


if __name__ == "__main__":
    FILE.write_text(browser_text(merged(written_vectors())), encoding="utf-8")
