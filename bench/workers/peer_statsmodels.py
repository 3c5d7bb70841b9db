"""statsmodels on rows that are in memory already. Arguments: ROWS, a regression and one of its ways (WAYS).

In wall or CPU time, whichever is less; the coefficients go along. The faster of two ways stands in the table. Left out
are ways that end elsewhere: BFGS stops 1e-5 away, and GLM's probit has standard errors of the expected information.
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
    if act != "ols":
        x, y = outcomes.iterated(n)
        return y[act], np.column_stack([np.ones(n), *x])
    y, z, at = np.empty(n), np.ones((n, 1 + outcomes.COLUMNS)), 0
    for x, part in outcomes.batches(n):
        z[at : at + len(part), 1:], y[at : at + len(part)] = x.T, part
        at += len(part)
    return y, z


def glm(family, **way):
    return lambda y, z: sm.GLM(y, z, family=family).fit(**way)


gamma = sm.families.Gamma(sm.families.links.Log())
WAYS = {
    "ols": {
        "pinv": ("OLS, pinv", lambda y, z: sm.OLS(y, z).fit()),  # its default
        "qr": ("OLS, qr", lambda y, z: sm.OLS(y, z).fit(method="qr")),
    },
    "logit": {
        "newton": ("Logit, Newton", lambda y, z: sm.Logit(y, z).fit(disp=0)),  # its default
        "irls": ("GLM, IRLS", glm(sm.families.Binomial())),
    },
    "probit": {"newton": ("Probit, Newton", lambda y, z: sm.Probit(y, z).fit(disp=0))},
    "poisson": {
        "newton": ("Poisson, Newton", lambda y, z: sm.Poisson(y, z).fit(disp=0)),
        "irls": ("GLM, IRLS", glm(sm.families.Poisson())),
    },
    "gamma": {
        "irls": ("GLM, IRLS", glm(gamma)),
        "newton": ("GLM, Newton", glm(gamma, method="newton", optim_hessian="eim", cov_type="eim")),
    },
    "nb2": {
        "newton": ("NegativeBinomial, Newton", lambda y, z: sm.NegativeBinomial(y, z).fit(method="newton", disp=0))
    },
}
n, act, (how, fit) = int(sys.argv[1]), sys.argv[2], WAYS[sys.argv[2]][sys.argv[3]]
fit(*rows_of(act, WARM))
held = rows_of(act, n)
wall, cpu = time.perf_counter(), time.process_time()
found = fit(*held)
errors = found.bse
seconds = min(time.perf_counter() - wall, time.process_time() - cpu)
about = {"params": found.params.tolist(), "bse": errors.tolist(), "peak": peak_megabytes()}
emit(f"{act}.{n}", "statsmodels", how=how, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9, **about)
