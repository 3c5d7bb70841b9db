"""A party's own minimums and veto. They are checked here, whatever a coordinator agreed with others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.parties.party.refusals import ForbiddenColumn, NoiseRequired, OverBudget, TooFewRows, TooManySums
from murmure.parties.party.transaction import CohortRule
from murmure.parties.study.costs import StudyCharge, charges_of, cost_in_words, total_cost
from murmure.plan.guarantees import REPORTED_DELTA
from murmure.secure.errors import TooFewParties
from murmure.secure.graph import MIN_PARTIES
from murmure.statistics.conditions.disclosure import MAX_HIDING_EPSILON
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL
from murmure.statistics.conditions.refusals import refusal

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.statistics.conditions.conditions import Conditions


@dataclass(frozen=True)
class Policy:
    """What this party asks of every study.

    guard: which earlier releases a cohort is compared with. "columns": all exact sums that read a column which is read
    again, which are all of them, since each brings the number of rows. "question": only exactly the same sum, and then
    the numbers of rows of single parties may be revealed.
    budget: the most that all noisy studies, of any columns, may cost together, as an epsilon at delta; None: no limit.
    allow_more_sums: than one study may ask of these rows, over several studies.
    rows_are_public: everybody may see every row, so that a study may ask for more sums than there are rows.
    minimum_cell: the fewest rows that a condition of an exact sum may select or leave out, by public facts
    (statistics/conditions/minimum_cell.py); 1: a sum over one row may leave, and conditions are not judged.
    """

    minimum_parties: int = 5
    minimum_rows: int = 1
    forbidden: tuple[str, ...] = ()
    require_noise: bool = False
    guard: CohortRule = "columns"
    budget: float | None = None
    delta: float = REPORTED_DELTA
    allow_more_sums: bool = False
    rows_are_public: bool = False
    minimum_cell: int = MINIMUM_CELL

    def __post_init__(self) -> None:
        if self.minimum_parties < MIN_PARTIES:
            raise InvalidParameter(
                "Policy.minimum_parties must be at least {min_parties}, got {got}.",
                hint="with two parties, each could subtract its own sum and learn the other's",
                min_parties=MIN_PARTIES,
                got=self.minimum_parties,
            )
        if self.minimum_rows < 1:
            raise InvalidParameter("Policy.minimum_rows must be at least 1, got {got}.", got=self.minimum_rows)
        if isinstance(self.minimum_cell, bool) or not isinstance(self.minimum_cell, int) or self.minimum_cell < 1:
            raise InvalidParameter(
                "Policy.minimum_cell must be a whole number of at least 1, got {got}.",
                hint="5 is usual; at 1 a sum over a single row may be released",
                got=shorten(self.minimum_cell),
            )
        if self.guard not in ("columns", "question"):
            raise InvalidParameter('Policy.guard must be "columns" or "question", got {got}.', got=shorten(self.guard))
        if self.budget is not None and not (math.isfinite(self.budget) and self.budget > 0):
            raise InvalidParameter("Policy.budget must be an epsilon above 0, got {got}.", got=shorten(self.budget))
        if not 0 <= self.delta < 1:
            raise InvalidParameter("Policy.delta must be 0, or between 0 and 1, got {got}.", got=shorten(self.delta))

    def check(self, study: Study) -> None:
        """Refuse a study before a row is read."""
        # Capitals do not count: to most databases they name the same column.
        forbidden = {name.casefold() for name in self.forbidden}
        if study.ratio > 1 and not self.rows_are_public:
            raise TooManySums(
                "{name!r} may ask for more sums than there are rows ({exact_sums:_} exact sums, {surely_rows:_} "
                "rows): anyone who reads the result could work out single rows.",
                hint="ask for a study with fewer sums or more rows; or --rows-are-public, if everybody may see them",
                name=study.name,
                exact_sums=study.exact_sums,
                surely_rows=study.surely_rows,
            )
        for question in study.questions:
            number, plan = question.number, question.plan
            minimum = plan.parties.minimum
            if minimum < self.minimum_parties:
                raise TooFewParties(
                    "question {number} of {name!r} may be answered by {minimum} parties; this party requires at "
                    "least {minimum_parties}.",
                    hint="ask for a study with a larger minimum, or lower your own (never below {min_parties})",
                    number=number,
                    name=study.name,
                    minimum=minimum,
                    minimum_parties=self.minimum_parties,
                    min_parties=MIN_PARTIES,
                )
            read = [name for name in question.columns if name.casefold() in forbidden]
            if read:
                raise ForbiddenColumn(
                    "question {number} of {name!r} reads column {read!r}, which this party does not share.",
                    hint="ask for a study without it",
                    number=number,
                    name=study.name,
                    read=read[0],
                )
            if self.require_noise and not study.hides_rows[number - 1]:
                what = (
                    Phrase("exact sums") if plan.curator is None else Phrase("sums with noise too small to hide a row")
                )
                noise = Phrase(
                    "with [noise], with a total epsilon of at most {max_hiding_epsilon}",
                    max_hiding_epsilon=MAX_HIDING_EPSILON,
                )
                raise NoiseRequired(
                    "question {number} of {name!r} releases {what}; this party requires noise on all sums.",
                    hint="ask for a study {noise}",
                    number=number,
                    name=study.name,
                    what=what,
                    noise=noise if question.takes_noise else _without_question(question),
                )
        study.check_ratio()
        self.check_conditions(study)

    def check_conditions(self, study: Study, earlier: Sequence[Conditions] = ()) -> None:
        """Refuse a condition that too few rows may fulfil. No row is read: a refusal that depends on rows would reveal
        them. earlier: what earlier studies asked of this party, since sums can be subtracted from theirs.
        """
        problem = None if self.rows_are_public else study.rare_condition(self.minimum_cell, earlier)
        if problem is not None:
            raise refusal(
                problem,
                Phrase("question {question} of {name!r}", question=problem.question, name=study.name),
                Phrase("or --minimum-cell 1, if a sum over one row may be released"),
                study.questions[problem.question - 1].takes_noise,
            )

    def check_budget(self, study: Study, charges: Iterable[StudyCharge]) -> None:
        """Refuse a study that costs more than is left of the budget. charges: what noisy studies have cost so far."""
        from murmure.certify.accounting import covers

        if self.budget is None:
            return
        for question in study.questions:
            if question.plan.curator is None:
                raise OverBudget(
                    "question {number} of {name!r} releases exact sums, which no budget covers.",
                    hint="ask for a study {detail}; or join without --budget, if exact sums of these rows may be "
                    "released",
                    number=question.number,
                    name=study.name,
                    detail=Phrase("with [noise]") if question.takes_noise else _without_question(question),
                )
        new = charges_of(study)
        # Of any columns: what noise protects is a whole row.
        earlier_charges = [charge for charge in charges if charge.study != study.digest.hex()]
        other = next((charge for charge in earlier_charges if charge.protects != new[0].protects), None)
        if other is not None:
            raise OverBudget(
                "the earlier study {name!r} of these rows protects {protects}, but {study_name!r} protects "
                "{new_protects}: their costs do not add up, and no budget can cover both.",
                hint="ask for a study that protects the same; or join without --budget",
                name=other.name,
                protects=other.protects.in_words(),
                study_name=study.name,
                new_protects=new[0].protects.in_words(),
            )
        total = total_cost([*earlier_charges, *new])
        if not covers(self.budget, self.delta, total):
            history = (
                Phrase(
                    "noisy studies have cost {cost_in_words} before, together that is {total_cost_in_words}, and ",
                    cost_in_words=cost_in_words(total_cost(earlier_charges), self.delta),
                    total_cost_in_words=cost_in_words(total, self.delta),
                )
                if earlier_charges
                else ""
            )
            raise OverBudget(
                "{name!r} costs {cost_in_words}; {history}"
                "the budget of this party is "
                "epsilon = {budget:g} at delta = {delta:g}.",
                hint="ask for a study with more noise",
                name=study.name,
                cost_in_words=cost_in_words(total_cost(new), self.delta),
                history=history,
                budget=self.budget,
                delta=self.delta,
            )

    def check_sums(self, study: Study, earlier: int, names: Sequence[str]) -> None:
        """Refuse exact sums that, with those of the same columns in earlier studies, are too many for the rows.

        What one study may not ask at once, several could ask one after the other.
        """
        new, allowed = study.exact_sums, math.floor(study.ratio * study.surely_rows)
        if self.allow_more_sums or self.rows_are_public or not (new and earlier) or new + earlier <= allowed:
            return
        raise TooManySums(
            "{name!r} asks for {new:_} exact sums, and {earlier:_} of the same columns were released before "
            "({names}): together more than the {allowed:_} that {surely_rows:_} rows allow; from more, single rows "
            "could be worked out.",
            hint="ask for a study {detail}with more rows (least_rows); or --allow-more-sums, if these are different "
            "rows",
            name=study.name,
            new=new,
            earlier=earlier,
            names=", ".join(map(repr, names[-3:])),
            allowed=allowed,
            surely_rows=study.surely_rows,
            detail=Phrase("with [noise], or ") if study.exact_may_be_noisy else "",
        )

    def check_rows(self, study: Study, rows: int) -> None:
        least = max(self.minimum_rows, study.least_rows or 1)
        if rows < least:
            raise TooFewRows(
                "there are {rows} rows here, but {name!r} or this party requires at least {least} from each party.",
                hint="too few rows hide one another poorly: do not take part, or bring more",
                rows=rows,
                name=study.name,
                least=least,
            )


def _without_question(question: StudyQuestion) -> str:
    """For a model that noise cannot protect."""
    return Phrase("without {kind}, which cannot be asked with noise", kind=question.kind)
