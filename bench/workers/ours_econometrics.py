"""Murmure's regressions from Parquet files, reading counted. One act in a fresh process.

Arguments: FOLDER ROWS, and one of: make; ols stated; ols own; the same of logit, probit, poisson, gamma, nb2; parties.
stated: with public bounds; own: with bounds that are first read off the table. parties: ten tables, in the clear and by
masked sums, in turns.
"""

import sys
from pathlib import Path

import numpy as np
import outcomes
import pyarrow as pa
import pyarrow.parquet as pq
from clock import emit, once, peak_megabytes

LIB = "murmure"
PARTIES, TURNS = 10, 2
WARM = 10_000  # rows
ITERATED = 1_000_000  # rows of iterated regressions, at most
GROUP = 1 << 20  # rows of a row group, as Murmure writes them


def write(path, columns, **y):
    """As Murmure writes; doubles that are all different gain nothing from a dictionary."""
    held = dict(zip(outcomes.names(len(columns)), columns, strict=True)) | y
    pq.write_table(pa.table(held), path, GROUP, write_page_checksum=True, use_dictionary=False)


def make(folder, n):
    """The rows of least squares in ten files, one for each party; those of iterated regressions in one."""
    for rows in (WARM, n):
        ols, glm = folder / f"ols.{rows}", folder / f"glm.{rows}"
        ols.mkdir(exist_ok=True)
        ends, taken, held = np.linspace(0, rows, PARTIES + 1).astype(int)[1:], 0, []
        for x, y in outcomes.batches(rows):
            held.append(np.vstack([x, y]))
            taken += len(y)
            while len(ends) and taken >= ends[0]:
                whole = np.concatenate(held, axis=1)
                cut = whole.shape[1] - (taken - ends[0])
                write(ols / f"{PARTIES - len(ends)}.parquet", whole[:-1, :cut], y=whole[-1, :cut])
                held, ends = [whole[:, cut:]], ends[1:]
        if rows <= ITERATED:
            glm.mkdir(exist_ok=True)
            x, y = outcomes.iterated(rows)
            write(glm / "0.parquet", x, **y)


def schema_of(act):
    import murmure as mu

    box = mu.Decimals(-outcomes.BOX, outcomes.BOX, outcomes.DECIMALS, rounding="nearest")
    if act == "ols":
        y = mu.Decimals(-outcomes.OUTCOME, outcomes.OUTCOME, outcomes.DECIMALS, rounding="nearest")
        return mu.Schema({name: box for name in outcomes.names(outcomes.COLUMNS)} | {"y": y})
    if act == "gamma":
        y = mu.Decimals(outcomes.LEAST, outcomes.MOST, outcomes.DECIMALS, rounding="nearest")
    else:
        y = mu.Integers(0, 1 if act in ("logit", "probit") else outcomes.MOST)
    return mu.Schema({name: box for name in outcomes.names(outcomes.FEW)} | {act: y})


def fit(folder, n, act, way):
    from murmure import econometrics

    iterated = act in outcomes.ITERATED
    formula = outcomes.formula(outcomes.FEW, act) if iterated else outcomes.formula(outcomes.COLUMNS)
    regression = getattr(econometrics, {"nb2": "negative_binomial"}.get(act, act))
    schema, found = schema_of(act) if way == "stated" else None, []

    def through(rows):
        table = folder / f"{'glm' if iterated else act}.{rows}"
        found[:] = [regression(formula, table, schema=schema)]
        found.append(found[0].bse)

    through(WARM)
    seconds = once(lambda: through(n))
    about = {"params": found[0].params.tolist(), "bse": found[1].tolist(), "megabytes": peak_megabytes()}
    emit(f"{act}.{way}.{n}", LIB, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9, **about)


def parties(folder, n):
    import murmure as mu
    from murmure import econometrics

    formula, schema, held = outcomes.formula(outcomes.COLUMNS), schema_of("ols"), {}

    def through(way, rows):
        tables = sorted((folder / f"ols.{rows}").iterdir())
        privacy = mu.Secure() if way == "secure" else None
        held[way] = econometrics.ols(formula, tables, schema=schema, privacy=privacy)

    for way in ("apart", "secure"):
        through(way, WARM)
    for _ in range(TURNS):
        for way in ("apart", "secure"):
            seconds = once(lambda way=way: through(way, n))
            emit(f"ols.{way}.{n}", LIB, n=n, seconds=seconds, megabytes=peak_megabytes())
        assert held["apart"].coefficients == held["secure"].coefficients, "the sums differ"


folder, n, act, rest = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
{"make": make, "parties": parties}[act](folder, n) if not rest else fit(folder, n, act, *rest)
