"""The table that `transform` returns: an array, or a pandas or Polars frame whose columns have names.

As in scikit-learn: `set_output` decides for one learner, `sklearn.set_config(transform_output=...)` for all of them.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, shorten

Output = Literal["default", "pandas", "polars"]


class TransformOutput:
    """For a learner that transforms rows, and names the columns of the result in `get_feature_names_out`."""

    get_feature_names_out: Any

    def set_output(self, *, transform: Output | None = None) -> Self:
        """What `transform` returns from now on: "default" (an array), "pandas" or "polars"; None changes nothing."""
        if transform not in (None, "default", "pandas", "polars"):
            raise InvalidParameter(
                '{kind}.set_output takes "default", "pandas" or "polars", got {got}.',
                kind=type(self).__name__,
                got=shorten(transform),
            )
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # scikit-learn's clone copies this attribute
        return self

    def _in_output(self, values: NDArray[np.float64], X: Any) -> Any:
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config()["transform_output"]
        if kind == "pandas":
            import pandas as pd

            index = X.index if isinstance(X, pd.DataFrame) else None
            return pd.DataFrame(values, index=index, columns=self.get_feature_names_out())
        if kind == "polars":
            import polars as pl

            return pl.DataFrame(values, schema=self.get_feature_names_out().tolist(), orient="row")
        return values
