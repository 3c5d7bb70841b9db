"""Why a party or a coordinator goes no further. Each has a name that travels, and none tells a secret.

ProtocolRefused
|-- BadMessage        cut short, too long, of an unknown version or kind, with a field that cannot be
|-- ForgedMessage     not signed by whom it names
|-- WrongSession      bound to another study, round, question, encoder or roster: a replay
|-- OutOfOrder        right, at the wrong time
|-- Equivocation      a second message, and another one, where one was said
|-- RosterDiffers     a list that is not the frozen roster; alive and dropped at once
|-- AskedTwice        shares for a peer were asked for twice
|-- TooFewParties     below the minimum, or too few shares
|-- NoHeadroom        the ring is too small for the largest possible sum
|-- OutOfBound        a party's own sum exceeds the bound that it agreed to
|-- SharesDoNotFit    shares that belong to no secret
|-- ImpossibleTotal   a sum that no honest parties can have
|-- CohortRefused     the difference to an earlier release would tell about too few
`-- Declined          a party said no
"""

from __future__ import annotations

from murmure.core.errors import MurmureError


class ProtocolRefused(MurmureError):
    """A message or a request was refused; nothing was revealed."""


class BadMessage(ProtocolRefused):
    """These bytes are no message of this protocol."""


class ForgedMessage(ProtocolRefused):
    """The signature is not that of the sender."""


class WrongSession(ProtocolRefused):
    """The message belongs to another study, round, question or roster."""


class OutOfOrder(ProtocolRefused):
    """The message does not belong to this stage."""


class Equivocation(ProtocolRefused):
    """Somebody said two different things in the same place."""


class RosterDiffers(ProtocolRefused):
    """A list of parties is not the one that was frozen."""


class AskedTwice(ProtocolRefused):
    """Shares leave once in a session, and never both of one peer."""


class TooFewParties(ProtocolRefused):
    """Fewer parties than agreed: nothing is summed."""


class NoHeadroom(ProtocolRefused):
    """The largest possible sum does not fit in the ring."""


class OutOfBound(ProtocolRefused):
    """A party's own sum is beyond its bound; it is never clipped."""


class SharesDoNotFit(ProtocolRefused):
    """Shares that do not rebuild the secret that was promised."""


class ImpossibleTotal(ProtocolRefused):
    """A total beyond what so many parties can add up to."""


class CohortRefused(ProtocolRefused):
    """Together with what was released it would tell about too few parties, or about single rows."""


class Declined(ProtocolRefused):
    """A party refused to go on, or the coordinator ended the study."""
