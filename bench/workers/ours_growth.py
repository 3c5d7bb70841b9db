"""How Murmure's cost grows, with compiled kernels: one act in a fresh process, the time at every size.

Argument: n, k, d, fits, regressions, m or certificates.
"""

import gc
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import outcomes
import pyarrow as pa
import pyarrow.parquet as pq
from clock import BOX, CLUSTERS, EPSILON, WIDTH, K, best, blobs, categories, emit, once, rows_and_answers
from ours import CATEGORICAL, LIB, categorical, telling
from sums import whole_sum

import murmure as mu
from murmure import econometrics, learn
from murmure.secure.sharing import PairwiseMasks

PEOPLE = (10_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
VALUES = (100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LINEAR = VALUES[:5]  # where a report is k bits, and 1,000 people are enough to see it
COLUMNS = (10, 20, 50, 100, 200)
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PARTIES = (4, 10, 30, 100, 300)
WIDE = ("sue", "oue", "subset")  # their reports are k bits
FEW, MANY = 1_000, 100_000  # people, where k grows
RECORDS, ANSWERS = 20_000, 4  # people, and values of a column, where d grows
ENTRIES = 1_000  # of the vector, where parties grow


def timed(task, size, call):
    seconds = best(call, seconds=0.05, least=2)
    emit(f"growth.{task}", LIB, n=1, size=size, seconds=seconds)


def protocol(grows, name, size, k, n):
    rng, m, people = mu.Random.secure(), categorical(name, k), categories(n, k)
    timed(f"{grows}.{name}.client", size, lambda: m.report(people, rng))
    reports = m.report(people, rng)
    timed(f"{grows}.{name}.server", size, lambda: m.estimate(m.tally(reports), n).mean)


def in_n():
    for name in CATEGORICAL:
        with telling(f"growth.n.{name}"):
            for n in PEOPLE:
                protocol("n", name, n, K, n)


def in_k():
    for name in CATEGORICAL:
        with telling(f"growth.k.{name}"):
            for k in LINEAR if name in WIDE else VALUES:
                protocol("k", name, k, k, FEW if name in WIDE else MANY)


def in_d():
    """Columns of four values each."""
    rng, codes = mu.Random.secure(), np.random.default_rng(7).integers(0, ANSWERS, (max(COLUMNS), RECORDS))
    for name, build in (("rsfd", mu.RSFD), ("spl", mu.SPL)):
        with telling(f"growth.d.{name}"):
            for d in COLUMNS:
                people = {f"column {i}": codes[i] for i in range(d)}
                m = build(mu.Schema({column: mu.Categories(ANSWERS) for column in people}), EPSILON, oracle="GRR")
                timed(f"d.{name}.client", d, partial(m.report, people, rng))
                reports = m.report(people, rng)

                def serve(m=m, reports=reports):
                    return [estimate.mean for estimate in m.estimate(m.tally(reports), RECORDS).values()]

                timed(f"d.{name}.server", d, serve)


def fits():
    features, privacy = {f"x{j}": mu.Interval(-BOX, BOX) for j in range(WIDTH)}, mu.Central(EPSILON)
    labelled = mu.Schema({**features, "y": mu.Categories(2)})
    numbered = mu.Schema({**features, "y": mu.Interval(-BOX, BOX)})
    for n in ROWS:
        rows, classes, answers = rows_and_answers(n)
        points = blobs(n)
        for task, fit in {
            "bayes": lambda r=rows, c=classes: learn.NaiveBayes(labelled, "y", privacy).fit(r, c),
            "regression": lambda r=rows, a=answers: learn.LinearRegression(numbered, "y", privacy).fit(r, a),
            "kmeans": lambda p=points: learn.KMeans(CLUSTERS, mu.Schema(features), privacy).fit(p),
        }.items():
            with telling(f"growth.n.fit.{task}"):
                timed(f"n.fit.{task}", n, fit)


def regressions():
    """Of a Parquet file, reading counted, with bounds stated."""
    names, few = outcomes.names(outcomes.COLUMNS), outcomes.names(outcomes.FEW)
    box = mu.Decimals(-outcomes.BOX, outcomes.BOX, outcomes.DECIMALS, rounding="nearest")
    outcome = mu.Decimals(-outcomes.OUTCOME, outcomes.OUTCOME, outcomes.DECIMALS, rounding="nearest")
    numbered = mu.Schema(dict.fromkeys(names, box) | {"y": outcome})
    labelled = mu.Schema(dict.fromkeys(few, box) | {"logit": mu.Integers(0, 1)})
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as folder:
        linear, logistic = (Path(folder) / f"{name}.parquet" for name in ("ols", "logit"))
        for n in ROWS[1:]:
            parts = [np.vstack([x, y]) for x, y in outcomes.batches(n)]
            table = np.concatenate(parts, axis=1)
            pq.write_table(pa.table(dict(zip([*names, "y"], table, strict=True))), linear, use_dictionary=False)
            x, y = outcomes.iterated(n)
            held = dict(zip(few, x, strict=True)) | {"logit": y["logit"]}
            pq.write_table(pa.table(held), logistic, use_dictionary=False)
            for task, fit in {
                "ols": lambda: econometrics.ols(outcomes.formula(outcomes.COLUMNS), linear, schema=numbered).bse,
                "logit": lambda: (
                    econometrics.logit(outcomes.formula(outcomes.FEW, "logit"), logistic, schema=labelled).bse
                ),
            }.items():
                with telling(f"growth.n.{task}"):
                    timed(f"n.{task}", n, fit)


def in_m():
    """A fifth vanishes, as the safe default allows."""
    gc.disable()  # it would walk all parties, of which a real process holds one
    for m in PARTIES:
        with telling("growth.m.secure"):
            given = PairwiseMasks(m)
            runs = [whole_sum(m, ENTRIES, given.dropouts, given) for _ in range(5 if m <= 30 else 1)]
            for side, seconds in zip(("server", "client"), map(min, zip(*runs, strict=True)), strict=True):
                emit(f"growth.m.secure.{side}", LIB, n=1, size=m, seconds=seconds)
        gc.collect()


def certificates():
    """Another epsilon each time, so that no cache helps."""
    for name in CATEGORICAL:
        with telling(f"growth.k.certify.{name}"):
            for k in VALUES:
                seconds = min(
                    once(lambda name=name, k=k, e=e: mu.certify(categorical(name, k, e)).epsilon)
                    for e in (1.0, 1.01, 1.02)
                )
                emit(f"growth.k.certify.{name}", LIB, n=1, size=k, seconds=seconds)


ACTS = {
    "n": in_n,
    "k": in_k,
    "d": in_d,
    "fits": fits,
    "regressions": regressions,
    "m": in_m,
    "certificates": certificates,
}
ACTS[sys.argv[1]]()
