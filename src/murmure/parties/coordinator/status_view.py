"""All that a page, a status or a result shows of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.parties.coordinator.progress import StudyProgress, absent_in_words
from murmure.parties.coordinator.store import RoundResult
from murmure.parties.study.earlier_protocol import NOTE
from murmure.parties.study.model_outcomes import outcome_to_dict, round_to_dict
from murmure.parties.study.round_figures import RoundFigures, figures_of

if TYPE_CHECKING:
    from murmure.parties.coordinator.runner import CoordinatorRunner
    from murmure.parties.study.document import Study
    from murmure.parties.study.replay import ModelOutcome


@dataclass(frozen=True)
class StatusView:
    """A study, its progress and its results, read together."""

    study: Study
    progress: StudyProgress
    results: tuple[RoundResult, ...] = ()
    earlier: bool = False  # it ran under an earlier protocol

    @classmethod
    def of(cls, runner: CoordinatorRunner) -> StatusView:
        # Read once: the runner replaces its progress in another thread.
        progress = runner.progress
        return cls(runner.study, progress, runner.results[: progress.results])

    @property
    def running(self) -> bool:
        return self.progress.state in ("gathering", "running")

    def figures(self) -> list[tuple[RoundResult, RoundFigures]]:
        """The figures of the plans; results of models are in `outcomes`."""
        plans = self.study.plans
        return [
            (result, figures_of(plans[result.round - 1], result.sums, self.earlier))
            for result in self.results
            if result.round <= len(plans)
        ]

    def outcomes(self) -> tuple[ModelOutcome, ...]:
        """What became of every model, as far as sums were released."""
        present = len(self.results[0].cohort) if self.results else None
        outcomes = self.study.outcome([result.sums for result in self.results], present)
        absent = absent_in_words(self.progress.absent)
        return outcomes if absent is None else tuple(outcome.with_provenance(absent=absent) for outcome in outcomes)

    def to_dict(self) -> dict[str, Any]:
        """For machines; parties by name."""
        study, progress = self.study, self.progress
        ended = progress.ended
        return {
            "study": study.name,
            "digest": study.digest.hex(),
            "state": progress.state,
            "round": progress.round,
            "rounds": study.rounds,
            "stage": progress.stage,
            "minimum": study.sharing.minimum,
            "parties": [
                {
                    "name": card.name,
                    "fingerprint": card.fingerprint,
                    "state": progress.party_state(place),
                    "left": vars(progress.departures[place]) if place in progress.departures else None,
                }
                for place, card in enumerate(study.roster)
            ],
            "ended": None if ended is None or not ended.kind else {"error": ended.kind, "message": ended.words},
            "results": self._rounds(),
            **({"note": NOTE} if self.earlier else {}),
            **({"models": [outcome_to_dict(outcome) for outcome in self.outcomes()]} if study.models else {}),
        }

    def _rounds(self) -> list[dict[str, Any]]:
        figures = {result.round: figures_of_round.to_dict() for result, figures_of_round in self.figures()}
        sums = [result.sums for result in self.results]
        return [
            {
                "round": result.round,
                "parties": [self.study.roster[place].name for place in result.cohort],
                **(figures.get(result.round) or round_to_dict(self.study, result.round, sums)),
                "sums": [str(v) for v in result.sums],  # exact, however large: as text
            }
            for result in self.results
        ]
