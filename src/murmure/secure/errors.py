"""Why a party or a coordinator stops. The name of an error is sent to others, and no error tells a secret.

ProtocolRefused
|-- BadMessage        cut short, too long, of an unknown version or kind, or with an impossible field
|-- ForgedMessage     not signed by the sender that it names
|-- WrongSession      bound to another study, round, question, encoder or roster: a replay
|-- OutOfOrder        valid, but at the wrong time
|-- Equivocation      a second, different message in the place of the first
|-- RosterDiffers     a list that is not the frozen roster; alive and dropped at once
|-- AskedTwice        shares for a peer were asked for twice
|-- TooFewParties     below the minimum, or too few shares
|-- NoHeadroom        the ring is too small for the largest possible sum
|-- OutOfBound        the party's sum exceeds the bound that it agreed to
|-- SharesDoNotFit    shares that belong to no secret
|-- ImpossibleTotal   a sum that no honest parties can have
|-- CohortRefused     the difference to an earlier release would tell about too few
`-- Declined          a party refused
"""

from __future__ import annotations

from murmure.core.errors import MurmureError


class ProtocolRefused(MurmureError):
    """A message or a request was refused; nothing was revealed."""


class BadMessage(ProtocolRefused):
    """These bytes are not a message of this protocol."""


class ForgedMessage(ProtocolRefused):
    """The signature is not that of the sender."""


class WrongSession(ProtocolRefused):
    """The message belongs to another study, round, question or roster."""


class OutOfOrder(ProtocolRefused):
    """The message does not belong to this stage."""


class Equivocation(ProtocolRefused):
    """Somebody sent two different messages in the same place."""


class RosterDiffers(ProtocolRefused):
    """A list of parties is not the one that was frozen."""


class AskedTwice(ProtocolRefused):
    """Shares are revealed once in a session, and never both shares of one peer."""


class TooFewParties(ProtocolRefused):
    """Fewer parties than agreed: nothing is summed."""


class NoHeadroom(ProtocolRefused):
    """The largest possible sum does not fit in the ring."""


class OutOfBound(ProtocolRefused):
    """The party's sum is beyond its bound; it is never clipped."""


class SharesDoNotFit(ProtocolRefused):
    """Shares that do not rebuild the secret that was promised."""


class ImpossibleTotal(ProtocolRefused):
    """A total beyond what this number of parties can add up to."""


class CohortRefused(ProtocolRefused):
    """Together with earlier releases it would tell about too few parties, or about single rows."""


class Declined(ProtocolRefused):
    """A party refused to go on, or the coordinator ended the study."""
