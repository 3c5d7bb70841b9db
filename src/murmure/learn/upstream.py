"""What came before a learner, as far as it is public: columns without names, steps of a scikit-learn pipeline.

A schema that describes the table at the start of a pipeline does not describe what a scaler makes of it: every value is
then moved to a bound, and the budget buys a model of nothing. Nobody may look at the rows to find that out, but the
lack of names and the steps themselves are public, so the holder is told of them before anything is charged.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Any

from murmure.core.errors import Phrase, SchemaWarning, shorten
from murmure.core.schema import Schema
from murmure.learn.training_table import named_columns
from murmure.run.engine_choice import is_elsewhere
from murmure.show.document import sentences
from murmure.show.language import language


def warn_of_upstream(learner: Any, X: Any, schema: Schema | None, target: str | None, charged: bool) -> None:
    """A SchemaWarning where the schema may describe another table than the one that came. Reads no row."""
    if schema is None:
        return
    parts: list[str] = []
    elsewhere = isinstance(X, str | os.PathLike) or is_elsewhere(X)
    if not elsewhere and named_columns(X) is None:
        order = shorten([name for name in schema.private if name != target], 200)
        parts.append(
            Phrase("X has no column names: its columns are taken in the order of the schema, {order}.", order=order)
        )
    steps = steps_before(learner)
    if steps:
        parts.append(
            Phrase(
                "Steps of a pipeline come before it ({steps}): the schema must describe what they deliver. What a step "
                "learns from the rows is outside the guarantee.",
                steps=", ".join(steps),
            )
        )
    if not parts:
        return
    parts.append(
        Phrase(
            "Values beyond the bounds of the schema are moved to the nearest bound, and the budget is spent all the "
            "same."
        )
        if charged
        else Phrase("Values beyond the bounds of the schema are moved to the nearest bound.")
    )
    way_out = (
        Phrase("leave scalers out: the schema's bounds do their work")
        if steps
        else Phrase("pass a table with named columns")
    )
    message = Phrase(
        "{owner}: {parts}\n  Hint: {hint}; warnings.simplefilter('error') stops here, uncharged",
        owner=type(learner).__name__,
        parts=sentences(*parts),
        hint=way_out,
    )
    warnings.warn(language().say(message), SchemaWarning, stacklevel=stack_level())


def stack_level(*others: str) -> int:
    """How far up the call came from: the first frame that is not of this package, nor of others."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("murmure.", *others)):
        frame, levels = frame.f_back, levels + 1
    return levels


def steps_before(learner: Any) -> list[str]:
    """The steps of the scikit-learn pipelines that are fitting now, but for the last ones: "scale: StandardScaler".

    A pipeline calls a learner as any other code does, and a scaler can keep the names of columns, so only the call
    stack shows it. If this finds nothing, a warning is missing; nothing else depends on it.
    """
    from murmure.learn.base import Learner

    known = sys.modules.get("sklearn.pipeline")
    found: list[str] = []
    visited: set[int] = set()
    frame: FrameType | None = sys._getframe(1)
    while known is not None and frame is not None:
        caller = frame.f_locals.get("self") if frame.f_code.co_name.startswith("fit") else None
        if caller is not learner and isinstance(caller, Learner):
            return []  # a learner inside a learner: the outer one spoke
        if isinstance(caller, known.Pipeline) and id(caller) not in visited:
            visited.add(id(caller))
            steps = [(name, step) for name, step in caller.steps[:-1] if step not in (None, "passthrough")]
            found[:0] = [f"{name}: {type(step).__name__}" for name, step in steps]
        frame = frame.f_back
    return found
