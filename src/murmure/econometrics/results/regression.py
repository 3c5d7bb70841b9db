"""The result of a regression, with the names and meanings of statsmodels' results.

Coefficients and their covariance are fractions, exact if the sums are. Every figure below is rounded once, when it is
read. Unknown figures are None, and the notes give the reason.

One meaning is that of R: without an intercept, R-squared, F and df_model are about 0 and not about the mean, even if
the indicators of all labels add up to one (`0 + C(g)`). statsmodels searches for such a hidden constant; here the
formula is taken literally, and the notes say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.matrices import Matrix, Singular, dot, solve, submatrix
from murmure.econometrics.algebra.rounding import Floats, root, to_float, to_floats
from murmure.econometrics.design.reference_levels import base_notes
from murmure.econometrics.results.result import Drawable, ModelResult, draw_picture
from murmure.show import cells
from murmure.show.data import plain
from murmure.show.document import Curves, IntervalRow, Intervals, Table

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design
    from murmure.econometrics.results.provenance import How

INTERCEPT = "Intercept"
NONROBUST = "nonrobust"
ABOUT_ZERO = Phrase(
    "There is no intercept: R-squared, F and df of the model are about 0, not about the mean (as in R)."
)
WIDE = 30.0  # widths of intervals that differ by a larger factor cannot share an axis


def _logistic(eta: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(eta))


def _normal(eta: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(eta))


# From the linear predictor to the mean.
INVERSE_LINKS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda eta: eta,
    "logit": _logistic,
    "probit": _normal,
    "log": np.exp,
    "inverse": lambda eta: 1 / eta,
}


@dataclass(frozen=True, eq=False)
class Regression(ModelResult, Drawable):
    """Coefficients with errors, tests and measures of fit.

    rss, tss: sums of squares of residuals and of the outcome (about its mean, if there is an intercept).
    llf, llnull: log-likelihoods of this model and of the model with an intercept only.
    parameters: the number of parameters, if it is not that of the names (fixed effects, a dispersion).
    df_inference: degrees of freedom of tests, if they are not df_resid (clusters).
    extras: further figures by name; {row: figure} and {row: {column: figure}} become separate tables.
    """

    model: str
    formula: str
    outcome: str
    names: tuple[str, ...]
    coefficients: tuple[Fraction, ...]
    covariance: Matrix | None
    n: int | None
    df_model: float
    df_resid: float | None
    use_t: bool = True
    cov_type: str = NONROBUST
    scale: Fraction | float | None = None
    rss: Fraction | None = None
    tss: Fraction | None = None
    llf: float | None = None
    llnull: float | None = None
    has_intercept: bool = True
    parameters: int | None = None
    df_inference: float | None = None
    wald_f: bool = False  # F is always Wald's, since the explained part is not a sum of squares (2SLS)
    extras: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    reason: str | None = None  # why there are no standard errors, if there are none
    condition_number: float | None = None
    design: Design | None = None
    link: str = "identity"
    effect: str | None = None  # the name of the coefficient of interest, if there is one
    how: How | None = None

    # -- coefficients

    @property
    def params(self) -> Floats:
        return to_floats(self.coefficients)

    def __getitem__(self, name: str) -> float:
        """The coefficient of this name."""
        return to_float(self.coefficients[self._index(name)])

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise InvalidParameter(
                "there is no coefficient {name}; there are {names}.", name=shorten(name), names=", ".join(self.names)
            )
        return self.names.index(name)

    def cov_params(self) -> Floats | None:
        return None if self.covariance is None else to_floats(self.covariance)

    @property
    def bse(self) -> Floats | None:
        """Standard errors: the roots of the diagonal of the covariance."""
        if self.covariance is None:
            return None
        squares = [self.covariance[j][j] for j in range(len(self.names))]
        return np.array([root(v) if v >= 0 else np.nan for v in squares])

    @property
    def tvalues(self) -> Floats | None:
        """t statistics, or z statistics without `use_t`."""
        errors = self.bse
        if errors is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.params / errors)

    @property
    def _freedom(self) -> float | None:
        return self.df_resid if self.df_inference is None else self.df_inference

    @property
    def pvalues(self) -> Floats | None:
        """Two-sided p-values of the hypothesis that a coefficient is 0."""
        from scipy.special import ndtr, stdtr

        t = self.tvalues
        if t is None or (self.use_t and self._freedom is None):
            return None
        return np.asarray(2 * (stdtr(self._freedom, -np.abs(t)) if self.use_t else ndtr(-np.abs(t))))

    def conf_int(self, alpha: float = 0.05) -> Floats | None:
        """(low, high) in rows, each covering with probability 1 - alpha."""
        from scipy.special import ndtri, stdtrit

        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
            raise InvalidParameter("conf_int.alpha must lie strictly between 0 and 1, got {got}.", got=shorten(alpha))
        errors = self.bse
        if errors is None or (self.use_t and self._freedom is None):
            return None
        far = float(stdtrit(self._freedom, 1 - alpha / 2) if self.use_t else ndtri(1 - alpha / 2)) * errors
        return np.stack([self.params - far, self.params + far], axis=1)

    # -- fit

    @property
    def nobs(self) -> int | None:
        return self.n

    @property
    def ssr(self) -> float | None:
        """The sum of squared residuals."""
        return None if self.rss is None else to_float(self.rss)

    @property
    def centered_tss(self) -> float | None:
        return to_float(self.tss) if self.tss is not None and self.has_intercept else None

    @property
    def uncentered_tss(self) -> float | None:
        return to_float(self.tss) if self.tss is not None and not self.has_intercept else None

    @property
    def ess(self) -> float | None:
        """The explained sum of squares."""
        return None if self.tss is None or self.rss is None else to_float(self.tss - self.rss)

    @property
    def mse_resid(self) -> float | None:
        return to_float(self.rss / Fraction(self.df_resid)) if self.rss is not None and self.df_resid else None

    @property
    def mse_model(self) -> float | None:
        return None if self.ess is None or not self.df_model else self.ess / self.df_model

    @property
    def rsquared(self) -> float | None:
        """The explained share of the sum of squares; without an intercept about 0, and not about the mean."""
        return to_float(1 - self.rss / self.tss) if self.rss is not None and self.tss else None

    @property
    def rsquared_adj(self) -> float | None:
        if self.rss is None or not self.tss or not self.df_resid or self.n is None:
            return None
        free = self.n - self.k + Fraction(self.df_model)  # degrees of freedom of the outcome without its levels
        return to_float(1 - free * self.rss / (Fraction(self.df_resid) * self.tss))

    @property
    def fvalue(self) -> float | None:
        """F of the hypothesis that all coefficients but the intercept are 0; with robust errors, Wald's form."""
        if self.tss is None or self.rss is None or not self.df_model or not self.df_resid:
            return None
        # With errors of the usual kind F follows from sums of squares; robust errors need the whole covariance.
        if self.cov_type == NONROBUST and not self.wald_f:
            gained = (self.tss - self.rss) / Fraction(self.df_model)
            return to_float(gained / (self.rss / Fraction(self.df_resid))) if self.rss else np.inf
        return self.wald([name for name in self.names if name != INTERCEPT])

    @property
    def f_pvalue(self) -> float | None:
        from scipy.special import fdtrc

        value, below = self.fvalue, self._freedom if self.cov_type != NONROBUST else self.df_resid
        return None if value is None or below is None else float(fdtrc(self.df_model, below, value))

    def wald(self, names: Sequence[str]) -> float | None:
        """b'V^-1 b / k of these coefficients: F(k, df) where all of them are 0. None with fewer clusters than that."""
        at = [self._index(name) for name in names]
        if self.covariance is None or not at or (self.df_inference is not None and len(at) > self.df_inference):
            return None
        b = [self.coefficients[j] for j in at]
        try:
            weighed = [row[0] for row in solve(submatrix(self.covariance, at), [[v] for v in b])]
        except Singular:
            return None
        return to_float(dot(b, weighed) / len(at))

    @property
    def k(self) -> int:
        """How many parameters were estimated."""
        return len(self.names) if self.parameters is None else self.parameters

    @property
    def aic(self) -> float | None:
        return None if self.llf is None else -2 * self.llf + 2 * self.k

    @property
    def bic(self) -> float | None:
        return None if self.llf is None or not self.n else -2 * self.llf + float(np.log(self.n)) * self.k

    @property
    def prsquared(self) -> float | None:
        """McFadden's: 1 - llf / llnull."""
        return None if self.llf is None or not self.llnull else 1 - self.llf / self.llnull

    @property
    def llr(self) -> float | None:
        return None if self.llf is None or self.llnull is None else 2 * (self.llf - self.llnull)

    @property
    def llr_pvalue(self) -> float | None:
        from scipy.special import chdtrc

        return None if self.llr is None or not self.df_model else float(chdtrc(self.df_model, max(self.llr, 0.0)))

    def predict(self, rows: Any) -> Floats:
        """The mean of the outcome for new rows: a frame, a mapping of columns, or a list of rows that are mappings."""
        if self.design is None:
            raise InvalidParameter(
                "{model} cannot predict: its coefficients do not determine the outcome of a row.", model=self.model
            )
        return INVERSE_LINKS[self.link](self.design.matrix(rows) @ self.params)

    # -- shown

    @property
    def notes(self) -> list[str]:
        uncentred = self.uncentered_tss is not None and self.rsquared is not None
        bases = [] if self.design is None else base_notes(self.design)
        return [*super().notes, *bases, *([ABOUT_ZERO] if uncentred else [])]

    @property
    def title(self) -> str:
        return Phrase("{model}: {formula}", model=self.model, formula=self.formula)

    def facts(self) -> list[tuple[str, Any]]:
        about: list[tuple[str, Any]] = [
            (Phrase("Outcome"), self.outcome),
            (Phrase("Errors"), Phrase("none") if self.covariance is None else self.cov_type),
            (Phrase("Rows"), self.n),
        ]
        if self.how is not None:
            about += [(Phrase("Parties"), self.how.parties)] * (self.how.parties is not None)
            about.append((Phrase("Rounds"), self.how.rounds))
        about += [(Phrase("Effect"), self.effect)] * (self.effect is not None)
        about += [(Phrase("Df of residuals"), _count(self.df_resid)), (Phrase("Df of model"), _count(self.df_model))]
        fit: list[tuple[str, Any]] = [
            (Phrase("R-squared"), self.rsquared),
            (Phrase("Adj. R-squared"), self.rsquared_adj),
            ("F", self.fvalue),
            (Phrase("Prob(F)"), None if self.fvalue is None else self.f_pvalue),
            (Phrase("Pseudo R-squared"), self.prsquared),
            (Phrase("Prob(LR)"), self.llr_pvalue),
            (Phrase("Log-likelihood"), self.llf),
            ("AIC", self.aic),
            ("BIC", self.bic),
            (Phrase("Condition number"), self.condition_number),
        ]
        about += [(name, value) for name, value in self.extras.items() if not isinstance(value, Mapping)]
        return [*about, ("", None), *((name, value) for name, value in fit if value is not None)]

    def further_facts(self) -> list[tuple[str, Any]]:
        known = [(Phrase("Residual std err"), self._residual_deviation), (Phrase("LR chi-squared"), self.llr)]
        return [(name, value) for name, value in known if value is not None]

    @property
    def _residual_deviation(self) -> float | None:
        """The standard deviation of residuals, where there is a sum of their squares."""
        return None if self.scale is None or self.rss is None else root(Fraction(self.scale))

    def tables(self) -> list[Table]:
        if self.covariance is None:
            main = Table("", ("", Phrase("coef")), tuple(zip(self.names, self.params.tolist(), strict=True)))
        else:
            test = ("t", Phrase("P>|t|")) if self.use_t else ("z", Phrase("P>|z|"))
            head = ("", Phrase("coef"), Phrase("std err"), *test, *ENDS)
            main = Table("", head, tuple(tuple(row[name] for name in TIDY) for row in self._terms()))
        return [main, *(_extra_table(name, value) for name, value in self.extras.items() if isinstance(value, Mapping))]

    def pictures(self) -> list[Intervals | Curves]:
        return [self._coefficients(0.05)]

    def _coefficients(self, alpha: float) -> Intervals:
        """Coefficients have the units of their columns. If one axis would hide some, each is in its standard errors."""
        ends, values, level = self.conf_int(alpha), self.params, cells.level_percent(1 - alpha)
        if ends is None or not np.isfinite(ends).all():
            rows = tuple(IntervalRow(name, float(b)) for name, b in zip(self.names, values, strict=True))
            return Intervals(Phrase("Coefficients"), rows, "value", zero=True, picture=True)
        title, axis, wide = Phrase("Coefficients, with {level}% intervals", level=level), "", ends[:, 1] - ends[:, 0]
        if self.bse is not None and wide.min() > 0 and wide.max() > WIDE * wide.min():
            values, ends = values / self.bse, ends / self.bse[:, None]
            title = Phrase(
                "Coefficients, with {level}% intervals, each in its own standard errors, since their units differ too "
                "much for one axis",
                level=level,
            )
            axis = Phrase("coefficient, in its own standard errors")
        rows = tuple(
            IntervalRow(name, float(b), float(low), float(high))
            for name, b, (low, high) in zip(self.names, values, ends, strict=True)
        )
        return Intervals(title, rows, "value", 1 - alpha, zero=True, picture=True, axis=axis)

    def tidy(self) -> list[dict[str, Any]]:
        """One row for each coefficient, with the names of R's broom."""
        return self._terms()

    def _terms(self) -> list[dict[str, Any]]:
        ends = self.conf_int()
        columns = (
            self.names,
            self.params.tolist(),
            *(self._listed(v) for v in (self.bse, self.tvalues, self.pvalues)),
            *(self._listed(None if ends is None else ends[:, i]) for i in (0, 1)),
        )
        return [dict(zip(TIDY, row, strict=True)) for row in zip(*columns, strict=True)]

    def _listed(self, values: Floats | None) -> list[Any]:
        return [None] * len(self.names) if values is None else [plain(v) for v in values]

    def to_dict(self) -> dict[str, Any]:
        """Everything that is shown, and the coefficients as exact fractions."""
        about = {"model": self.model, "formula": self.formula, "outcome": self.outcome, "cov_type": self.cov_type}
        exact = dict(zip(self.names, map(str, self.coefficients), strict=True))
        return super().to_dict() | about | {"coefficients": self.tidy(), "exact": exact}

    def plot(self, ax: Any = None, alpha: float = 0.05) -> Any:
        """Coefficients with their intervals, to an axis or a file (needs the `plots` extra)."""
        return draw_picture(self._coefficients(alpha), ax, self.title)


ENDS = (Phrase("[{end:g}", end=0.025), Phrase("{end:g}]", end=0.975))  # of a 95% interval
TIDY = ("term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")


def _extra_table(title: str, figures: Mapping[str, Any]) -> Table:
    """A table of further figures: {row: figure}, or {row: {column: figure}}."""
    inner = next((value for value in figures.values() if isinstance(value, Mapping)), None)
    if inner is None:
        return Table(title, ("", Phrase("value")), tuple(figures.items()))
    return Table(title, ("", *inner), tuple((name, *(value[c] for c in inner)) for name, value in figures.items()))


def _count(value: float | None) -> Any:
    return int(value) if value is not None and value == int(value) else value
