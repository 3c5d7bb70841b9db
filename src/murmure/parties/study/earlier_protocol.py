"""Studies that ran under protocol 1, before murmure 0.6. Their figures are read as they are; less was hidden than now.

Then most parties did not compare lists before a total was unmasked, so a coordinator that showed different lists to
different parties could open the sums of one (decision 0022). What certificates say today holds for later studies only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from murmure.core.types import Certificate
from murmure.secure.session import PROTOCOL
from murmure.show.phrase import Phrase

NOTE = Phrase(
    "This study ran under an earlier protocol, before murmure 0.6: what is said of the coordinator holds only if it "
    "showed every party the same lists."
)
HIDES = Phrase("every row and every party's sums, from a coordinator that showed every party the same lists")


def is_earlier(message: bytes) -> bool:
    """Whether a message is of a protocol that this release does not speak: b"MU", then the version."""
    return message[:2] == b"MU" and message[2] != PROTOCOL


def as_it_ran(guarantees: Mapping[str, Certificate]) -> dict[str, Certificate]:
    """The certificates of a study that ran under an earlier protocol."""
    return {
        observer: certificate
        if certificate.hides is None
        else replace(
            certificate,
            hides=HIDES,
            assumption=Phrase("{assumption}; it followed the protocol", assumption=certificate.assumption),
        )
        for observer, certificate in guarantees.items()
    }
