"""statsmodels on rows that are in memory already. Arguments: ROWS, and one of: ols, logit.

The faster of its ways stands in the table, in wall or CPU time, whichever is less; the coefficients go along.
"""

import sys
import time

import numpy as np
import outcomes
import statsmodels.api as sm
from clock import emit, peak_megabytes

WARM = 10_000  # rows


def rows_of(act, n):
    """Outcome and design, laid out as statsmodels' own documentation does: a row after the other."""
    if act == "logit":
        x, y = outcomes.classes(n)
        return y, np.column_stack([np.ones(n), *x])
    y, z, at = np.empty(n), np.ones((n, 1 + outcomes.COLUMNS)), 0
    for x, part in outcomes.batches(n):
        z[at : at + len(part), 1:], y[at : at + len(part)] = x.T, part
        at += len(part)
    return y, z


WAYS = {
    "ols": {
        "OLS, pinv": lambda y, z: sm.OLS(y, z).fit(),
        "OLS, qr": lambda y, z: sm.OLS(y, z).fit(method="qr"),
    },
    "logit": {
        "Logit, Newton": lambda y, z: sm.Logit(y, z).fit(disp=0),
        "GLM, IRLS": lambda y, z: sm.GLM(y, z, family=sm.families.Binomial()).fit(),
    },
}
n, act = int(sys.argv[1]), sys.argv[2]
small, held = rows_of(act, WARM), rows_of(act, n)
for how, fit in WAYS[act].items():
    fit(*small)
    wall, cpu = time.perf_counter(), time.process_time()
    found = fit(*held)
    errors = found.bse
    seconds = min(time.perf_counter() - wall, time.process_time() - cpu)
    about = {"params": found.params.tolist(), "bse": errors.tolist(), "megabytes": peak_megabytes()}
    emit(f"{act}.{n}", "statsmodels", how=how, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9, **about)
