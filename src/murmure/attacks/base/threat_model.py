"""Who attacks: what they see, what they know beforehand, and what they want. Without it a success rate says nothing."""

from __future__ import annotations

from dataclasses import dataclass

from murmure.core.errors import Phrase
from murmure.show.document import Facts


@dataclass(frozen=True)
class ThreatModel:
    sees: str  # of the protocol: the reports, the sums, the noisy answers
    knows: str  # beforehand: the law, public shares, somebody's record
    wants: str  # the question whose answers are counted

    def facts(self) -> Facts:
        return Facts(
            (
                (Phrase("the attacker sees"), self.sees),
                (Phrase("the attacker knows"), self.knows),
                (Phrase("the attacker wants"), self.wants),
            )
        )

    def to_dict(self) -> dict[str, str]:
        return {"sees": str(self.sees), "knows": str(self.knows), "wants": str(self.wants)}
