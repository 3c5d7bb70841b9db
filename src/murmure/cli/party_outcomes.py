"""What `murmure party join` and `murmure party result` show in the end. It imports what that takes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murmure.cli.terminal import print_document, print_json
from murmure.parties.study.earlier_protocol import NOTE
from murmure.parties.study.model_outcomes import outcome_to_dict, round_to_dict
from murmure.parties.study.result_blocks import result_section
from murmure.parties.study.round_figures import figures_of
from murmure.show.document import Document

if TYPE_CHECKING:
    from murmure.parties.party.runner import RoundSums
    from murmure.parties.study.document import Study


def show_outcomes(study: Study, outcomes: list[RoundSums], as_json: bool, earlier: bool = False) -> None:
    """Figures of every question, and what became of every model. earlier: it ran under an earlier protocol."""
    answered = [
        (outcome, figures_of(plan, outcome.sums, earlier)) for plan, outcome in zip(study.plans, outcomes, strict=False)
    ]
    sums = [outcome.sums for outcome in outcomes]
    fits = study.outcome(sums, len(outcomes[0].cohort) if outcomes else None)
    if as_json:
        round_fields = [figures.to_dict() for _, figures in answered]
        round_fields += [round_to_dict(study, number, sums) for number in range(len(answered) + 1, len(outcomes) + 1)]
        results = [
            {
                "round": number,
                "cohort": [study.roster[place].name for place in outcome.cohort],
                "sums": [str(v) for v in outcome.sums],
                **fields,
            }
            for number, (outcome, fields) in enumerate(zip(outcomes, round_fields, strict=True), 1)
        ]
        models = {"models": [outcome_to_dict(fit) for fit in fits]} if fits else {}
        note = {"note": NOTE} if earlier else {}
        print_json({"study": study.name, "digest": study.digest.hex(), "results": results, **models, **note})
        return
    rounds = [(number, outcome.cohort, figures) for number, (outcome, figures) in enumerate(answered, 1)]
    print_document(Document(study.name, (result_section(study, rounds, fits, earlier=earlier),)))
