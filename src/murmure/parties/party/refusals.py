"""Why a party takes no part, or cannot go on. Nothing of its rows was revealed when one of these is raised.

PartyRefused
|-- ForbiddenColumn     the study reads a column that this party keeps to itself
|-- NoiseRequired       the study releases exact sums, and this party wants noise
|-- TooFewRows          fewer rows than the study, or this party, wants of one party
|-- NotOnRoster         this party is not on the roster, or is on it with another key
|-- OtherCoordinator    the study is signed by another key than the one that was pinned or named before
|-- OtherKey            a party on the roster has another key than in a study that was joined before
|-- OverBudget          with what noisy studies have cost before, it would pass the budget of this party
|-- TooManySums         with the exact sums of earlier studies, single rows could be worked out
|-- OtherStudy          not the study that was approved
|-- OtherRows           the study was joined with other rows
|-- NotApproved         nobody approved the study
|-- AlreadyRunning      another process runs this study for this party
`-- StudyEnded          it ended without a result, or goes on without this party

Unreachable             the coordinator does not answer
Untrusted               its certificate, or an answer, cannot be trusted
StoreFailed             the party's own file cannot be read, trusted or written
"""

from __future__ import annotations

from murmure.core.errors import BudgetExhausted, MurmureError


class PartyRefused(MurmureError):
    """This party does not take part, or goes no further."""


class ForbiddenColumn(PartyRefused):
    """A column that this party keeps to itself."""


class NoiseRequired(PartyRefused):
    """Exact sums, where this party wants noise."""


class TooFewRows(PartyRefused):
    """So few rows that their sum would reveal each of them."""


class NotOnRoster(PartyRefused):
    """The study does not know this party by its key."""


class OtherCoordinator(PartyRefused):
    """Signed by a key that is not the coordinator's."""


class OtherKey(PartyRefused):
    """A name that is known, with a key that is not."""


class OverBudget(PartyRefused, BudgetExhausted):
    """More than this party's rows may pay."""


class TooManySums(PartyRefused):
    """Nearly as many exact sums as rows, over several studies."""


class OtherStudy(PartyRefused):
    """Not the study that was approved."""


class OtherRows(PartyRefused):
    """Not the rows that the study was joined with."""


class NotApproved(PartyRefused):
    """Nobody approved the study."""


class AlreadyRunning(PartyRefused):
    """One process at a time runs a study for a party."""


class StudyEnded(PartyRefused):
    """It ended without a result for this party."""


class Unreachable(MurmureError):
    """The coordinator does not answer."""


class Untrusted(MurmureError):
    """An answer, or its sender, cannot be trusted."""


class StoreFailed(MurmureError):
    """The party's own file cannot be read, trusted or written."""
