"""Ridge fits for any penalty, all from the sums of one round."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.matrices import Matrix, Singular, Vector, dot, inverse, matmul, quadratic, times
from murmure.econometrics.algebra.rounding import to_float, to_floats
from murmure.econometrics.design.reference_levels import base_notes
from murmure.econometrics.errors import Collinear, FitFailed
from murmure.econometrics.results.result import Drawable, ModelResult, number_name
from murmure.show.document import Curve, Curves, Intervals, Table

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design
    from murmure.econometrics.results.provenance import How

BIASED = Phrase("ridge is biased towards 0, and by how much nobody knows")


def penalty(value: Any) -> Fraction:
    """A penalty, exactly as written: "0.1", "1/3", 10."""
    try:
        number = Fraction(str(value)) if not isinstance(value, Fraction) else value
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if number < 0 or isinstance(value, bool):
        raise InvalidParameter(
            "a penalty of ridge must be a number that is not negative, got {got}.", got=shorten(value)
        )
    return number


@dataclass(frozen=True, repr=False)
class RidgeFit:
    """The fit with one penalty. gcv: None if the number of rows is unknown."""

    penalty: Fraction
    names: tuple[str, ...]
    coefficients: Vector
    df: Fraction
    rss: Fraction
    gcv: Fraction | None

    @property
    def params(self) -> Any:
        return to_floats(self.coefficients)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.names, self.params, strict=True))
        return f"RidgeFit(lambda = {to_float(self.penalty):g}: {listed}; df = {to_float(self.df):.4g})"


@dataclass(frozen=True, eq=False)
class RidgePath(ModelResult, Drawable):
    """Fits with many penalties: `at(lambda)` gives any, `best` the one with the least generalised cross-validation."""

    formula: str
    outcome: str
    names: tuple[str, ...]
    A: Matrix
    c: Vector
    yy: Fraction
    n: int | None
    penalised: tuple[bool, ...]
    lambdas: tuple[Fraction, ...]
    noisy: bool = False
    design: Design | None = None
    how: How | None = None
    _fits: dict[Fraction, RidgeFit] = field(default_factory=dict, repr=False)

    def at(self, lambda_: Any) -> RidgeFit:
        """The fit with any penalty, also one that was not asked for: the sums are the same."""
        key = penalty(lambda_)
        if key not in self._fits:
            self._fits[key] = self._fit(key)
        return self._fits[key]

    def _fit(self, lambda_: Fraction) -> RidgeFit:
        p = len(self.names)
        ridged = [
            [v + (lambda_ if i == j and self.penalised[i] else 0) for j, v in enumerate(row)]
            for i, row in enumerate(self.A)
        ]
        try:
            inverted = inverse(ridged)
        except Singular as no:
            named = [self.names[k] for k in no.columns]
            kind, hint = (
                (FitFailed, Phrase("a larger penalty")) if self.noisy else (Collinear, Phrase("a penalty above 0"))
            )
            raise kind(
                "with penalty {lambda_value} some columns depend on one another: {named}.",
                hint=hint,
                lambda_value=lambda_,
                named=", ".join(named),
            ) from None
        beta = times(inverted, self.c)
        hat = matmul(self.A, inverted)
        df = sum((hat[j][j] for j in range(p)), Fraction(0))
        rss = self.yy - 2 * dot(self.c, beta) + quadratic(beta, self.A)
        gcv = None
        if self.n is not None and df < self.n:
            gcv = (rss / self.n) / (1 - df / self.n) ** 2
        return RidgeFit(lambda_, self.names, beta, df, rss, gcv)

    @property
    def fits(self) -> list[RidgeFit]:
        return [self.at(lambda_) for lambda_ in self.lambdas]

    @property
    def best(self) -> RidgeFit | None:
        """The best fit of the penalties that were asked for; None if the number of rows is unknown."""
        known = [fit for fit in self.fits if fit.gcv is not None]
        return min(known, key=lambda fit: fit.gcv or 0) if known else None

    @property
    def params(self) -> Any:
        """Coefficients of the best fit; of the first, if the best is unknown."""
        return (self.best or self.fits[0]).params

    bse = None  # ridge is biased, so standard errors would mislead

    def predict(self, rows: Any, lambda_: Any = None) -> Any:
        """Predictions with this penalty, or with the best one."""
        if self.design is None:
            raise InvalidParameter("this path has no design: it cannot predict.")
        params = self.params if lambda_ is None else self.at(lambda_).params
        return self.design.matrix(rows) @ params

    # -- shown

    @property
    def title(self) -> str:
        return Phrase("Ridge: {formula}", formula=self.formula)

    def facts(self) -> list[tuple[str, Any]]:
        best = self.best
        free = [name for name, is_penalised in zip(self.names, self.penalised, strict=True) if not is_penalised]
        return [
            (Phrase("Outcome"), self.outcome),
            (Phrase("Rows"), self.n),
            (Phrase("Penalties"), len(self.lambdas)),
            (Phrase("Not penalised"), ", ".join(free) or Phrase("none")),
            (Phrase("Least GCV at penalty"), None if best is None else number_name(best.penalty, short=True)),
        ]

    def tables(self) -> list[Table]:
        fits = self.fits
        rows = tuple(
            (
                number_name(fit.penalty, short=True),
                *(None if v is None else to_float(v) for v in (fit.df, fit.rss, fit.gcv)),
            )
            for fit in fits
        )
        best = self.best
        shown = best or fits[0]
        coefficients = tuple(zip(self.names, shown.params.tolist(), strict=True))
        title = Phrase("Coefficients with penalty {penalty}", penalty=number_name(shown.penalty, short=True))
        which = None if best is None else fits.index(best)
        return [
            Table("", (Phrase("penalty"), Phrase("df"), Phrase("RSS"), "GCV"), rows, best=which),
            Table(title, ("", Phrase("coef")), coefficients),
        ]

    def pictures(self) -> list[Intervals | Curves]:
        """Coefficients against the penalty, on a scale of powers of ten; no penalty is one power to the left."""
        fits = sorted(self.fits, key=lambda fit: fit.penalty)
        powers = [math.log10(to_float(fit.penalty)) if fit.penalty else -math.inf for fit in fits]
        left = min((v for v in powers if math.isfinite(v)), default=0.0) - 1
        x = tuple(max(v, left) for v in powers)
        lines = [
            Curve(name, x, tuple(float(fit.params[j]) for fit in fits))
            for j, name in enumerate(self.names)
            if self.penalised[j]
        ]
        axis = (
            Phrase("penalty, as a power of ten; at the left end none")
            if any(not fit.penalty for fit in fits)
            else Phrase("penalty, as a power of ten")
        )
        return [Curves(Phrase("Coefficients by penalty"), tuple(lines), axis, Phrase("coefficient"))]

    def tidy(self) -> list[dict[str, Any]]:
        """One row for each penalty and coefficient, as R's broom has it."""
        return [
            {"lambda": to_float(fit.penalty), "term": name, "estimate": to_float(b), "std_error": None}
            for fit in self.fits
            for name, b in zip(self.names, fit.coefficients, strict=True)
        ]

    def explanations(self) -> list[str]:
        if self.n is None:
            return []
        return [
            Phrase("GCV is generalised cross-validation: an estimate of the error on new rows; the least is the best.")
        ]

    @property
    def notes(self) -> list[str]:
        out: list[str] = [Phrase("No standard errors: {reason}.", reason=BIASED)]
        if self.n is None:
            out.append(Phrase("No GCV: the number of rows is not known."))
        out += [] if self.design is None else base_notes(self.design)
        return [*out, Phrase("All figures are read off noisy sums.")] if self.noisy else out
