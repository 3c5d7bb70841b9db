"""Why a fit has no result. The reason follows from public sums, so it may be as public as these.

FitFailed
|-- Collinear            a column is a combination of others
|-- EmptyCategory        no row has this label, at any party
|-- NoVariation          the outcome, or a column, is the same in all rows
|-- TooFewObservations   no more rows than parameters
|-- Separated            a combination of columns predicts the outcome without error: coefficients are infinite
`-- NotConverged         the allowed rounds were not enough
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from murmure.core.errors import MurmureError


class FitFailed(MurmureError, ValueError):
    """The sums do not determine a result of the model."""

    def __init__(
        self, template: str, /, *, hint: str | None = None, columns: Sequence[str] = (), **fields: Any
    ) -> None:
        super().__init__(template, hint=hint, **fields)
        self.columns = tuple(columns)  # that the error is about


class Collinear(FitFailed):
    """A column of the design is a combination of others."""


class EmptyCategory(FitFailed):
    """A label that no row has, at any party."""


class NoVariation(FitFailed):
    """The outcome, or a column, is the same in all rows."""


class TooFewObservations(FitFailed):
    """No more rows than parameters."""


class Separated(FitFailed):
    """The outcome is predicted without error, so coefficients are infinite."""


class NotConverged(FitFailed):
    """The allowed rounds were not enough."""
