"""Random sampling plus fake data: one attribute is real, the others are fakes, and nobody says which.

    P[y | x] = sum_j s_j P_j[y_j | x_j] prod_{i != j} F_i[y_i]

Fakes are uniform codes (GRR), bits of nobody (SUE-z, OUE-z) or bits of a uniform value (SUE-r, OUE-r) in RS+FD
(Arcolezi et al., CIKM 2021), and follow public priors in RS+RFD (Arcolezi et al., PVLDB 2023).

The papers run P_j at epsilon' = ln(d (e^epsilon - 1) + 1) and claim epsilon. The certifier finds epsilon' when the
whole record may differ, and epsilon when one attribute may, but only for -z and for equal domains. So `calibrate` says
what epsilon means here: "record" (epsilon' = epsilon), "attribute" (epsilon' solved so that one attribute costs
epsilon), or "paper" (the published epsilon', for which no epsilon is stated).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from murmure.catalogue import load
from murmure.core.catalogue_entries import RecordEntry, SolutionForm
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import on_simplex
from murmure.core.fixed import MAX_EPSILON, exactly, exp, log_up
from murmure.core.schema import Schema
from murmure.core.types import Release, Unit
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeCode, FakeValue, FakeZeros, Hidden, HiddenPart
from murmure.laws.likelihoods import attribute_ratio
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.oracle_choice import Criterion, Oracle, check_oracle, least_variance
from murmure.local.base.record_mechanism import RecordMechanism, check_weights

Calibrate = Literal["record", "attribute", "paper"]
FAKES = ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")
ADAPTIVE = ("GRR", "OUE-z")
MIN_PRIOR = 0.05  # of an even share: the smallest share of a prior that comes from a release


class FakeData(RecordMechanism):
    """What RS+FD and RS+RFD share."""

    oracle: Oracle
    calibrate: Calibrate
    weights: tuple[float, ...] | str | None

    def _check_fakes(self, allowed: tuple[str, ...]) -> None:
        self._check()
        object.__setattr__(self, "oracle", check_oracle(self, self.oracle, self.domain, allowed))
        if self.calibrate not in ("record", "attribute", "paper"):
            raise InvalidParameter(
                '{kind}.calibrate must be "record", "attribute" or "paper", got {calibrate}.',
                kind=type(self).__name__,
                calibrate=shorten(self.calibrate),
            )
        if self.weights != "balanced":
            object.__setattr__(self, "weights", check_weights(self, "weights", self.weights, self.domain))

    def why_no_pair(self, i: int, j: int) -> str | None:
        return Phrase("a person reports one real attribute, so reports carry no information about pairs")

    def requested_epsilon(self, unit: Unit) -> float | None:
        return self.epsilon if unit == self.calibrate else None

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """The law of a fake value of every column."""
        return tuple(Cut(domain.size) for domain in self.domains)

    # -- from the inner epsilon to the law ------------------------------------------------------------------------

    def _part(self, i: int, name: str, inner: float) -> tuple[Any, HiddenPart]:
        kind, _, fake = name.partition("-")
        real: Any = load(kind)(self.domains[i], inner)
        if kind == "GRR":
            return real, FakeCode(real.channel, self.cuts[i])
        return real, FakeZeros(real.channel) if fake == "z" else FakeValue(real.channel, self.cuts[i])

    def _chances(self, inner: float) -> Cut:
        if self.weights is None:
            return Cut(len(self.columns))
        if isinstance(self.weights, tuple):
            return Cut.of(self.weights)
        # (k - 1 + E') / k: with these chances every attribute hides as well as the others (GRR, uniform fakes)
        E = float(exp(inner)) if inner < 700 else math.inf
        return Cut.of([1.0 if math.isinf(E) else (d.size - 1 + E) / d.size for d in self.domains])

    def _law(self, inner: float) -> Hidden:
        parts = tuple(self._part(i, name, inner)[1] for i, name in enumerate(self.names))
        return Hidden(parts, self._chances(inner))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The protocol of every column."""
        if isinstance(self.oracle, tuple):
            return tuple(self._choose_oracle(i) if n == "adaptive" else n for i, n in enumerate(self.oracle))
        if self.oracle == "adaptive":
            return tuple(self._choose_oracle(i) for i in range(len(self.columns)))
        return (self.oracle,) * len(self.columns)

    by: Criterion = "variance"

    def _choose_oracle(self, i: int) -> str:
        # The inner epsilon of "attribute" depends on the oracles, which are chosen here: the published one decides.
        inner = self.epsilon if self.calibrate == "record" else self._published_epsilon
        chance = self._chances(inner).prob(i)
        candidates = {name: HiddenOracle(*self._part(i, name, inner), chance) for name in ADAPTIVE}
        best = least_variance(list(candidates.values()), self.by)
        return next(name for name, candidate in candidates.items() if candidate is best)

    @cached_property
    @exactly
    def _published_epsilon(self) -> float:
        """ln(d (e^epsilon - 1) + 1), the papers' amplified epsilon."""
        return min(MAX_EPSILON, float((len(self.columns) * (exp(self.epsilon) - 1) + 1).ln()))

    @cached_property
    def inner(self) -> float:
        """The epsilon at which the real attribute is randomised."""
        if self.calibrate == "record":
            return self.epsilon
        return self._published_epsilon if self.calibrate == "paper" else self._solve_inner()

    def _solve_inner(self) -> float:
        """The largest inner epsilon at which one attribute costs at most epsilon (bisection on the exact loss)."""

        def fits(inner: float) -> bool:
            return log_up(attribute_ratio(self._law(inner))[0]) <= self.epsilon

        low, high = self.epsilon, self._published_epsilon
        if not fits(low):  # one attribute never costs more than the whole record
            raise InvalidParameter(
                "{kind}: no inner epsilon gives {epsilon!r} per attribute.",
                kind=type(self).__name__,
                epsilon=self.epsilon,
            )
        while fits(high):
            if high >= MAX_EPSILON:  # the integers of the law cannot get any further apart
                return high
            low, high = high, min(MAX_EPSILON, 2 * high)
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    @cached_property
    def channel(self) -> Hidden:
        return self._law(self.inner)

    @cached_property
    def parts(self) -> tuple[HiddenOracle, ...]:
        chances = self.channel.chances
        return tuple(
            HiddenOracle(*self._part(i, name, self.inner), chances.prob(i)) for i, name in enumerate(self.names)
        )


@dataclass(frozen=True)
class RSFD(FakeData):
    """Fakes are uniform. weights: unequal chances of being real; "balanced": so that attributes hide equally well."""

    domain: Schema
    epsilon: float
    oracle: Oracle = "GRR"
    calibrate: Calibrate = "record"
    weights: tuple[float, ...] | str | None = None

    entry = RecordEntry(
        order=40,
        color="#e08a1e",
        sentence="one column of a person is randomised, the others are invented, and nobody is told which.",
        solutions=(
            SolutionForm("rsfd-grr", ("weights", "calibrate"), {"oracle": "GRR"}),
            SolutionForm("rsfd-sue-z", ("weights", "calibrate"), {"oracle": "SUE-z"}),
            SolutionForm("rsfd-sue-r", ("weights", "calibrate"), {"oracle": "SUE-r"}),
            SolutionForm("rsfd-oue-z", ("weights", "calibrate"), {"oracle": "OUE-z"}),
            SolutionForm("rsfd-oue-r", ("weights", "calibrate"), {"oracle": "OUE-r"}),
        ),
    )

    def __post_init__(self) -> None:
        self._check_fakes(("adaptive", *FAKES))


@dataclass(frozen=True)
class RSRFD(FakeData):
    """Fakes follow priors: public shares by column, or an earlier release, which was paid for separately."""

    domain: Schema
    epsilon: float
    priors: Any  # tuple of tuples, once checked
    oracle: Oracle = "GRR"
    calibrate: Calibrate = "record"
    weights: tuple[float, ...] | str | None = None
    paid: str | None = None  # the digest of the plan whose release gave the priors

    entry = RecordEntry(
        order=50,
        sentence=(
            "one column of a person is randomised, the others are invented after public shares, and nobody is "
            "told which."
        ),
        solutions=(
            SolutionForm("rsrfd-grr", ("weights", "calibrate", "priors"), {"oracle": "GRR"}),
            SolutionForm("rsrfd-sue-r", ("weights", "calibrate", "priors"), {"oracle": "SUE-r"}),
            SolutionForm("rsrfd-oue-r", ("weights", "calibrate", "priors"), {"oracle": "OUE-r"}),
        ),
    )

    def __post_init__(self) -> None:
        self._check_fakes(("GRR", "SUE-r", "OUE-r"))
        object.__setattr__(self, "priors", self._parse_priors(self.priors))

    def _parse_priors(self, given: Any) -> tuple[tuple[float, ...], ...]:
        if isinstance(given, Release):
            object.__setattr__(self, "paid", given.plan)
            given = {name: prior_from_estimate(name, given.estimate[name]) for name in self.columns}
        if self.paid is not None and not isinstance(self.paid, str):
            raise InvalidParameter("RSRFD.paid must be the digest of a plan, got {got}.", got=shorten(self.paid))
        if isinstance(given, Mapping):
            unknown, missing = set(given) - set(self.columns), [c for c in self.columns if c not in given]
            if unknown or missing:
                raise InvalidParameter(
                    "RSRFD.priors must name the columns {column_names}, got {got}.",
                    column_names=list(self.columns),
                    got=shorten(list(given), 120),
                )
            given = [given[column] for column in self.columns]
        if not isinstance(given, list | tuple) or len(given) != len(self.columns):
            raise InvalidParameter(
                "RSRFD.priors must hold shares for each of {column_count} columns, got {got}.",
                hint='priors={{"smoker": [0.8, 0.2], ...}}: public shares, or a Release of an earlier plan',
                column_count=len(self.columns),
                got=shorten(given),
            )
        return tuple(self._prior(*pair) for pair in zip(self.columns, given, strict=True))

    def _prior(self, column: str, shares: Any) -> tuple[float, ...]:
        prior = tuple(float(s) for s in np.asarray(shares, float).reshape(-1))
        size = self.domain[column].size
        if len(prior) != size or not all(0 <= s <= 1 for s in prior) or not math.isclose(sum(prior), 1, abs_tol=1e-6):
            raise InvalidParameter(
                "RSRFD.priors of column {column!r} must be {size} shares that sum to 1, got {got}.",
                column=column,
                size=size,
                got=shorten(prior),
            )
        if min(prior) <= 0:
            raise InvalidParameter(
                "RSRFD.priors of column {column!r} hold a share of 0: a fake would never report that value, so a "
                "report of it would be known to be real.",
                hint="give every value a small share",
                column=column,
            )
        return prior

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        return tuple(Cut.of(prior) for prior in self.priors)

    @property
    def assumption(self) -> str | None:
        """What the certificate rests on: priors that were paid for separately."""
        if self.paid is None:
            return None
        return Phrase(
            "the priors come from the release of plan {plan}, which was paid for on its own", plan=self.paid[:12]
        )


def prior_from_estimate(column: str, estimate: Any) -> Any:
    """Estimated shares as a prior: on the simplex, no value rarer than a twentieth of an even share."""
    if estimate.unit != "share" or not np.isfinite(estimate.mean).all():
        raise InvalidParameter(
            "RSRFD.priors: the release holds no shares of column {column!r} ({reason}).",
            hint="give public shares of that column",
            column=column,
            reason=estimate.reason or Phrase("it holds numbers"),
        )
    return as_prior(estimate.mean)


def as_prior(shares: Any) -> Any:
    """Shares on the simplex, none below a twentieth of an even one."""
    f = on_simplex(np.asarray(shares, float))
    f = np.maximum(f, MIN_PRIOR / len(f))
    return f / f.sum()


_SMALL = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3)})
_THREE = Schema({"a": Categories(2), "b": Categories(3), "c": Categories(2)})
_PRIORS = ((0.9, 0.1), (0.7, 0.2, 0.1))

EXAMPLES = (
    RSFD(_SMALL, 1.0),
    RSFD(_THREE, 1.0, calibrate="attribute"),
    RSFD(_SMALL, 1.0, calibrate="paper"),
    RSFD(_THREE, 2.0, calibrate="attribute", weights="balanced"),
    RSFD(_SMALL, 1.0, oracle="SUE-z", weights=(2.0, 1.0)),
    RSFD(_SMALL, 1.0, oracle="OUE-z", calibrate="attribute"),
    RSFD(_SMALL, 1.0, oracle="SUE-r"),
    RSFD(_SMALL, 0.5, oracle="OUE-r", calibrate="attribute"),
    RSFD(_THREE, 1.0, oracle=("GRR", "OUE-z", "GRR")),
    RSRFD(_SMALL, 1.0, _PRIORS),
    RSRFD(_SMALL, 1.0, _PRIORS, calibrate="attribute"),
    RSRFD(_SMALL, 1.0, _PRIORS, oracle="OUE-r"),
)
