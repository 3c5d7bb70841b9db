"""All that a page, a status or a result shows of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.service.coordinator_store import Summed
from murmure.service.figures import Figures, figures_of
from murmure.service.standing import Standing

if TYPE_CHECKING:
    from murmure.service.coordinator import Runner
    from murmure.study import Study


@dataclass(frozen=True)
class Seen:
    """All that the page shows."""

    study: Study
    standing: Standing
    results: tuple[Summed, ...] = ()

    @classmethod
    def of(cls, runner: Runner) -> Seen:
        standing = runner.standing
        return cls(runner.study, standing, runner.results[: standing.results])

    @property
    def running(self) -> bool:
        return self.standing.state in ("gathering", "running")

    def figures(self) -> list[tuple[Summed, Figures]]:
        return [(one, figures_of(self.study.plans[one.round - 1], one.sums)) for one in self.results]

    def to_dict(self) -> dict[str, Any]:
        """For machines; parties by name."""
        study, standing = self.study, self.standing
        ended = standing.ended
        return {
            "study": study.name,
            "digest": study.digest.hex(),
            "state": standing.state,
            "round": standing.round,
            "rounds": len(study.plans),
            "stage": standing.stage,
            "minimum": study.plans[0].parties.minimum,
            "parties": [
                {
                    "name": card.name,
                    "fingerprint": card.fingerprint,
                    "state": standing.of(place),
                    "left": vars(standing.left[place]) if place in standing.left else None,
                }
                for place, card in enumerate(study.roster)
            ],
            "ended": None if ended is None or not ended.kind else {"error": ended.kind, "message": ended.words},
            "results": [
                {
                    "round": one.round,
                    "parties": [study.roster[place].name for place in one.cohort],
                    **figures.to_dict(),
                    "sums": [str(v) for v in one.sums],  # exact, however large: as text
                }
                for one, figures in self.figures()
            ],
        }
