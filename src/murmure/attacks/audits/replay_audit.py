"""The replay audit: run a learner on a table and on its neighbour with every noisy answer frozen, and compare.

    first run:   record each question, what was declared about it, the true answer and the noisy one
    second run:  on a table in which one person differs; each question gets the noisy answer of the first run

With the answers frozen nothing else may depend on the data. So the second run must ask the same questions in the same
order, under the same noise, and release the same result, bit for bit, with the same warnings and errors. Each true
answer may have moved by what was declared, and no more; the answers must not reveal more than they cost; and all costs
together must stay within what was claimed. What the audit sees belongs to the holder of the data: none of it may be
released.

Re:cord-play, arXiv 2602.17454.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from murmure.attacks.audits.audit_gates import SEED, Passage, RecordingGate, ReplayGate
from murmure.attacks.audits.audit_gates import AuditFailed as AuditFailed
from murmure.attacks.audits.released_values import released_values
from murmure.central.base.gate import Gate
from murmure.core.blocks import Cost
from murmure.core.errors import Phrase, Plural, shorten
from murmure.core.random import Random
from murmure.core.types import Relation
from murmure.show.document import Block, Document, Facts, Number, Shown, paragraphs

Ask = Callable[[Any, Gate], Any]
RESULT = "the result"  # where paths to released values start


@dataclass(frozen=True)
class Audit(Shown):
    """What an audit measured, where it found nothing wrong."""

    questions: int
    cost: Cost
    closest: float  # the largest part of a declared sensitivity that one person used
    loss: float | None  # |log-likelihood ratio| of the frozen answers; None where no pure epsilon holds
    raised: str | None  # the error that both runs ended with
    warned: tuple[str, ...]

    def sentence(self) -> str:
        """All of it in a line."""
        asked = Plural("{n} question, the same in both runs", "{n} questions, the same in both runs", n=self.questions)
        about = {"asked": asked, "closest": self.closest, "epsilon": self.cost.epsilon}
        if self.raised is None:
            return Phrase(
                "Audit: {asked}; one person moved an answer by up to {closest:.1%} of what was declared; cost epsilon "
                "= {epsilon:.6g}",
                **about,
            )
        return Phrase(
            "Audit: {asked}; one person moved an answer by up to {closest:.1%} of what was declared; cost epsilon = "
            "{epsilon:.6g}; both runs ended with {raised}",
            raised=self.raised,
            **about,
        )

    def document(self) -> Document:
        facts: list[tuple[str, Any]] = [
            (Phrase("questions"), self.questions),
            (Phrase("cost, epsilon"), Number(self.cost.epsilon, "plain")),
            (Phrase("largest part of a declared move"), Number(self.closest, "share")),
        ]
        if self.loss is not None:
            facts.append((Phrase("what the frozen answers told, epsilon"), Number(self.loss, "plain")))
        ended = None if self.raised is None else Phrase("Both runs ended with {raised}.", raised=self.raised)
        warned = (Phrase("Both runs warned: {warning}", warning=text) for text in self.warned)
        notes = (
            Phrase(
                "With every noisy answer frozen, the run on the neighbouring table asked the same questions and "
                "released the same result, bit for bit."
            ),
            Phrase("An audit belongs to the holder of the data: none of it may be released."),
        )
        blocks: tuple[Block, ...] = (Facts(tuple(facts)), *paragraphs([*notes, ended, *warned], "note"))
        return Document(Phrase("Replay audit: nothing wrong was found"), blocks, "Audit")

    def __repr__(self) -> str:
        return str(self.sentence())

    __str__ = __repr__


def replay_audit(
    ask: Ask,
    data: Any,
    neighbour: Any,
    relation: Relation = "add/remove",
    claim: float | Cost | None = None,
    seed: int = SEED,
    allow_raise: bool | type[Exception] | tuple[type[Exception], ...] = False,
    allow_no_question: bool = False,
) -> Audit:
    """Run `ask(data, gate)` and `ask(neighbour, gate)` with the answers of the first; raise AuditFailed if they differ.

    ask: anything that takes a gate: `lambda rows, gate: learner.fit(rows, gate=gate)`. neighbour: the data with one
    person added, removed or replaced (see `neighbours`). claim: what all answers may cost together, as epsilon or Cost.
    allow_raise: True, or the errors that both runs may end with; otherwise an error fails the audit even if it is the
    same in both, since a run that breaks off shows little of what it would release. allow_no_question: for code that
    releases constants.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Mean(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    >>> def ask(rows, gate):
    ...     return mu.run(plan, rows, gate=gate).estimate
    >>> print(mu.replay_audit(ask, [30, 40, 56], [30, 40, 56, 120], claim=1.0))
    Audit: 1 question, the same in both runs; one person moved an answer by up to 100.0% of what was declared; cost epsilon = 1
    >>> try:
    ...     mu.replay_audit(lambda rows, gate: (ask(rows, gate), len(rows)), [30, 40, 56], [30, 40, 56, 120], claim=1.0)
    ... except mu.MurmureError as error:
    ...     print(error)
    with every noisy answer frozen, the result differs in the result[1]: something was released that did not pass the gate.
      Hint: release only what follows from noisy answers: no exact n, bounds, labels or sums
    """  # noqa: E501
    # Both runs draw from the same seed: what they draw outside the gate is equal unless it depends on the data.
    recorder = RecordingGate(Random.seeded(seed), Random.seeded(seed + 1))
    first = _observe(ask, data, recorder)
    cost = _total_cost(recorder.passages, claim)
    replay = ReplayGate(recorder.passages, relation, Random.seeded(seed))
    second = _observe(ask, neighbour, replay)
    if replay.failed is not None and first.raised is None:
        raise replay.failed
    for what, one, other, way_out in (
        (
            Phrase("error"),
            first.raised,
            second.raised,
            Phrase(
                "whether something fails may depend on noisy answers only: odd cells get a stand-in, empty classes "
                "noise"
            ),
        ),
        (Phrase("warning"), first.warned, second.warned, Phrase("warn about noisy answers, or say it always")),
        (
            Phrase("line on the terminal"),
            first.printed,
            second.printed,
            Phrase("print what noisy answers give, and nothing else"),
        ),
    ):
        if one != other:
            raise AuditFailed(
                "with every noisy answer frozen, the two runs end with a different {what}: {one} and {other}.",
                hint=way_out,
                what=what,
                one=shorten(one, 160),
                other=shorten(other, 160),
            )
    # Only now, since a run that raised has asked fewer questions, and the error is the better message.
    replay.check_all_asked()
    _refuse_empty_audit(first, len(recorder.passages), allow_raise, allow_no_question)
    for one_leaf, other_leaf in zip(first.released, second.released, strict=False):
        if one_leaf != other_leaf:
            raise AuditFailed(
                "with every noisy answer frozen, the result differs in {place}: something was released that did not "
                "pass the gate.",
                hint="release only what follows from noisy answers: no exact n, bounds, labels or sums",
                place=_place(one_leaf, other_leaf),
            )
    if len(first.released) != len(second.released):
        raise AuditFailed("with every noisy answer frozen, one result contains more values than the other.")
    pure = math.isfinite(cost.epsilon)
    return Audit(
        len(recorder.passages), cost, replay.closest, abs(replay.loss) if pure else None, first.raised, first.warned
    )


def _refuse_empty_audit(observed: _Observed, questions: int, allow_raise: Any, allow_no_question: bool) -> None:
    """Two runs that break off alike, or that ask nothing, are alike and show nothing."""
    if observed.kind is not None:
        if allow_raise is True or (allow_raise is not False and issubclass(observed.kind, allow_raise)):
            return
        after = (
            Plural("after {n} question", "after {n} questions", n=questions)
            if questions
            else Phrase("before the first question")
        )
        raise AuditFailed(
            "both runs end with {raised} {after}: no result was audited.",
            hint="correct the questions; if this error is expected, declare it: allow_raise=True, or its class",
            raised=shorten(observed.raised, 160),
            after=after,
        )
    if not questions and not allow_no_question:
        raise AuditFailed(
            "neither run asked the gate anything: nothing was audited.",
            hint="pass the gate on, as in learner.fit(rows, gate=gate); allow_no_question=True if nothing is asked",
        )


def _total_cost(passages: Sequence[Passage], claim: float | Cost | None) -> Cost:
    """All costs together, exactly, and never more than was claimed; rho counts where there is no pure epsilon."""
    limits: dict[str, float] = {}
    if isinstance(claim, Cost):
        limits = {"epsilon": claim.epsilon} if math.isfinite(claim.epsilon) else {"rho": claim.rho}
    elif claim is not None:
        limits = {"epsilon": claim}
    spent: dict[str, Any] = {}
    for name in ("epsilon", "rho"):
        parts = [getattr(passage.bound.cost, name) for passage in passages]
        spent[name] = sum(map(Fraction, parts), Fraction(0)) if all(map(math.isfinite, parts)) else math.inf
    for name, limit in limits.items():
        if math.isfinite(limit) and spent[name] > Fraction(limit):
            raise AuditFailed(
                "the answers cost {name} = {spent:.9g} together; {limit:.9g} was claimed.",
                hint="the shares of a budget, over all answers, must add up to it: split it once, in one place",
                name=name,
                spent=float(spent[name]),
                limit=limit,
            )
    return Cost(float(spent["epsilon"]), float(spent["rho"]))


@dataclass(frozen=True)
class _Observed:
    """All that an observer of a run can see."""

    released: tuple[tuple[str, Any], ...]
    raised: str | None
    warned: tuple[str, ...]
    printed: str
    kind: type[Exception] | None = None  # of the error


def _observe(ask: Ask, data: Any, gate: Gate) -> _Observed:
    raised, kind = None, None
    released: tuple[tuple[str, Any], ...] = ()
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed), redirect_stderr(printed):
        warnings.simplefilter("always")
        try:
            result = ask(data, gate)
        except Exception as error:
            raised, kind = f"{type(error).__name__}: {error}", type(error)
        else:
            released = tuple(released_values(result, RESULT, ()))  # now: a learner may be fitted again
    warned = tuple(f"{w.category.__name__}: {w.message}" for w in caught)
    return _Observed(released, raised, warned, printed.getvalue(), kind)


def _place(one: tuple[str, Any], other: tuple[str, Any]) -> str:
    first, second = (Phrase("the result{path}", path=leaf[0].removeprefix(RESULT)) for leaf in (one, other))
    return first if first == second else Phrase("{one} and {other}", one=first, other=second)
