"""The model that a public function makes, before anybody is asked: `ols("y ~ x", NO_ROWS, schema=schema)` is an OLS.

A study holds models and no rows. Since its file is read by the public functions themselves, it takes their keywords,
with their defaults and their checks, and there is no second list that could differ.
"""

from __future__ import annotations


class NoRows:
    """In place of a table: `ask` returns the model as it is. A schema must be given, since nothing can be read off."""

    def __repr__(self) -> str:
        return "NO_ROWS"


NO_ROWS = NoRows()
