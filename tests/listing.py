"""The plug-ins of a folder: every file directly in it, and what each lists in EXAMPLES. New files are found."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from murmure.catalogue import FOLDERS as PLUG_IN_FOLDERS

STATISTICS = tuple(name for name in PLUG_IN_FOLDERS if name.startswith("murmure.statistics"))


def plug_ins(*folders: str) -> list[str]:
    """The modules that lie directly in these folders; machinery is in folders below."""
    return [
        f"{folder}.{info.name}"
        for folder in folders
        for info in pkgutil.iter_modules(importlib.import_module(folder).__path__)
        if not info.ispkg
    ]


def listed(*folders: str) -> list[tuple[str, Any]]:
    """Every example of these folders, with a name for it: `local.grr[0]`."""
    return [
        (f"{name.removeprefix('murmure.')}[{i}]", example)
        for name in plug_ins(*folders)
        for i, example in enumerate(getattr(importlib.import_module(name), "EXAMPLES", ()))
    ]
