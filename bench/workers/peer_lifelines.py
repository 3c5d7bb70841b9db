"""lifelines' Cox regression (Efron's ties, its only ones) of the trial that it distributes. Arguments: FOLDER ACT.

fit: of a frame in memory, warmed up; leaves rows and figures in the folder for the others. first: the first fit of a
process, whole: CPU time since it started, so that imports and reading count.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
from clock import emit, measure_threaded_peer
from lifelines import CoxPHFitter
from trial import COLUMNS, EVENT, FIGURES, FILE, TIME

warnings.simplefilter("ignore")  # pandas' own, about its next version
folder, act = Path(sys.argv[1]), sys.argv[2]


def fit(rows, **options):
    found = CoxPHFitter().fit(rows, TIME, EVENT, **options)
    return found.params_, found.standard_errors_


if act == "first":
    fit(pd.read_csv(folder / FILE))
    seconds = time.process_time()
    emit("cox.first", "lifelines", how="CoxPHFitter", n=1, seconds=seconds, per_item_ns=seconds * 1e9)
else:
    from lifelines.datasets import load_gbsg2

    rows = load_gbsg2()
    rows["horTh"] = (rows["horTh"] == "yes").astype(int)
    rows = rows[[*COLUMNS, TIME, EVENT]]
    rows.to_csv(folder / FILE, index=False)
    # Its steps end early by default, so its figures are those of smaller steps; its time is that of its defaults.
    figures = [found[list(COLUMNS)].tolist() for found in fit(rows, fit_options={"precision": 1e-14})]
    (folder / FIGURES).write_text(json.dumps(figures))
    measure_threaded_peer("cox.efron", "lifelines", len(rows), lambda: fit(rows), "CoxPHFitter")
