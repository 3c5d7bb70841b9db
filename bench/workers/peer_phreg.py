"""statsmodels' Cox regression of the rows that lifelines left in the folder, with either ties. Argument: FOLDER."""

import sys
from pathlib import Path

import pandas as pd
import statsmodels.api as sm
from clock import measure_threaded_peer
from trial import COLUMNS, EVENT, FILE, TIME

rows = pd.read_csv(Path(sys.argv[1]) / FILE)


def fit(ties):
    return sm.PHReg(rows[TIME], rows[list(COLUMNS)], status=rows[EVENT], ties=ties).fit(disp=0).bse


for ties in ("breslow", "efron"):
    measure_threaded_peer(f"cox.{ties}", "statsmodels", len(rows), lambda ties=ties: fit(ties), "PHReg")
