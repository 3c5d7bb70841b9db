"""Murmure's Cox regression of the rows that lifelines left in the folder, in the clear. Arguments: FOLDER ACT.

fit: of an Arrow table in memory, warmed up, with either ties. first: the first fit of a process, whole: CPU time since
it started, so that imports and reading count.
"""

import json
import sys
import time
from pathlib import Path

import pyarrow.csv
from clock import emit, measure
from ours import LIB
from trial import COLUMNS, EVENT, FIGURES, FILE, TIME

from murmure import econometrics

folder, act = Path(sys.argv[1]), sys.argv[2]
rows = pyarrow.csv.read_csv(folder / FILE)


def fit(ties):
    found = econometrics.cox(" + ".join(COLUMNS), rows, time=TIME, event=EVENT, ties=ties)
    return found.params, found.bse


if act == "first":
    fit("efron")
    seconds = time.process_time()
    emit("cox.first", LIB, n=1, seconds=seconds, per_item_ns=seconds * 1e9)
else:
    theirs = json.loads((folder / FIGURES).read_text())
    for ours, other in zip(fit("efron"), theirs, strict=True):
        assert all(abs(a - b) <= 1e-6 * abs(b) for a, b in zip(ours, other, strict=True)), "the figures differ"
    for ties in ("breslow", "efron"):
        measure(f"cox.{ties}", LIB, rows.num_rows, lambda ties=ties: fit(ties))
