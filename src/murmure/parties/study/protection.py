"""Who learns what from a study, in plain words: what masks hide, and what totals reveal anyway."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.fixed import sum_up
from murmure.parties.study.costs import round_up
from murmure.parties.study.questions import by_party
from murmure.show.phrase import Exact, Phrase, Plural, Quoted, Several
from murmure.statistics.conditions.disclosure import MAX_HIDING_EPSILON, reader_epsilon
from murmure.statistics.conditions.minimum_cell import rarest_condition
from murmure.statistics.conditions.refusals import describe_problem
from murmure.statistics.exact.party_products import WithinPartyProducts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.plan.plan import Plan


def warn_public_rows(study: Study) -> list[Phrase]:
    """The first warning: a study that may ask for more than its rows can hide."""
    if study.ratio <= 1:
        return []
    return [
        Phrase(
            "WARNING: more sums than rows. This study allows up to {ratio} exact sums for each row (here {sums} for at "
            "least {rows} rows): anyone who reads the result can solve for single rows. Agree only if the rows are "
            "public.",
            ratio=Exact(study.ratio),
            sums=Exact(study.exact_sums),
            rows=Exact(study.surely_rows),
        )
    ]


def warn_rare_conditions(study: Study) -> list[Phrase]:
    """The second warning: a condition that too few rows may fulfil, by name, with the reason."""
    problem = study.rare_condition()
    if problem is None:
        return []
    return [
        Phrase(
            "WARNING, question {number}: {problem}. Software with the usual rule refuses this study. Agree only if "
            "everybody may know a total over a single row.",
            number=problem.question,
            problem=describe_problem(problem),
        )
    ]


def _conditions(study: Study) -> Phrase:
    """How conditions were judged in advance, and what that does not prevent."""
    rarest = rarest_condition(study.conditions)
    if rarest is None or rarest.share is None:
        return Phrase(
            "No total is restricted to rows that fulfil a condition. Only noise limits what someone learns who "
            "combines totals on purpose."
        )
    return Phrase(
        "Conditions were judged beforehand by the public values of columns, and not by rows: the rarest is "
        "{condition}, which about {few} of {rows} rows fulfil if values are spread evenly. This stops accidents, but "
        "not someone who combines totals on purpose: only noise does.",
        condition=Quoted(rarest.text),
        few=Exact(Fraction(round(rarest.share * study.least_rows * 10), 10)),
        rows=Exact(study.least_rows),
    )


def describe_masking(study: Study) -> list[Phrase]:
    """What leaves the organisation, who learns what, and under which assumptions."""
    counts = any(question.plan.curator is None for question in study.questions)
    numbers: Any = Exact(sum(question.max_numbers for question in study.questions))
    if study.rounds_vary:
        numbers = Phrase("up to {numbers}", numbers=numbers)
    by_parties = [question for question in study.questions if by_party(question.model) is not None]
    nobody = Phrase("nobody learns the totals of one organisation")
    if by_parties:
        nobody = Phrase("what this tells about single organisations is said below")
    out = [
        Phrase(
            "In all, {numbers} numbers leave you, and no row: the totals over your rows{counts}, each hidden behind "
            "random numbers that cancel out only once the totals of all who answer are added together.",
            numbers=numbers,
            counts=Phrase(" and how many rows you have") if counts else "",
        ),
        Phrase(
            "The asker and every organisation that answers learn the totals over all who answered{counts}, and who "
            "answered; {nobody}.",
            counts=Phrase(", how many rows they have together (an exact sum too)") if counts else "",
            nobody=nobody,
        ),
        *map(_party_products, by_parties),
    ]
    return [*out, *_trust(study), *(_other_studies() if study.exact_sums else [])]


def _party_products(question: StudyQuestion) -> Phrase:
    """What products of each organisation's own totals reveal (statistics/exact/party_products.py)."""
    if by_party(question.model) is WithinPartyProducts:
        return Phrase(
            "Question {number} adds up products from which each organisation has taken out its own means. Beside "
            "totals over all rows, of this study or of another, they narrow down how many rows the single "
            "organisations have and what their totals are, though not whose is whose. Anyone who knew those of all but "
            "two could work out both.",
            number=question.number,
        )
    return Phrase(
        "Question {number} adds up products of each organisation’s own totals (its errors are by organisation). They "
        "narrow down what the totals of the single organisations are, though not whose is whose. Anyone who knew those "
        "of all but two could work out both.",
        number=question.number,
    )


def _other_studies() -> list[Phrase]:
    """What a party compares with earlier exact totals, and what it cannot compare."""
    return [
        Phrase(
            "The number of rows comes with all exact totals. So your software compares who answers with all exact "
            "totals that you released before, whatever they were of, and refuses where a difference would tell about "
            "few organisations (unless you told it to compare the same questions only)."
        ),
        Phrase(
            "It knows only of studies in which you took part. What is said here is said of this study by itself: "
            "totals over other organisations, asked by others or by an asker who breaks the rules, may be combined "
            "with it."
        ),
    ]


def _trust(study: Study) -> list[Phrase]:
    sharing = study.sharing
    together = Phrase(
        "This supposes that no organisation tells the asker what it knows: the study does not protect against it."
    )
    if sharing.colluders:
        together = Phrase(
            "Even if the asker and {colluders} put together all that they know, they learn only the totals over the "
            "others, who are at least {honest:,}, and what follows from these: where the others have few rows, that "
            "may be single rows. More of them together could work out the totals of fewer, and at worst yours.",
            colluders=Plural("one of the organisations", "up to {n:,} of the organisations", n=sharing.colluders),
            honest=sharing.honest,
        )
    totals = Phrase(
        "The asker tells you what the totals are; your software checks only that they are possible. The study trusts "
        "it in this: where a question follows from totals before it, false ones would choose it."
    )
    if sharing.coordinator == "lying":
        totals = Phrase(
            "The asker tells you what the totals are; your software checks only that they are possible. So no further "
            "question depends on them."
        )
    out = [
        together,
        Phrase(
            "This holds even if the asker breaks the rules and tells different organisations different things about "
            "who takes part: before anything is unmasked, {quorum:,} of the {parties:,} organisations have signed the "
            "same lists.",
            quorum=sharing.quorum,
            parties=sharing.parties,
        ),
        Phrase(
            "It counts only if the other organisations are who they say they are: compare their keys too. If the asker "
            "made some of them up, the total less what it added itself is that of fewer, and at worst yours."
        ),
        totals,
    ]
    if not sharing.complete:  # what a sparse graph assumes in addition (PairwiseMasks.assumption)
        out.append(
            Phrase(
                "Each organisation shares its random numbers with {degree:,} others, drawn by lot, and not with all. "
                "The chance of a draw that hides less than is said here is below one in a million million, provided "
                "that nobody tries out more than 2**64 draws, and that those who collude are not chosen by the draw.",
                degree=sharing.degree,
            )
        )
    return out


def describe_noise(study: Study) -> list[Phrase]:
    """What the totals themselves reveal about one row."""
    noisy = [question for question in study.questions if question.plan.curator is not None]
    exact = [question.number for question in study.questions if question.plan.curator is None]
    weak = [question.number for question in noisy if reader_epsilon(question.plan) > MAX_HIDING_EPSILON]
    out = []
    if exact:
        out.append(
            Phrase(
                "The totals{which} are exact, without differential privacy: no noise hides what one row adds. Anyone "
                "who knows all other rows can work out the last one, and a total over few rows, such as those that "
                "fulfil a rare condition, tells about these few.",
                which=Phrase(" of question {numbers}", numbers=Several(exact)) if noisy else "",
            )
        )
    out += [_noise(question) for question in noisy]
    if weak:
        out.append(
            Phrase(
                "The noise of question {numbers} is too small to hide a row; its totals count as exact.",
                numbers=Several(weak),
            )
        )
    if len(noisy) > len(weak):
        hides = [question for question in noisy if reader_epsilon(question.plan) <= MAX_HIDING_EPSILON]
        out += _combined([question.plan for question in hides for _ in range(question.rounds)], study)
    return [*out, _ratio(study), _conditions(study)] if study.exact_sums else out


def _ratio(study: Study) -> Phrase:
    """Exact sums against rows."""
    fields = {"sums": Exact(study.exact_sums), "rows": Exact(study.surely_rows)}
    if study.ratio > 1:
        return Phrase(
            "Counted by how much they can tell, there are {sums} exact sums for at least {rows} rows in all: no limit "
            "that could hide a row is kept.",
            **fields,
        )
    return Phrase(
        "Counted by how much they can tell, there are {sums} exact sums for at least {rows} rows in all; at most "
        "{allowed} are allowed, since with about as many sums as rows single rows could be worked out.",
        allowed=Exact(math.floor(study.ratio * study.surely_rows)),
        **fields,
    )


def _noise(question: StudyQuestion) -> Phrase:
    plan = question.plan
    read = plan.guarantees()["reader"]
    return Phrase(
        "Question {number}: every organisation adds its share of random noise ({law}) to its totals before they leave, "
        "so that the totals are blurred and nobody knows by how much (epsilon = {epsilon}{delta}{each}).",
        number=question.number,
        law=type(plan.curator).__name__,
        epsilon=Exact(round_up(read.epsilon)),
        delta=Phrase(", delta = {delta:g}", delta=read.delta) if read.delta else "",
        each=Phrase(" in each round") if question.rounds > 1 else "",
    )


def _combined(plans: list[Plan], study: Study) -> list[Phrase]:
    certificates = [plan.guarantees()["reader"] for plan in plans]
    epsilon, delta = (sum_up(getattr(c, name) for c in certificates) for name in ("epsilon", "delta"))
    first = plans[0]  # all questions of a study protect the same (plan_checks.check_noise)
    if epsilon > MAX_HIDING_EPSILON:
        return [
            Phrase(
                "At epsilon = {epsilon} in all the noise is too small to hide a row from someone who knows all others: "
                "these totals count as exact.",
                epsilon=Exact(round_up(epsilon)),
            )
        ]
    who = Phrase("one row")
    more = Phrase("A person with several rows is protected less: the more rows, the less.")
    if first.unit != "row":
        who = Phrase("one person (up to {rows} rows)", rows=Exact(first.rows_per_person))
        more = Phrase("This supposes that nobody has more rows, and that all rows of a person lie at one organisation.")
    out = [
        _odds(epsilon, delta, first.relation, who),
        more,
        Phrase(
            "It supposes that at least {honest:,} organisations answer to the end and add their share of the noise "
            "honestly.",
            honest=study.sharing.honest,
        ),
    ]
    if study.exact_sums:
        out.append(Phrase("None of this holds for the exact totals, which no noise protects."))
    return out


def _odds(epsilon: float, delta: float, relation: str, who: Phrase) -> Phrase:
    """How often the best guess between two possibilities is right, at most: (e^eps + delta) / (1 + e^eps)."""
    percent = 100 * (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    guess = Phrase("which of two contents it has")
    if relation == "add/remove":
        guess = Phrase("whether it is in the data at all")
    return Phrase(
        "This is differential privacy for {who}: from all noisy totals together, even someone who knows all other "
        "rows, and to whom both answers were equally likely, cannot guess {guess} and be right more often than {times} "
        "times in 100.",
        who=who,
        guess=guess,
        times=Exact(Fraction(math.ceil(10 * percent - 1e-6), 10)),
    )
