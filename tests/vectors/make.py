"""Adds to the vectors beside it: `python tests/vectors/make.py`. A change of a written vector breaks clients.

laws.json   for each law: its integers as a plan carries them, inputs and words (hexadecimal), and the reports.
plans.json  plans as text, with their digests.
bad_plans.json  plans that must be refused: the class of the error and a part of its message.
"""

from __future__ import annotations

import copy
import importlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import murmure as mu
from murmure import catalogue
from murmure.core.random import GivenWords, Random
from murmure.laws.bits import BitsChannel, ChainedBits, Coins
from murmure.laws.hadamard import Hadamard
from murmure.laws.table import TableChannel
from murmure.laws.window import WindowChannel

HERE = Path(__file__).parent
WORD = 1 << 64

LAWS: dict[str, Any] = {  # mechanisms, and laws that no mechanism reaches so far out
    "GRR of 2": mu.GRR(mu.Categories(2), 1.0),
    "GRR of 300": mu.GRR(mu.Categories(300), 3.0),
    "window that stops at the ends": mu.Window(mu.Integers(0, 20), 0.5),
    "window that slides": mu.Piecewise(mu.Integers(0, 10), 2.0),
    "square wave": mu.SquareWave(mu.Integers(0, 40), 1.0),
    "saturated window": WindowChannel.calibrated(700.0, 5, 5),
    "bits of 3": mu.SUE(mu.Categories(3), 1.0),
    "bits of 65": mu.OUE(mu.Categories(65), 2.0),
    "bits, saturated": BitsChannel(4, WORD - 1, 1),
    "chained bits of 5": mu.RAPPOR(mu.Categories(5), 4.0, 1.0),
    "chained bits of 64": mu.RAPPOR(mu.Categories(64), 8.0, 2.0),
    "subset 2 of 4": mu.SubsetSelection(mu.Categories(4), 1.0, w=2),
    "subset 20 of 70": mu.SubsetSelection(mu.Categories(70), 0.8, w=20),
    "subset 1 of 2": mu.SubsetSelection(mu.Categories(2), 1.0),
    "Hadamard of 2": mu.HadamardResponse(mu.Categories(2), 1.0),
    "Hadamard of 100": mu.HadamardResponse(mu.Categories(100), 1.0),
    "hashed to 2 bins": mu.BLH(mu.Categories(9), 0.3),
    "hashed to 3 bins": mu.OLH(mu.Categories(100), 0.5),
    "hashed to 149 bins": mu.OLH(mu.Categories(1000), 5.0),
    "Warner's coins": mu.Warner(mu.Categories(2), truth=0.5, yes_coin=0.25),
    "Duchi": mu.Duchi(mu.Integers(0, 10), 0.5),
    "bounded Laplace": mu.BoundedLaplace(mu.Integers(0, 10), 0.5),
    "bounded Laplace, sharp": mu.BoundedLaplace(mu.Integers(0, 4), 40.0),
    "bounded staircase": mu.BoundedStaircase(mu.Integers(0, 12), 2.0, gamma="variance"),
    "hybrid": mu.Hybrid(mu.Integers(0, 10), 1.0),
}
ROWS = 14


def edges(channel: Any) -> list[int]:
    """Words at which a comparison turns: each threshold, one less, and both ends of the range."""
    at = [0, 1, WORD - 1, WORD // 2, WORD // 2 - 1]
    for name in ("body", "yes_true", "keep", "coin"):
        value = getattr(channel, name, None)
        if isinstance(value, int):
            value <<= channel.log_order if isinstance(channel, Hadamard) else 0
            at += [value % WORD, value - 1]
    if isinstance(channel, WindowChannel):
        at += [channel.body + channel.outside, channel.body + channel.outside - 1, channel.inside, channel.inside - 1]
    return [word % WORD for word in at]


def alias_edges(table: TableChannel, x: Any) -> list[int]:
    """Words at the threshold of a column of each input's row, and one below."""
    threshold, _, log_columns = table._alias
    out = []
    for row, code in enumerate(x):
        column = row // 2 % (1 << log_columns)
        out.append((column << (64 - log_columns)) + max(0, int(threshold[code, column]) - row % 2))
    return [word % WORD for word in out]


def coins_of(channel: Any) -> list[Coins]:
    """Where the comparisons of a law of bits lie in its words."""
    if isinstance(channel, BitsChannel):
        return [Coins(channel.yes_false, channel.width)]
    if isinstance(channel, ChainedBits):
        first = channel.permanent
        return [*coins_of(first), *channel._instant_coins(first.words, first.deep)]
    return []


def words_for(channel: Any, x: Any, seed: int) -> tuple[Any, Any]:
    """Seeded words; the first rows are given words at the edges, and the last row's bits stay open for 24 planes."""
    rng = Random.seeded(seed)
    main = rng.words(ROWS * channel.words).reshape(ROWS, channel.words)
    deep = rng.words(ROWS * channel.deep).reshape(ROWS, channel.deep) if channel.deep else None
    at = alias_edges(channel, x) if isinstance(channel, TableChannel) else edges(channel)
    for row in range(min(ROWS - 1, len(at))):
        main[row, 0 if channel.deep == 0 else -1] = at[row]
    for coins in coins_of(channel):
        for plane in range(24):
            target, start = (main, coins.at) if plane < 16 else (deep, coins.deep_at - 16 * coins.width)
            start += plane * coins.width
            target[-1, start : start + coins.width] = WORD - 1 if coins.threshold >> (63 - plane) & 1 else 0
    return main, deep


def hexadecimal(words: Any) -> list[str]:
    return [f"{int(w):016x}" for w in words]


def laws() -> dict[str, tuple[int, Any]]:
    """A seed and a law for every vector: those above, then the first example of every mechanism that is not there."""
    listed = {name: (seed, getattr(thing, "channel", thing)) for seed, (name, thing) in enumerate(LAWS.items())}
    for name in sorted(catalogue.MECHANISMS.keys() - {type(thing).__name__ for thing in LAWS.values()}):
        examples = importlib.import_module(catalogue.MECHANISMS[name]).EXAMPLES
        first = next(example for example in examples if type(example).__name__ == name)
        listed[name] = zlib.crc32(name.encode()), first.channel  # not its place in the list, which may change
    return listed


def law_vectors() -> list[dict[str, Any]]:
    out = []
    for name, (seed, channel) in laws().items():
        x = (np.arange(ROWS) * 7 + seed) % channel.inputs
        main, deep = words_for(channel, x, seed)
        reports = channel.draw(x, GivenWords(main, deep))
        packed = isinstance(channel, BitsChannel | ChainedBits) or channel.integers()["law"] == "subset"
        out.append(
            {
                "name": name,
                "inputs": channel.inputs,
                "integers": channel.integers(),
                "x": x.tolist(),
                "main": [hexadecimal(row) for row in main],
                "deep": None if deep is None else [hexadecimal(row) for row in deep],
                "reports": [hexadecimal(r) for r in reports] if packed else reports.tolist(),
            }
        )
    return out


def plan(statistic: Any, person: Any = None) -> Any:
    return mu.Plan(statistic, person)


def plan_vectors() -> list[dict[str, str]]:
    smoker = mu.Categories(["no", "yes", "l'été"], column="smoker")
    age = mu.Integers(18, 99, column="age")
    weight = mu.Interval(40.0, 160.0, cells=48)
    yes_no = mu.Categories([False, True])
    plans = [
        plan(mu.Histogram(smoker)),
        plan(mu.Histogram(smoker), mu.GRR(smoker, 1.0)),
        plan(mu.Histogram(smoker), mu.OUE(smoker, 0.1)),
        plan(mu.Histogram(age), mu.OLH(age, 2.5)),
        plan(mu.Histogram(age), mu.SubsetSelection(age, 1.0)),
        plan(mu.Histogram(age), mu.SubsetSelection(age, 1.0, w=3)),
        plan(mu.Histogram(yes_no), mu.Warner(yes_no)),
        plan(mu.Histogram(yes_no), mu.Warner(yes_no, truth=0.3, yes_coin=0.7)),
        plan(mu.Histogram(yes_no), mu.UnrelatedQuestion(yes_no, truth=0.7, innocuous=0.25)),
        plan(mu.Histogram(smoker), mu.RAPPOR(smoker, 4.0, 1.0)),
        plan(mu.Mean(age), mu.GRR(age, 1.0)),
        plan(mu.Mean(weight), mu.Duchi(weight, 1.0)),
        plan(mu.Mean(weight), mu.Piecewise(weight, 3.0)),
        plan(mu.Mean(weight), mu.Hybrid(weight, 1.0)),
        plan(mu.Mean(weight), mu.SquareWave(weight, 1.0)),
        *record_plans(),
        *curator_plans(),
    ]
    return [{"text": p.to_json(), "digest": p.digest} for p in plans]


def survey() -> mu.Schema:
    return mu.Schema(
        {
            "smoker": mu.Column(mu.Categories(["no", "yes"]), missing="value"),
            "age": mu.Integers(18, 30),
            "region": mu.Categories(4),
            "weight": mu.Column(mu.Interval(0.0, 9.0), public=True, note="of the survey"),
        }
    )


def record_plans() -> list[Any]:
    held = survey()
    priors = ((0.7, 0.2, 0.1), (1 / 13,) * 13, (0.4, 0.3, 0.2, 0.1))
    people = {"unit": "person", "rows_per_person": 3}
    return [
        plan(mu.Marginals(held)),
        plan(mu.Marginals(held), mu.SPL(held, 2.0, weights=(2.0, 1.0, 1.0))),
        plan(mu.Marginals(held), mu.Plain(held, 2.0)),
        plan(mu.Marginals(held), mu.SMP(held, 1.0)),
        plan(mu.Marginals(held), mu.SMP(held, 1.0, oracle="OUE", sample=2, draw="round-robin")),
        plan(mu.Pair(held, "smoker", "region"), mu.SMP(held, 1.0, oracle="GRR", sample=2)),
        plan(mu.Marginals(held), mu.RSFD(held, 1.0, calibrate="attribute", weights="balanced")),
        plan(mu.Marginals(held), mu.RSFD(held, 1.0, oracle=("OUE-z", "GRR", "OUE-r"), calibrate="paper")),
        plan(mu.Marginals(held), mu.RSRFD(held, 1.0, priors, oracle="SUE-r")),
        plan(mu.Marginals(held), mu.ADP(held, 1.0, "rsfd")),
        mu.Plan(mu.Marginals(held), person=mu.SPL(held, 1.0), **people),  # type: ignore[arg-type]
    ]


def curator_plans() -> list[Any]:
    held = survey()
    laplace, gauss = mu.DiscreteLaplace(1.0), mu.DiscreteGaussian(epsilon=1.0, delta=1e-6)
    age, region = held["age"], held["region"]
    return [
        mu.Plan(mu.Count(region), curator=laplace),
        mu.Plan(mu.Mean(age), curator=laplace),
        mu.Plan(mu.Mean(age), curator=mu.DiscreteLaplace(0.5, sampler="exact"), relation="replace"),
        mu.Plan(mu.Sum(age), curator=gauss, unit="person", rows_per_person=3),
        mu.Plan(mu.Histogram(region), curator=mu.DiscreteGaussian(rho=0.125)),
        mu.Plan(mu.Count(region), curator=mu.Staircase(2.0)),
        mu.Plan(mu.Pair(held, "smoker", "region"), curator=laplace),
        mu.Plan(mu.GroupBy(mu.Mean(age), by=region), curator=laplace),
        mu.Plan(mu.Quantile(age), curator=laplace),
        mu.Plan(mu.Mode(region), curator=mu.PermuteAndFlip(1.0)),
        mu.Plan(mu.Mode(region), curator=mu.Exponential(1.0)),
    ]


def bad_curator_plans(bad: Any) -> None:
    mean = json.loads(curator_plans()[1].to_json())
    integers = "integers are not those"
    bad("curator: more than it says", "PlanRefused", integers, mean, curator__epsilon=2.0)
    bad("curator: another relation", "PlanRefused", integers, mean, relation="replace")
    bad("curator: an unknown relation", "InvalidParameter", "Plan.relation", mean, relation="near")
    bad("curator: unknown noise", "PlanRefused", "unknown part 'Laplace'", mean, curator__type="Laplace")
    bad("curator: no integers", "PlanRefused", "law", mean, curator__law=...)
    bad("curator: a wider domain", "PlanRefused", integers, mean, statistic__domain__high=99)
    bad("curator: one row moves less", "PlanRefused", integers, mean, curator__law__1__moves="1")
    bad("curator: a blocks' law left out", "PlanRefused", integers, mean, curator__law__2=...)
    bad("curator: an unknown sampler", "InvalidParameter", "sampler", mean, curator__sampler="float")
    bad("curator: no budget", "InvalidParameter", "epsilon", mean, curator__epsilon=0.0)


def bad_plan_vectors() -> list[dict[str, str]]:
    four, two = mu.Categories(4, column="answer"), mu.Categories(["no", "yes"])
    grr = json.loads(plan(mu.Histogram(four), mu.GRR(four, 1.0)).to_json())
    oue = json.loads(plan(mu.Histogram(four), mu.OUE(four, 1.0)).to_json())
    coins = json.loads(plan(mu.Histogram(two), mu.Warner(two)).to_json())
    out: list[dict[str, str]] = []

    def bad(name: str, error: str, part: str, base: Any = grr, text: str | None = None, **changes: Any) -> None:
        """changes: path with __ between names -> new value; `...` removes it."""
        held = copy.deepcopy(base)
        for path, value in changes.items():
            *way, last = path.split("__")
            at = held
            for step in way:
                at = at[int(step)] if isinstance(at, list) else at[step]
            last = int(last) if isinstance(at, list) else last
            if value is ...:
                del at[last]
            else:
                at[last] = value
        written = json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False) if text is None else text
        out.append({"name": name, "text": written, "error": error, "part": part})

    bad("not JSON", "PlanRefused", "this is not a plan", text="{murmure: 1}")
    bad("empty", "PlanRefused", "this is not a plan", text="")
    bad("a list", "PlanRefused", "not a plan", text="[]")
    bad("cut short", "PlanRefused", "this is not a plan", text=json.dumps(grr)[:200])
    bad("later version", "PlanRefused", "this is plan version 2", murmure=2)
    bad("no version", "PlanRefused", "not a plan", murmure=...)
    bad("version as text", "PlanRefused", "this is plan version '1'", murmure="1")
    bad("version true", "PlanRefused", "this is plan version True", murmure=True)
    bad("unknown slot", "PlanRefused", "['colour']", colour="red")
    laplace = {"type": "DiscreteLaplace", "epsilon": 1.0, "sampler": "table", "law": []}
    bad("person and curator", "PlanRefused", "randomised at the person already", curator=laplace)
    bad("unknown mechanism", "PlanRefused", "unknown part 'GRS'", person__type="GRS")
    bad("unknown statistic", "PlanRefused", "unknown part 'Median'", statistic__type="Median")
    bad("a class that is no mechanism", "PlanRefused", "unknown part 'Reports'", person__type="Reports")
    bad("no statistic", "PlanRefused", "unknown part None", statistic=...)
    bad("mechanism as text", "PlanRefused", "unknown part 'GRR'", person="GRR")
    bad("mechanism as list", "PlanRefused", "unknown part ['GRR', 1.0]", person=["GRR", 1.0])
    bad("type as list", "PlanRefused", "unknown part ['GRR']", person__type=["GRR"])
    bad("tampered threshold", "PlanRefused", "integers are not those", person__law__outside="2000000000000000000")
    bad("tampered bits", "PlanRefused", "integers are not those", oue, person__law__yes_true=str(WORD - 1))
    bad("tampered epsilon", "PlanRefused", "integers are not those", person__epsilon=2.0)
    bad("no integers", "PlanRefused", "law", person__law=...)
    bad(
        "integers as numbers",
        "PlanRefused",
        "integers are not those",
        person__law__outside=int(grr["person"]["law"]["outside"]),
    )
    bad("extra field", "PlanRefused", "'sides'", person__sides=6)
    bad("extra field of the domain", "MurmureError", "colour", person__domain__colour="red")
    bad(
        "epsilon as text",
        "InvalidParameter",
        "GRR.epsilon must be a positive finite number, got '1.0'",
        person__epsilon="1.0",
    )
    bad("epsilon as a fraction", "MurmureError", "epsilon", person__epsilon="1/1")
    bad("epsilon as words", "MurmureError", "epsilon", person__epsilon="and/or")
    bad(
        "epsilon NaN",
        "InvalidParameter",
        "GRR.epsilon must be a positive finite number, got nan",
        person__epsilon=float("nan"),
    )
    bad("epsilon infinite", "InvalidParameter", "got inf", person__epsilon=float("inf"))
    bad("epsilon zero", "InvalidParameter", "got 0.0", person__epsilon=0)
    bad("epsilon negative", "InvalidParameter", "got -1.0", person__epsilon=-1)
    bad("epsilon true", "InvalidParameter", "got True", person__epsilon=True)
    bad("epsilon null", "InvalidParameter", "got None", person__epsilon=None)
    bad("no epsilon", "MurmureError", "epsilon", person__epsilon=...)
    bad("no domain", "PlanRefused", "'domain'", person__domain=...)
    bad("domain null", "MurmureError", "domain", person__domain=None)
    bad("domain as number", "MurmureError", "domain", person__domain=4)
    bad("unknown domain", "InvalidParameter", "got 'Words'", person__domain__type="Words")
    bad("domain type as list", "PlanRefused", "Plan refused", person__domain__type=["Categories"])
    bad("domain without values", "MurmureError", "values", person__domain__values=...)
    bad("domain of one category", "InvalidParameter", "at least 2, got 1", person__domain__values=1)
    bad("domain of one label", "InvalidParameter", "at least two labels, got 1", person__domain__values=["yes"])
    bad("domain with a label twice", "InvalidParameter", "must differ", person__domain__values=["a", "b", "a", "c"])
    bad(
        "domain with list labels",
        "MurmureError",
        "text, numbers or booleans",
        person__domain__values=[[1], [2], [3], [4]],
    )
    bad("two domains", "PlanRefused", "give both the same domain", person__domain__values=5)
    bad("two columns", "PlanRefused", "give both the same domain", person__domain__column="other")
    bad("a coin that is no number", "PlanRefused", "a/b", coins, person__truth="a/b")
    bad("a coin over zero", "PlanRefused", "Fraction(1, 0)", coins, person__truth="1/0")
    bad(
        "a coin beyond one",
        "InvalidParameter",
        "Warner.truth must lie strictly between 0 and 1",
        coins,
        person__truth="3/2",
    )
    bad("coins and epsilon", "InvalidParameter", "either an epsilon or two coins", coins, person__epsilon=1.0)
    bad_record_plans(bad)
    bad_curator_plans(bad)
    return out


def bad_record_plans(bad: Any) -> None:
    spl, smp, fakes, realistic = (json.loads(record_plans()[i].to_json()) for i in (1, 4, 6, 8))
    integers = "integers are not those"
    bad("record: another split", "PlanRefused", integers, spl, person__weights=[1.0, 1.0, 1.0])
    bad("record: two columns for one", "PlanRefused", integers, smp, person__sample=1)
    bad("record: chance for turns", "PlanRefused", integers, smp, person__draw="random")
    bad("record: another calibration", "PlanRefused", integers, fakes, person__calibrate="record")
    bad("record: an unknown calibration", "InvalidParameter", "RSFD.calibrate", fakes, person__calibrate="none")
    bad("record: other priors", "PlanRefused", integers, realistic, person__priors__0=[0.6, 0.3, 0.1])
    bad("record: a prior of zero", "InvalidParameter", "share of 0", realistic, person__priors__0=[0.9, 0.1, 0.0])
    bad("record: priors that sum to two", "InvalidParameter", "sum to 1", realistic, person__priors__0=[1.0, 0.5, 0.5])
    bad("record: no priors", "InvalidParameter", "RSRFD.priors", realistic, person__priors=None)
    bad("record: other chances", "PlanRefused", integers, fakes, person__law__chances={"size": 3, "counts": None})
    bad("record: another part of the law", "PlanRefused", integers, spl, person__law__parts__0__outside="1")
    bad(
        "record: a column more",
        "InvalidParameter",
        "order must name its columns",
        spl,
        person__domain__columns__pay={"type": "Categories", "values": 2},
    )
    same = "give both the same domain"
    bad("record: a value more", "PlanRefused", same, spl, person__domain__columns__region__values=5)
    bad("record: public made private", "PlanRefused", same, smp, person__domain__columns__weight__public=False)
    bad("record: another order", "PlanRefused", same, spl, person__domain__order=["age", "smoker", "region", "weight"])
    bad("record: rows without people", "InvalidParameter", "rows_per_person", smp, rows_per_person=2)
    bad("record: no rows", "InvalidParameter", "rows_per_person", spl, rows_per_person=0)
    bad("record: half a row", "InvalidParameter", "rows_per_person", spl, rows_per_person=1.5)
    bad("record: a sample of none", "InvalidParameter", "SMP.sample", smp, person__sample=0)
    bad("record: an unknown protocol", "InvalidParameter", "RSFD.oracle", fakes, person__oracle="OLH")


def write(name: str, vectors: list[dict[str, Any]]) -> None:
    """Add what is new; what was written once stays as it is."""
    path = HERE / name
    written = json.loads(path.read_text(encoding="utf-8"))
    known = {key_of(vector) for vector in written}
    lines = ",\n".join(
        json.dumps(vector, ensure_ascii=False)
        for vector in [*written, *(vector for vector in vectors if key_of(vector) not in known)]
    )
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def key_of(vector: dict[str, Any]) -> str:
    return str(vector.get("name") or vector["digest"])


if __name__ == "__main__":
    write("laws.json", law_vectors())
    write("plans.json", plan_vectors())
    write("bad_plans.json", bad_plan_vectors())
