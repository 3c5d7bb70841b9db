"""The replay audit: run a learner on a table and on its neighbour with every noisy answer frozen, and compare.

    first run:   record each question, what was said about it, the true answer and the noisy one
    second run:  on a table in which one person differs; each question gets the noisy answer of the first run

With the answers frozen nothing else may depend on the data. So the second run must ask the same questions in the same
order, under the same noise, and release the same result, bit for bit, with the same warnings and errors; each true
answer may have moved by what was declared, and no more; the answers must not tell more than they cost; and all costs
together must stay within what was claimed. What the audit sees is the holder's: none of it may be released.

Re:cord-play, arXiv 2602.17454.
"""

from __future__ import annotations

import io
import json
import math
import sys
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.gate import Gate, GateAnswer
from murmure.core.blocks import Cost, NoisySum
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval, with_column
from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Ints, Relation
from murmure.learn.base import Learner

Bound = BoundNoise | BoundChoice
Ask = Callable[[Any, Gate], Any]
SEED = 2602_17454
SLACK = 1e-6  # log-probabilities are floats
UNSEEN = {"engine", "ledger", "rng"}  # where and with which generator it ran is not what is released


class AuditFailed(MurmureError, AssertionError):
    """A run depends on one person more than it says."""


@dataclass(frozen=True)
class Passage:
    """One passage through the gate, with the true answer: for the holder of the data only."""

    question: str
    bound: Bound
    truth: tuple[int, ...] = field(repr=False)
    answer: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class Audit:
    """What an audit found, where it found nothing wrong. `moved` / `declared`: the question that came closest."""

    questions: int
    cost: Cost
    closest: float  # the largest part of a declared sensitivity that one person used
    loss: float | None  # |log-likelihood ratio| of the frozen answers; None where no pure epsilon holds
    raised: str | None  # the error that both runs ended with
    warned: tuple[str, ...]

    def __repr__(self) -> str:
        asked = f"{self.questions} question{'s' * (self.questions != 1)}, the same in both runs"
        ended = "" if self.raised is None else f"; both runs ended with {self.raised}"
        return (
            f"Audit: {asked}; one person moved an answer by up to {self.closest:.1%} of what was declared; "
            f"cost epsilon = {self.cost.epsilon:.6g}{ended}"
        )


class RecordingGate(Gate):
    """A gate that keeps the true answers. Its noise has a stream of its own, so that a replay can do without it."""

    def __init__(self, rng: Random | None = None, noise: Random | None = None) -> None:
        super().__init__(rng or Random.seeded(SEED))
        self._noise = noise or Random.seeded(SEED + 1)
        self.passages: list[Passage] = []

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        with _drawing(self):
            noisy = super().add(question, total, bound)
        self.passages.append(Passage(question, bound, tuple(np.asarray(total).tolist()), self.answers[-1].answer))
        return noisy

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        with _drawing(self):
            chosen = super().choose(question, scores, bound)
        self.passages.append(Passage(question, bound, tuple(np.asarray(scores).tolist()), (chosen,)))
        return chosen

    def note_answer(self, question: str, bound: Any, answer: Any) -> None:
        """Between parties nobody holds the true sum, so there is nothing to compare."""
        raise AuditFailed(
            "an answer came out of a masked sum with the parties' noise in it: the audit cannot look into it.",
            hint="audit the same plan without parties=, on the pooled rows: what one person moves is the same",
        )


class _drawing:
    """While the gate draws, it draws from its other stream."""

    def __init__(self, gate: RecordingGate) -> None:
        self.gate, self.kept = gate, gate.rng

    def __enter__(self) -> None:
        self.gate.rng = self.gate._noise

    def __exit__(self, *error: object) -> None:
        self.gate.rng = self.kept


class ReplayGate(Gate):
    """A gate that gives the answers of an earlier run, and checks that the questions deserve them."""

    def __init__(self, passages: Sequence[Passage], relation: Relation, rng: Random | None = None) -> None:
        super().__init__(rng or Random.seeded(SEED))
        self.passages, self.relation = passages, relation
        self.failed: AuditFailed | None = None
        self.closest, self.loss = 0.0, 0.0

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        frozen = self._next(question, bound)
        if np.shape(total) != (bound.width,) or np.asarray(total).dtype != np.int64:
            raise TypeError(f"the gate takes {bound.width} whole numbers (int64), got shape {np.shape(total)}")
        truth, at = np.asarray(total).tolist(), 0
        for block, declared in zip(bound.blocks, bound.sensitivities(), strict=True):
            part = slice(at, at + block.width)
            at += block.width
            steps = [abs(new - old) for new, old in zip(truth[part], frozen.truth[part], strict=True)]
            moved = sum(steps) if bound.norm == "l1" else sum(step * step for step in steps)
            self._check(f"block {block.name!r} in {bound.norm}{' squared' * (bound.norm == 'l2')}", moved, declared)
        if bound.delta == 0 and math.isfinite(bound.cost.epsilon):
            self._told(self._ratio_of_sums(frozen, truth, bound), bound)
        self.answers.append(GateAnswer(question, bound, frozen.answer))
        return NoisySum(bound.blocks, np.array(frozen.answer, np.int64), bound.laws)

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        frozen = self._next(question, bound)
        steps = [abs(new - old) for new, old in zip(np.asarray(scores).tolist(), frozen.truth, strict=True)]
        self._check("a score", max(steps), bound.sensitivity)
        if bound.delta == 0 and math.isfinite(bound.cost.epsilon):
            before, after = (
                bound.law.log_prob(np.asarray(s, np.int64))[frozen.answer[0]] for s in (frozen.truth, scores)
            )
            self._told(float(before) - float(after), bound)
        self.answers.append(GateAnswer(question, bound, frozen.answer))
        return frozen.answer[0]

    def ends(self) -> None:
        """After the second run: no question was left out."""
        if self.failed is not None:
            raise self.failed
        left = len(self.passages) - len(self.answers)
        if left:
            raise AuditFailed(
                f"the second run asked {len(self.answers)} questions, the first {len(self.passages)}: how many are "
                "asked "
                "depends on one person.",
                hint="fix the number of questions before the first, by public constants",
            )

    # -- the checks

    @property
    def _here(self) -> str:
        return f"question {len(self.answers) + 1} of {len(self.passages)}"

    def _fail(self, message: str, hint: str) -> None:
        """Kept as well as raised: whoever catches it cannot hide it."""
        self.failed = self.failed or AuditFailed(message, hint=hint)
        raise self.failed

    def _next(self, question: str, bound: Bound) -> Passage:
        if len(self.answers) == len(self.passages):
            self._fail(
                f"the second run asks more than the {len(self.passages)} questions of the first: how many are asked "
                "depends on one person.",
                "fix the number of questions before the first, by public constants",
            )
        frozen = self.passages[len(self.answers)]
        if question != frozen.question:
            self._fail(
                f"{self._here} is another one in the second run ({shorten(question, 20)}, not "
                f"{shorten(frozen.question, 20)}): what is asked depends on one person.",
                "a question may depend on public constants and on earlier noisy answers, and on nothing else",
            )
        for name, (before, now) in _differences(_said(frozen.bound), _said(bound)).items():
            self._fail(
                f"{self._here} has another {name} in the second run ({shorten(now)}, not {shorten(before)}): the noise "
                "depends on one person.",
                "scale noise by public bounds and by noisy answers, never by the data",
            )
        if bound.relation != self.relation:
            self._fail(
                f"{self._here} is protected for {bound.relation!r}; the audit is of {self.relation!r}.",
                "state one neighbouring relation, and audit that one",
            )
        return frozen

    def _check(self, what: str, moved: int, declared: int) -> None:
        self.closest = max(self.closest, moved / declared)
        if moved > declared:
            self._fail(
                f"{self._here}: one person moves {what} by {moved}; {declared} was declared.",
                "the declared sensitivity is too small, or a row's part is not bounded",
            )

    @staticmethod
    def _ratio_of_sums(frozen: Passage, truth: list[int], bound: BoundNoise) -> float:
        ratio, at = 0.0, 0
        for block, law in zip(bound.blocks, bound.laws, strict=True):
            part = slice(at, at + block.width)
            at += block.width
            answer = np.array(frozen.answer[part], np.int64)
            before, after = (answer - np.array(t[part], np.int64) for t in (frozen.truth, truth))
            ratio += float(np.sum(law.log_prob(before) - law.log_prob(after)))
        return ratio

    def _told(self, ratio: float, bound: Bound) -> None:
        """The very answer that left is no likelier than e**epsilon times as before: for each, whatever it is."""
        self.loss += ratio
        if not abs(ratio) <= bound.cost.epsilon + SLACK:
            self._fail(
                f"{self._here}: its answer tells {abs(ratio):.6g} about one person, and costs "
                f"{bound.cost.epsilon:.6g}.",
                "the noise is too small for what it is said to cost",
            )


def _said(bound: Bound) -> dict[str, Any]:
    """All that is public about an answer."""
    out = {
        "kind": type(bound).__name__,
        "relation": bound.relation,
        "number of rows of a person": bound.rows,
        "cost": (bound.cost, bound.epsilon, bound.delta),
        "law": json.dumps(bound.integers(), sort_keys=True, default=str),
    }
    if isinstance(bound, BoundNoise):
        return {**out, "norm": bound.norm, "sensitivity": bound.sensitivities(), "blocks": bound.blocks}
    return {**out, "sensitivity": bound.sensitivity, "candidates": bound.candidates}


def _differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs, the sensitivity before what follows from it."""
    names = sorted(one.keys() | other.keys(), key=lambda name: (name != "sensitivity", name))
    pairs = {name: (one.get(name), other.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


# -- the audit ---------------------------------------------------------------------------------------------------------


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
    """
    recorder = RecordingGate(Random.seeded(seed), Random.seeded(seed + 1))
    first = _observe(ask, data, recorder)
    cost = _costs(recorder.passages, claim)
    replay = ReplayGate(recorder.passages, relation, Random.seeded(seed))
    second = _observe(ask, neighbour, replay)
    if replay.failed is not None and first.raised is None:
        raise replay.failed
    for what, one, other, way_out in (
        (
            "error",
            first.raised,
            second.raised,
            "whether something fails may depend on noisy answers only: odd cells get a stand-in, empty classes noise",
        ),
        ("warning", first.warned, second.warned, "warn about noisy answers, or say it always"),
        ("line on the terminal", first.printed, second.printed, "print what noisy answers give, and nothing else"),
    ):
        if one != other:
            raise AuditFailed(
                f"with every noisy answer frozen the runs end with another {what}: {shorten(one, 160)} and "
                f"{shorten(other, 160)}.",
                hint=way_out,
            )
    replay.ends()
    _refuse_nothing(first, len(recorder.passages), allow_raise, allow_no_question)
    for one_leaf, other_leaf in zip(first.released, second.released, strict=False):
        if one_leaf != other_leaf:
            raise AuditFailed(
                f"with every noisy answer frozen the result differs in {_at(one_leaf, other_leaf)}: something was "
                "released that did not pass the gate.",
                hint="release what noisy answers give, and nothing else: no exact n, bounds, labels or sums",
            )
    if len(first.released) != len(second.released):
        raise AuditFailed("with every noisy answer frozen one result holds more than the other.")
    pure = math.isfinite(cost.epsilon)
    return Audit(
        len(recorder.passages), cost, replay.closest, abs(replay.loss) if pure else None, first.raised, first.warned
    )


def _refuse_nothing(seen: _Seen, questions: int, allow_raise: Any, allow_no_question: bool) -> None:
    """Two runs that break off alike, or that ask nothing, are alike and show nothing."""
    if seen.kind is not None:
        if allow_raise is True or (allow_raise is not False and issubclass(seen.kind, allow_raise)):
            return
        after = f"after {questions} question{'s' * (questions != 1)}" if questions else "before the first question"
        raise AuditFailed(
            f"both runs end with {shorten(seen.raised, 160)} {after}: no result was audited.",
            hint="repair what is asked; where this error is meant, declare it: allow_raise=True, or its class",
        )
    if not questions and not allow_no_question:
        raise AuditFailed(
            "neither run asked the gate anything: nothing was audited.",
            hint="pass the gate on, as in learner.fit(rows, gate=gate); allow_no_question=True if nothing is asked",
        )


def _costs(passages: Sequence[Passage], claim: float | Cost | None) -> Cost:
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
                f"the answers cost {name} = {float(spent[name]):.9g} together; {limit:.9g} was claimed.",
                hint="the shares of a budget must add up to it, every answer counted: split it once, in one place",
            )
    return Cost(float(spent["epsilon"]), float(spent["rho"]))


@dataclass(frozen=True)
class _Seen:
    """All that whoever reads a run can see."""

    released: tuple[tuple[str, Any], ...]
    raised: str | None
    warned: tuple[str, ...]
    printed: str
    kind: type[Exception] | None = None  # of the error


def _observe(ask: Ask, data: Any, gate: Gate) -> _Seen:
    raised, kind = None, None
    released: tuple[tuple[str, Any], ...] = ()
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as heard, redirect_stdout(printed), redirect_stderr(printed):
        warnings.simplefilter("always")
        try:
            result = ask(data, gate)
        except Exception as error:
            raised, kind = f"{type(error).__name__}: {error}", type(error)
        else:
            released = tuple(_leaves(result, "the result", ()))  # now: a learner may be fitted again
    told = tuple(f"{w.category.__name__}: {w.message}" for w in heard)
    return _Seen(released, raised, told, printed.getvalue(), kind)


def _at(one: tuple[str, Any], other: tuple[str, Any]) -> str:
    return one[0] if one[0] == other[0] else f"{one[0]} and {other[0]}"


def _leaves(value: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """A result as a list of plain things, to the last bit, each with its place."""
    if id(value) in above:
        return
    above = (*above, id(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path, (str(value.dtype), value.shape, value.tobytes())
    elif isinstance(value, float | np.floating):
        yield path, (type(value).__name__, float(value).hex())
    elif value is None or isinstance(value, str | bytes | int | complex | Fraction | np.generic | range):
        yield path, (type(value).__name__, repr(value))
    elif isinstance(value, Random | types.ModuleType):
        return
    elif isinstance(value, dict | types.MappingProxyType):
        yield path, (type(value).__name__, len(value))
        for i, (key, held) in enumerate(value.items()):
            yield from _leaves(key, f"{path}.keys[{i}]", above)
            yield from _leaves(held, f"{path}[{key!r}]", above)
    elif isinstance(value, set | frozenset):
        yield path, sorted(map(repr, value))
    elif isinstance(value, tuple | list) and set(map(type, value)) <= {int, str}:
        yield path, (type(value).__name__, tuple(value))
    elif isinstance(value, tuple | list | deque | np.ndarray):
        yield path, (type(value).__name__, len(value))
        for i, held in enumerate(value):
            yield from _leaves(held, f"{path}[{i}]", above)
    else:
        yield path, type(value).__qualname__
        for name, held in _inside(value, path):
            yield from _leaves(held, f"{path}.{name}", above)
        return
    if getattr(value, "__dict__", None):  # of a list with a name, say
        for name, held in _parts(value):
            yield from _leaves(held, f"{path}.{name}", above)


def _inside(value: Any, path: str) -> list[tuple[str, Any]]:
    """What a thing is made of: its attributes, what a function carries along, or what pickle would write.

    What cannot be looked into fails the audit: anything could be in it.
    """
    if isinstance(value, types.FunctionType):
        carried = [cell.cell_contents for cell in value.__closure__ or ()]
        return [("name", value.__qualname__), ("carries", [carried, value.__defaults__, value.__kwdefaults__])]
    if isinstance(value, types.MethodType):
        return [("self", value.__self__), ("name", value.__qualname__)]
    if isinstance(value, partial):
        return [("function", value.func), ("arguments", [value.args, value.keywords])]
    if isinstance(value, type):
        known = getattr(sys.modules.get(value.__module__), value.__qualname__, None) is value
        return [("name", value.__qualname__)] if known else [("name", value.__qualname__), ("holds", dict(_own(value)))]
    if isinstance(value, types.BuiltinFunctionType):
        return [("name", value.__qualname__)]
    parts = _parts(value)
    if parts or type(value).__module__.startswith("murmure."):
        return parts
    try:
        return [("state", list(value.__reduce_ex__(4)[1:]))]
    except Exception:
        raise AuditFailed(
            f"{path} is of type {type(value).__name__}, which the audit cannot look into.",
            hint="release plain things: numbers, text, arrays, lists, dictionaries, data classes",
        ) from None


def _own(made: type) -> Iterator[tuple[str, Any]]:
    """What a class holds that was made while it ran; not what every class has."""
    return ((name, held) for name, held in sorted(vars(made).items()) if not name.startswith("__"))


def _parts(value: Any) -> list[tuple[str, Any]]:
    """All attributes that an object holds, in slots too: a model that is saved takes them along."""
    if is_dataclass(value) and type(value).__module__.startswith("murmure."):
        return [(f.name, getattr(value, f.name)) for f in fields(value)]  # and not what it remembers of them
    held = [vars(kind).get("__slots__", ()) for kind in type(value).__mro__]
    slots = {n for some in held for n in ((some,) if isinstance(some, str) else some) if not n.startswith("__")}
    names = sorted({*getattr(value, "__dict__", {}), *(name for name in slots if hasattr(value, name))})
    unseen = UNSEEN if isinstance(value, Learner) else ()
    return [(name, getattr(value, name)) for name in names if name not in unseen]


# -- neighbours --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ in one person, and how."""

    name: str
    data: Any = field(repr=False)
    neighbour: Any = field(repr=False)
    relation: Relation


ROWS = ("typical", "lowest", "highest", "corner", "missing", "infinite", "unreadable")
TABLES = ("empty", "one row", "twins", "typical", "edges", "rough")


def neighbours(
    domain: Schema | Domain,
    relation: Relation = "add/remove",
    seed: int = SEED,
    person: str | None = None,
    rows: int = 1,
) -> list[Neighbours]:
    """Small tables of a schema (or columns of a domain) with one person added, removed or replaced.

    Among them: no rows, one row, twins, values at the bounds; and cells that are missing, infinite or no such thing at
    all. person: the column that tells people apart, where one has up to `rows` rows (some here have more, or no name).
    """
    if relation not in ("add/remove", "replace"):
        raise InvalidParameter(f"relation must be 'add/remove' or 'replace', got {shorten(relation)}.")
    schema = domain if isinstance(domain, Schema) else Schema({"x": with_column(domain, "x")})
    made = _Made(schema, Random.seeded(seed), person, rows)
    out = []
    for table in TABLES:
        before = made.table(table)
        for i, kind in enumerate(ROWS):
            for size in (1,) if person is None else (1, rows, rows + 2):
                mine, place = [made.row(kind, "the one") for _ in range(size)], made.below(len(before) + 1)
                with_one = [*before[:place], *mine, *before[place:]]
                if relation == "add/remove":
                    pairs = [(f"{kind} row added", before, with_one), (f"{kind} row removed", with_one, before)]
                else:
                    other = ROWS[(i + 1 + made.below(len(ROWS) - 1)) % len(ROWS)]
                    theirs = [made.row(other, "the one") for _ in range(size)]
                    pairs = [(f"{kind} row made {other}", with_one, [*before[:place], *theirs, *before[place:]])]
                several = "" if size == 1 else f", {size} rows of one person"
                for what, one, two in pairs:
                    data, changed = (made.columns(part, isinstance(domain, Schema)) for part in (one, two))
                    out.append(Neighbours(f"{table}: {what}{several}", data, changed, relation))
    return out


@dataclass(frozen=True)
class _Made:
    """Rows of a schema."""

    schema: Schema
    rng: Random
    person: str | None
    rows: int

    def below(self, n: int) -> int:
        return int(self.rng.words(1)[0]) % n

    def row(self, kind: str, who: Any) -> dict[str, Any]:
        row = {name: self.cell(self.schema.about[name].domain, kind) for name in self.schema}
        return row if self.person is None else {**row, self.person: who}

    def table(self, kind: str) -> list[dict[str, Any]]:
        people = [f"p{i // max(1, self.rows)}" for i in range(24)]
        if kind == "empty":
            return []
        if kind == "twins":
            return [self.row("typical", "p0")] * 5
        kinds = {"edges": ROWS[1:4], "rough": ROWS}.get(kind, ROWS[:1])
        rows = [self.row(kinds[i % len(kinds)], who) for i, who in enumerate(people[: 1 if kind == "one row" else 24])]
        if kind == "rough" and self.person is not None:
            rows[3][self.person] = None
            rows[7][self.person] = rows[8][self.person] = rows[9][self.person] = "p0"  # more than they may have
        return rows

    def columns(self, rows: list[dict[str, Any]], table: bool) -> Any:
        names = [*self.schema, *([] if self.person is None or self.person in self.schema else [self.person])]
        held = {name: [row[name] for row in rows] for name in names}
        return held if table else held["x"]

    def cell(self, domain: Domain, kind: str) -> Any:
        if kind == "corner":
            kind = ("lowest", "highest")[self.below(2)]
        if kind == "missing":
            return (None, float("nan"))[self.below(2)]
        if kind == "unreadable":
            return ("?", [1, 2], b"\xff", 10**400, "\x00")[self.below(5)]
        if isinstance(domain, Categories):
            if kind == "infinite":
                return ("no such label", -1, math.inf)[self.below(3)]
            code = {"lowest": 0, "highest": domain.size - 1}.get(kind, self.below(domain.size))
            return code if isinstance(domain.values, int) else domain.values[code]
        if isinstance(domain, Decimals):
            domain = Interval(float(domain.low), float(domain.high))  # any number between: every row is read
        if not isinstance(domain, Integers | Interval):
            raise InvalidParameter(
                f"neighbours takes Categories, Integers, Interval or Decimals, got {shorten(domain)}."
            )
        if kind == "infinite":
            return (math.inf, -math.inf, 1e300, domain.low - 1, domain.high + 1)[self.below(5)]
        if kind in ("lowest", "highest"):
            return domain.low if kind == "lowest" else domain.high
        if isinstance(domain, Integers):
            return domain.low + self.below(domain.size)
        return domain.low + (domain.high - domain.low) * (self.below(1 << 53) / (1 << 53))
