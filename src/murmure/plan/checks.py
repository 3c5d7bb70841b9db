"""What a plan must fulfil before anything is asked: its parts fit together, and no sum can overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from murmure.catalogue import persisted_name
from murmure.certify.certificate import certify
from murmure.core.domain import Decimals, Domain
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.schema import Schema
from murmure.core.types import MAX_SUM, Choosable, Chooser, Mechanism, Noise, Protectable, Sharing, Statistic, Unit
from murmure.laws.hidden_draw import Hidden
from murmure.laws.records import Sampled
from murmure.plan.public_coins import has_public_coins

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

# Under a curator every plan must have room for this many rows: the number of rows is secret, so it may not decide
# whether an error is raised.
MAX_ROWS = 1 << 32


def _inherit(kind: str) -> Phrase:
    return Phrase("a class of your own inherits murmure.core.types.{kind}", kind=kind)


def require_statistic(plan: Plan) -> None:
    if not isinstance(plan.statistic, Statistic):
        raise InvalidParameter(
            "Plan.statistic must be a statistic, got {got}.",
            hint="Plan(Histogram(domain), person=GRR(domain, epsilon=1.0)); {inherit}",
            got=shorten(plan.statistic),
            inherit=_inherit("Statistic"),
        )


def check_plan(plan: Plan) -> None:
    """Everything that can be refused before rows are read is refused here."""
    if plan.parties is not None and not isinstance(plan.parties, Sharing):
        raise InvalidParameter(
            "Plan.parties must say how parties share a sum, got {got}.",
            hint="Plan(Histogram(domain), parties=PairwiseMasks(5))",
            got=shorten(plan.parties),
        )
    if not isinstance(plan.unit, str) or not plan.unit or plan.unit in (plan.step.columns or ()):
        raise InvalidParameter(
            'Plan.unit must be "row" or the name of a column that is not randomised, got {got}.',
            hint="the column that tells people apart is only read to count rows, and is never passed on",
            got=shorten(plan.unit),
        )
    if isinstance(plan.rows_per_person, bool) or not isinstance(plan.rows_per_person, int | np.integer):
        raise InvalidParameter(
            "Plan.rows_per_person must be a whole number, got {got}.", got=shorten(plan.rows_per_person)
        )
    if plan.rows_per_person < 1 or (plan.unit == "row" and plan.rows_per_person != 1):
        raise InvalidParameter(
            "Plan.rows_per_person = {rows_per_person} does not fit unit = {unit!r}.",
            hint='unit="row" protects one row; unit="person_id", rows_per_person=5 protects people with up to 5 rows',
            rows_per_person=plan.rows_per_person,
            unit=plan.unit,
        )
    if plan.relation not in ("add/remove", "replace"):
        raise InvalidParameter(
            'Plan.relation must be "add/remove" or "replace", got {got}.', got=shorten(plan.relation)
        )
    if plan.coins not in ("person", "collector"):
        raise InvalidParameter('Plan.coins must be "person" or "collector", got {got}.', got=shorten(plan.coins))
    if plan.person is not None:
        _check_person(plan)
    if plan.coins == "collector":
        _check_collector_coins(plan)
    _ = plan.tallier  # weights in the clear, and a pair that cannot be tallied, are refused now
    if plan.curator is not None:
        _check_curator(plan)
    if plan.parties is not None:
        _check_parties(plan)


def _check_person(plan: Plan) -> None:
    if not isinstance(plan.person, Mechanism):
        raise InvalidParameter(
            "Plan.person must be a mechanism, got {got}.",
            hint="Plan(Histogram(domain), person=GRR(domain, epsilon=1.0)); {inherit}",
            got=shorten(plan.person),
            inherit=_inherit("Mechanism"),
        )
    if plan.person.domain != plan.statistic.domain:
        raise PlanRefused(
            "Plan refused: the statistic asks about {domain!r}, the mechanism randomises {person_domain!r}.",
            hint="give both the same domain",
            domain=plan.statistic.domain,
            person_domain=plan.person.domain,
        )
    units: tuple[Unit, ...] = ("record", "attribute") if plan.of_records else ("record",)
    for unit in units:
        certificate = certify(plan.person, unit)
        if certificate.asked is not None and certificate.epsilon > certificate.asked:
            raise PlanRefused(
                "Plan refused: {kind} was asked for {asked!r} and costs {epsilon!r}.",
                hint="this is a bug in the mechanism; please report it",
                kind=type(plan.person).__name__,
                asked=certificate.asked,
                epsilon=certificate.epsilon,
            )
    problem = plan.statistic.why_unanswerable(plan.person.affine())
    if problem is not None:
        raise PlanRefused(
            "Plan refused: {kind} cannot answer {statistic}: {problem}.",
            hint="advise(domain, epsilon) lists what can; em(mechanism, tally) gives a histogram without error bars",
            kind=type(plan.person).__name__,
            statistic=persisted_name(plan.statistic),
            problem=problem,
        )


def _check_collector_coins(plan: Plan) -> None:
    """Only coins that a report shows anyway may be given out."""
    kind = type(plan.person).__name__
    if plan.person is None:
        why = Phrase("it has no mechanism at the person, and so no public coin")
    elif plan.parties is not None:
        why = Phrase("between parties nobody sees single reports, so nobody can check which coins they used")
    elif isinstance(plan.person.channel, Hidden):
        why = Phrase("{kind} hides which column is real, and a collector that drew it would know", kind=kind)
    elif has_public_coins(plan):
        return
    elif isinstance(plan.person.channel, Sampled):
        why = Phrase("{kind} takes columns in turn by the public number of a person, which is not a coin", kind=kind)
    else:
        why = Phrase("a report of {kind} shows no public coin", kind=kind)
    raise PlanRefused(
        "Plan refused: the collector cannot give out its coins: {why}.",
        hint="leave coins out; public coins are the hash of OLH and BLH, and the columns that SMP and ADP draw",
        why=why,
    )


def _check_curator(plan: Plan) -> None:
    if plan.person is not None:
        raise PlanRefused(
            "Plan refused: its answers are randomised at the person already, and need no noise at the curator.",
            hint="give either person= or curator=, not both",
        )
    if not isinstance(plan.curator, Noise | Chooser):
        raise InvalidParameter(
            "Plan.curator must be noise, got {got}.",
            hint="Plan(Histogram(domain), curator=DiscreteLaplace(epsilon=1.0)); {inherit}",
            got=shorten(plan.curator),
            inherit=_inherit("Noise"),
        )
    if not isinstance(plan.statistic, Choosable if plan.chooses else Protectable):
        what = Phrase("choose among the answers of") if plan.chooses else Phrase("protect")
        chooser = plan.statistic.choose_with if isinstance(plan.statistic, Choosable) else None
        raise PlanRefused(
            "Plan refused: {kind} cannot {what} {statistic}.",
            hint=chooser
            and Phrase("it chooses one of several answers: curator={chooser}(epsilon=1.0)", chooser=chooser),
            kind=type(plan.curator).__name__,
            what=what,
            statistic=persisted_name(plan.statistic),
        )
    if plan.lenient:
        for domain in _domains(plan):
            _refuse_long_numbers(domain)
    rows = MAX_ROWS if plan.parties is None else plan.parties.rows * plan.parties.parties
    if plan.statistic.largest > MAX_SUM // rows:
        raise PlanRefused(
            "Plan refused: one row can add {largest:_} to {statistic}; {rows:_} rows could exceed 2**63 - 1.",
            hint="use a coarser grid (fewer cells)"
            if plan.parties is None
            else "fewer rows at a party: PairwiseMasks(..., rows=...); or tighter bounds, or a coarser grid",
            largest=plan.statistic.largest,
            statistic=persisted_name(plan.statistic),
            rows=rows,
        )
    asked = plan.curator.epsilon
    if asked is not None and plan.bound.epsilon > asked:
        raise PlanRefused(
            "Plan refused: {kind} was asked for {asked!r}, but costs {epsilon!r}.",
            hint="this is a bug in the noise; please report it",
            kind=type(plan.curator).__name__,
            asked=asked,
            epsilon=plan.bound.epsilon,
        )


def _check_parties(plan: Plan) -> None:
    if plan.chooses:
        raise PlanRefused(
            "Plan refused: {kind} must see all scores before it chooses, and between parties nobody sees them.",
            hint="use noise that parties can draw in shares: DiscreteLaplace, DiscreteGaussian, Skellam",
            kind=type(plan.curator).__name__,
        )
    if plan.statistic.weights is not None:
        raise PlanRefused("Plan refused: weights are for tables that people randomised.")
    wanted = plan.statistic.min_honest
    others = plan.parties.minimum - max(plan.parties.colluders, wanted > 2)  # each party knows its own part
    if others < wanted:
        raise PlanRefused(
            "Plan refused: {statistic} adds up squares of each party's sums, from which {others} honest parties "
            "could be told apart; at least {wanted} are needed.",
            hint="more parties, or fewer colluders and dropouts: of {parties} parties, {dropouts} may drop out "
            "and {colluders} may collude",
            statistic=persisted_name(plan.statistic),
            others=others,
            wanted=wanted,
            parties=plan.parties.parties,
            dropouts=plan.parties.dropouts,
            colluders=plan.parties.colluders,
        )
    _ = plan.encoder  # no headroom is refused now


def _refuse_long_numbers(domain: Domain) -> None:
    """Where every row is read, a number is its float64, which does not hold more digits."""
    if isinstance(domain, Decimals) and not domain.short:
        raise PlanRefused(
            "Plan refused: a curator reads numbers of at most 15 digits, got {got!r}.",
            hint="use fewer places or narrower bounds; exact sums between parties take longer numbers",
            got=domain,
        )


def _domains(plan: Plan) -> list[Domain]:
    domain = plan.statistic.domain
    return [domain[name] for name in domain.private] if isinstance(domain, Schema) else [domain]
