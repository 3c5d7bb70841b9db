"""A budget in concentrated privacy: (epsilon, delta), or rho itself. What Gaussian-like noises have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.zcdp import checked_delta, epsilon_from_rho, rho_from_epsilon


@dataclass(frozen=True)
class RhoBudget:
    """With a rho, delta is the one at which an epsilon is stated."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        if (self.epsilon is None) == (self.rho is None) or (self.epsilon is not None and self.delta is None):
            raise InvalidParameter(
                "{name} takes epsilon and delta, or rho, got epsilon={epsilon}, delta={delta}, rho={rho}.",
                hint="{name}(epsilon=1.0, delta=1e-6), or {name}(rho=0.05)",
                name=name,
                epsilon=shorten(self.epsilon),
                delta=shorten(self.delta),
                rho=shorten(self.rho),
            )
        for what in ("epsilon", "rho"):
            value = getattr(self, what)
            if value is not None:
                object.__setattr__(self, what, positive_epsilon(name, value, what))
        if self.delta is not None:
            object.__setattr__(self, "delta", checked_delta(self.delta))

    @property
    def budget(self) -> float:
        """rho, rounded down."""
        if self.rho is not None:
            return self.rho
        assert self.epsilon is not None and self.delta is not None
        rho = rho_from_epsilon(self.epsilon, self.delta)
        if not rho > 0:
            raise InvalidParameter(
                "{kind}: epsilon={epsilon!r} at delta={delta!r} leaves no room for noise.",
                hint="a larger epsilon",
                kind=type(self).__name__,
                epsilon=self.epsilon,
                delta=self.delta,
            )
        return rho

    def epsilon_for(self, rho: float) -> float:
        """The epsilon that noise of this rho states at delta; infinite without a delta."""
        epsilon = math.inf if self.delta is None else epsilon_from_rho(rho, self.delta)
        if self.epsilon is not None and rho <= self.budget:
            return min(epsilon, self.epsilon)  # both are true: rho is at most what the asked epsilon allows
        return epsilon
