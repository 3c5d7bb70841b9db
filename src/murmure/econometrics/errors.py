"""Why a fit has no result: it follows from public sums, so whoever reads these may read the reason too.

FitFailed
|-- Collinear       a column is a combination of others
|-- EmptyCategory   nobody has this label, at any party
|-- NoVariation     the outcome, or a column, is the same for everybody
|-- TooFewRows      no more rows than parameters
|-- Separated       a combination of columns predicts the outcome without error: no finite coefficients
`-- NotConverged    so many rounds were not enough
"""

from __future__ import annotations

from collections.abc import Sequence

from murmure.core.errors import MurmureError


class FitFailed(MurmureError, ValueError):
    """The sums are there, and the model cannot be read off them."""

    def __init__(self, message: str, *, hint: str | None = None, columns: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.columns = tuple(columns)  # whom it is about


class Collinear(FitFailed):
    """A column of the design is a combination of others."""


class EmptyCategory(FitFailed):
    """A label that nobody has, at any party."""


class NoVariation(FitFailed):
    """The same for everybody."""


class TooFewObservations(FitFailed):
    """No more rows than parameters."""


class Separated(FitFailed):
    """The outcome is predicted without error, and coefficients have no bound."""


class NotConverged(FitFailed):
    """So many rounds were not enough."""
