"""Why reports are not taken, or the folder is not opened. `reason` is the word that counters and replies use.

IntakeFailed
|-- IntakeBusy        busy      too many reports wait for the disk
|-- DiskRefused       disk      the log could not grow; it was cut back to the last whole commit
|-- LogUntrusted      restart   the disk did not confirm a commit: only a restart shows what is in the log
|-- IntakeClosed      closed    the intake was closed
|-- FolderLocked      locked    another process writes to this folder
|-- LogDamaged        damaged   a file of the folder is damaged, missing or of another version
|-- FoldingStopped    folding   acknowledged reports are safe in the log, but not in the tallies
`-- TalliesDiffer     tallies   the tallies are not those of the stored reports
"""

from __future__ import annotations

from typing import ClassVar

from murmure.core.errors import MurmureError


class IntakeFailed(MurmureError):
    """A report was not stored, or the intake cannot be opened or trusted."""

    reason: ClassVar[str] = "intake"


class IntakeBusy(IntakeFailed):
    """More reports wait than may wait."""

    reason = "busy"


class DiskRefused(IntakeFailed):
    """The log could not grow. Space may come back: the next reports are tried again."""

    reason = "disk"


class LogUntrusted(IntakeFailed):
    """After a failed fdatasync nobody knows which bytes are on the disk."""

    reason = "restart"


class IntakeClosed(IntakeFailed):
    """The intake was closed."""

    reason = "closed"


class FolderLocked(IntakeFailed):
    """Two processes must never write to the same folder."""

    reason = "locked"


class LogDamaged(IntakeFailed):
    """Going on would lose acknowledged reports without a word."""

    reason = "damaged"


class FoldingStopped(IntakeFailed):
    """The database lags behind the log."""

    reason = "folding"


class TalliesDiffer(IntakeFailed):
    """A tally is not the sum of the stored reports."""

    reason = "tallies"
