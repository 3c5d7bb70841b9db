"""Where data sets are looked for: the folder that MURMURE_DATA names, then Murmure's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_folder() -> Path | None:
    named = os.environ.get("MURMURE_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """MURMURE_CACHE, or the folder for such files on this system. It may not exist yet."""
    named = os.environ.get("MURMURE_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "murmure" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "murmure"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if os.path.isabs(shared) else Path.home() / ".cache") / "murmure"  # as XDG's standard has it
