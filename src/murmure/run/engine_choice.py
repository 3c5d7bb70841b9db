"""Which engine works on a frame: the one it is on, and this machine for everything else."""

from __future__ import annotations

import os
import sys
from typing import Any

from murmure.catalogue import load
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.types import Engine
from murmure.engines.memory import Memory

# Engines with frames of their own, by the library that makes these: where it is not loaded nobody can hold one.
LIBRARIES = {"pyspark": "Spark"}


def engine_for(frame: Any, engine: Any = None) -> Any:
    """The engine that was given, if it is one; else Spark for a Spark frame, and this machine for anything else."""
    if engine is None:
        known = (load(name)() for library, name in LIBRARIES.items() if library in sys.modules)
        return next((engine for engine in known if is_on(engine, frame)), None) or Memory()
    if isinstance(engine, type) or not isinstance(engine, Engine):
        raise InvalidParameter(
            "engine must be an engine, got {got}.",
            hint="engine=mu.Memory() or mu.Spark(); your own inherits from murmure.core.types.Engine",
            got=shorten(engine),
        )
    return engine


def is_on(engine: Engine, frame: Any) -> bool:
    """Whether this is a frame of the engine itself. Files are on none, though an engine may read them itself."""
    return not isinstance(frame, str | os.PathLike) and engine.accepts(frame)


def is_elsewhere(frame: Any) -> bool:
    """Whether the rows of a frame are on another engine than this machine."""
    return is_on(engine_for(frame), frame)
