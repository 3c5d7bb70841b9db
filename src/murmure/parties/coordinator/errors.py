"""What can go wrong around the protocol: on the disk, and at the end of a study."""

from __future__ import annotations

import traceback
from pathlib import Path

from murmure.core.errors import MurmureError


class LogFailed(MurmureError):
    """The log cannot be written or read: nothing more is acknowledged."""


class AlreadyServed(MurmureError):
    """Another process serves this study."""


class StudyOver(MurmureError):
    """The study has ended: with its result, or for a stated reason."""


def error_location(error: BaseException) -> str:
    """The class of an unexpected error and the line it came from, without its message: that may quote data."""
    steps = traceback.extract_tb(error.__traceback__)
    return type(error).__name__ + (f" at {Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "")
