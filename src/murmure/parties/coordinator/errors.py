"""What can go wrong around the protocol: on the disk, and at the end of a study."""

from __future__ import annotations

import traceback
from pathlib import Path

from murmure.core.errors import MurmureError


class LogFailed(MurmureError):
    """What was said cannot be written down, or not be read back: nothing more is acknowledged."""


class AlreadyServed(MurmureError):
    """Another process serves this study."""


class StudyOver(MurmureError):
    """The study has ended: with its result, or for a reason that is said."""


def error_location(error: BaseException) -> str:
    """The kind of a mistake of ours and the line it came from, and nothing that it held."""
    steps = traceback.extract_tb(error.__traceback__)
    return type(error).__name__ + (f" at {Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "")
