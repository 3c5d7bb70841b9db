"""All that a page, a status or a result shows of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from murmure.parties.coordinator.progress import Progress, absent_in_words
from murmure.parties.coordinator.store import RoundResult
from murmure.parties.study.model_outcomes import outcome_to_dict, round_to_dict
from murmure.parties.study.round_figures import RoundFigures, figures_of

if TYPE_CHECKING:
    from murmure.parties.coordinator.runner import CoordinatorRunner
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome


@dataclass(frozen=True)
class StatusView:
    """All that the page shows."""

    study: Study
    standing: Progress
    results: tuple[RoundResult, ...] = ()

    @classmethod
    def of(cls, runner: CoordinatorRunner) -> StatusView:
        standing = runner.standing
        return cls(runner.study, standing, runner.results[: standing.results])

    @property
    def running(self) -> bool:
        return self.standing.state in ("gathering", "running")

    def figures(self) -> list[tuple[RoundResult, RoundFigures]]:
        """Of the plans; what models make of their sums is in `fits`."""
        plans = self.study.plans
        return [(one, figures_of(plans[one.round - 1], one.sums)) for one in self.results if one.round <= len(plans)]

    def fits(self) -> tuple[ModelOutcome, ...]:
        """What became of every model, as far as sums were released."""
        present = len(self.results[0].cohort) if self.results else None
        fits = self.study.outcome([one.sums for one in self.results], present)
        if not (absent := self.standing.absent):
            return fits
        why = absent_in_words(absent), absent_in_words(absent, french=True)
        return tuple(
            one
            if one.result is None
            else replace(one, result=replace(one.result, how=replace(one.result.how, absent=why)))
            for one in fits
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines; parties by name."""
        study, standing = self.study, self.standing
        ended = standing.ended
        return {
            "study": study.name,
            "digest": study.digest.hex(),
            "state": standing.state,
            "round": standing.round,
            "rounds": study.rounds,
            "stage": standing.stage,
            "minimum": study.sharing.minimum,
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
            "results": self._rounds(),
            **({"models": [outcome_to_dict(fit) for fit in self.fits()]} if study.models else {}),
        }

    def _rounds(self) -> list[dict[str, Any]]:
        figures = {one.round: held.to_dict() for one, held in self.figures()}
        sums = [one.sums for one in self.results]
        return [
            {
                "round": one.round,
                "parties": [self.study.roster[place].name for place in one.cohort],
                **(figures.get(one.round) or round_to_dict(self.study, one.round, sums)),
                "sums": [str(v) for v in one.sums],  # exact, however large: as text
            }
            for one in self.results
        ]
