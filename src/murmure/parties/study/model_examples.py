"""An example of every model in a study.toml, over one table of hospitals.

`murmure study models cox` prints one, and the reference page has them all. A test runs all of them over a network,
with the columns of tests/parties/study/hospitals.py.
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "describe": ('columns = ["age", "stay"]\nmoments = 4',),
    "covariance": ('columns = ["age", "stay"]',),
    "correlation": ('columns = ["age", "stay"]',),
    "ols": ('formula = "stay ~ age + ward"\nerrors = "HC1"',),
    "wls": ('formula = "stay ~ age"\nweights = "size"',),
    "ridge": ('formula = "stay ~ age + falls"\nlambdas = [0.1, 1, 10]\npenalise_intercept = true',),
    "iv": ('formula = "stay ~ falls + age"\ninstruments = "distance + age"',),
    "did": ('outcome = "stay"\ntreated = "treated"\npost = "after"\ncovariates = "age"\nerrors = "HC0"',),
    "fixed_effects": ('formula = "stay ~ age"',),
    "randomised_ols": (
        'formula = "stay ~ age + smoker"\nrandomised = { smoker = { mechanism = "GRR", epsilon = 3.0 } }',
    ),
    "ttest": (
        'column = "stay"\nby = "ward"\ngroups = ["A", "C"]\nalternative = "less"\npooled = true',
        'column = "stay"\nmu = 20.5',
    ),
    "anova": ('column = "stay"\nby = "ward"\ngroups = ["A", "C"]',),
    "contingency": ('first = "smoker"\nsecond = "ill"\nyates = false',),
    "mantel_haenszel": ('exposure = "smoker"\noutcome = "ill"\nstrata = "ward"',),
    "ecdf": ('column = "age"\ngrid = [30, 50, 70]',),
    "quantiles": ('column = "age"\nshares = [0.25, 0.5, 0.9]\ngrid = 8',),
    "histogram": ('column = "age"\nedges = [18, 40, 65, 99]',),
    "kaplan_meier": ('time = "days"\nevent = "died"\nby = "ward"\ngroups = ["A", "B"]\ngrid = [10, 20, 30, 40]',),
    "logrank": ('time = "days"\nevent = "died"\nby = "ward"\ngroups = ["A", "B"]\nweights = "tarone-ware"\ngrid = 4',),
    "pca": ('columns = ["age", "stay", "falls"]\nscaled = true',),
    "roc": ('score = "age"\noutcome = "ill"\ngrid = [30, 50, 70, 99]',),
    "logit": ('formula = "ill ~ age"\nrounds = 12',),
    "probit": ('formula = "ill ~ age"\nrounds = 12',),
    "poisson": ('formula = "falls ~ age"\noffset = "log(days)"\ndispersion = "pearson"\nrounds = 12',),
    "gamma": ('formula = "stay ~ age"\nlink = "log"\nrounds = 12',),
    "negative_binomial": ('formula = "falls ~ age"\noffset = "log(days)"\nrounds = 20',),
    "cox": ('formula = "age"\ntime = "days"\nevent = "died"\ngrid = [10, 20, 30, 40]\nties = "efron"\nrounds = 12',),
    "quantile": ('column = "age"\nprobabilities = [0.5]\ntolerance = 20',),
    "kmeans": ('columns = ["age", "stay"]\nclusters = 2\ncentres = [[30, 20], [80, 30]]\nscaled = true\nrounds = 20',),
    "mle": (
        'family = "weibull"\nformula = "days ~ age"\nerrors = "sandwich"\nrounds = 12',
        'family = "exponential"\nformula = "days ~ 1"\nrounds = 12',
        'family = "beta"\nformula = "share ~ age"\nrounds = 15\n'
        'start = { Intercept = 0, age = 0, "log(precision)" = 1 }',
        'family = "multinomial"\nformula = "ward ~ age"\nrounds = 12',
    ),
}


def examples_of(name: str) -> tuple[str, ...]:
    """The [[models]] tables of this function, as a person writes them."""
    return tuple(f'[[models]]\nmodel = "{name}"\n{text}\n' for text in EXAMPLES[name])
