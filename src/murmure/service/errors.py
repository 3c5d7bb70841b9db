"""What can go wrong around the protocol: on the disk, and at the end of a study."""

from __future__ import annotations

from murmure.core.errors import MurmureError


class LogFailed(MurmureError):
    """What was said cannot be written down, or not be read back: nothing more is acknowledged."""


class AlreadyServed(MurmureError):
    """Another process serves this study."""


class StudyOver(MurmureError):
    """The study has ended: with its result, or for a reason that is said."""
