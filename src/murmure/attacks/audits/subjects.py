"""What can be audited, and how its reports are drawn: anybody's randomiser, and what Murmure makes itself.

Ours state a law, but the audit does not read it: reports are drawn as they would be sent. The certificate is shown
beside the result.
"""

from __future__ import annotations

import copy
import os
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from murmure.attacks.audits.audit_gates import RecordingGate
from murmure.attacks.audits.neighbours import neighbours
from murmure.attacks.audits.problems import Problems
from murmure.attacks.audits.released_values import released_values
from murmure.attacks.audits.sent_reports import NoReport, SentReports, sent_array, sent_objects, sent_parts
from murmure.attacks.audits.sources import (
    Command,
    CommandSource,
    FunctionSource,
    ReportSource,
    UrlSource,
    is_url,
)
from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.gate import Gate
from murmure.core.domain import Domain
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.random import Random, fresh_key
from murmure.core.schema import Schema
from murmure.core.types import Certificate, Mechanism
from murmure.learn.base import Learner
from murmure.local.base.randomisers import Randomiser
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.rappor import ForEver, MemoisedClient
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central

Pair = tuple[Any, Any]
ALL_PAIRS = 4  # values of a domain up to which all pairs are audited
RANDOM_PAIRS = 3  # beside the extremes
TABLE_PAIRS = ("typical: highest row added", "typical: lowest row added")
REPLACED_PAIRS = 2


@dataclass(frozen=True)
class Subject:
    """Something to audit: where its reports come from, the pairs to try, and what is known of it."""

    name: str
    source: ReportSource
    pairs: tuple[Pair, ...] = ()  # proposed; none: the caller must give them
    certificate: Certificate | None = None
    notes: tuple[str, ...] = ()
    ours: bool = False
    fresh: bool = False  # each report comes from state of its own, because the caller says so; of ours, it always does


INDEPENDENT = Phrase(
    "Alpha holds for independent draws from fresh state. A randomiser that remembers a draw must be made anew for each "
    "call (fresh=True, --fresh)."
)
INDEPENDENT_URL = Phrase(
    "Alpha holds for independent draws from fresh state. A service that remembers a draw must be made to forget it "
    "before each request; otherwise audit its randomiser as a function, made anew for each call (fresh=True, --fresh)."
)


def subject_of(randomiser: Any, batched: bool, time_limit: float, rng: Random, fresh: bool = False) -> Subject:
    """What `audit` was given, whatever it is."""
    if fresh:
        return _fresh(randomiser, batched, time_limit)
    if isinstance(randomiser, Plan):
        return _plan(randomiser, rng)
    if isinstance(randomiser, MemoisedClient):
        note = Phrase("Each report comes from a client of its own, with a fresh key: the cost of a first report.")
        return replace(_mechanism(randomiser.mechanism, rng), source=ClientSource(randomiser), notes=(note,))
    if isinstance(randomiser, ForEver):
        return _for_ever(randomiser, rng)
    if isinstance(randomiser, Mechanism):
        return _mechanism(randomiser, rng)
    if isinstance(randomiser, Learner):
        return _learner(randomiser)
    if is_url(randomiser):
        return Subject(str(randomiser), UrlSource(str(randomiser), time_limit), notes=(INDEPENDENT_URL,))
    if isinstance(randomiser, Command) or _is_words(randomiser):
        command = randomiser if isinstance(randomiser, Command) else Command(randomiser)
        return Subject(" ".join(command.words), CommandSource(command, time_limit), notes=(INDEPENDENT,))
    if isinstance(randomiser, str | os.PathLike):
        return _sanitised(Path(randomiser), rng)
    if callable(randomiser):
        return Subject(_name(randomiser), FunctionSource(randomiser, batched, time_limit), notes=(INDEPENDENT,))
    raise InvalidParameter(
        "audit takes a function, a Command, a URL, a mechanism, a plan, a learner or a sanitised file, got {got}.",
        hint="audit(f, epsilon=1.0, pairs=[(0, 1)]), with f(value) -> report",
        got=shorten(randomiser),
    )


def _fresh(make: Any, batched: bool, time_limit: float) -> Subject:
    """A randomiser of its own for each report."""
    if batched:
        raise InvalidParameter(
            "audit: fresh=True makes a randomiser for each report, batched=True takes many reports of one.",
            hint="leave one of them out",
        )
    if isinstance(make, Command) or _is_words(make):
        command = make if isinstance(make, Command) else Command(make)
        note = Phrase("Each report comes from a process of its own.")
        processes = CommandSource(command, time_limit, default_samples=1_000, chunk=1)
        return Subject(" ".join(command.words), processes, notes=(note,), fresh=True)
    if isinstance(make, Mechanism | MemoisedClient | ForEver | Learner | Plan) or not callable(make):
        raise InvalidParameter(
            "audit: fresh=True takes a function that returns a new randomiser, or a Command, got {got}.",
            hint="audit(make, epsilon=1.0, pairs=[(0, 1)], fresh=True), with make()(value) -> report",
            got=shorten(make),
        )
    note = Phrase("Each report comes from a randomiser of its own, made anew.")
    source = FunctionSource(lambda value: make()(value), False, time_limit)
    return Subject(_name(make), source, notes=(note,), fresh=True)


def _name(randomiser: Any) -> str:
    named = isinstance(randomiser, types.FunctionType | types.MethodType | types.BuiltinFunctionType | type)
    return str(randomiser.__qualname__ if named else type(randomiser).__name__)


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(word, str) for word in value)


# -- mechanisms ---------------------------------------------------------------------------


def _certificate(thing: Any) -> Certificate | None:
    from murmure.certify.certificate import certify

    try:
        return certify(thing)
    except MurmureError:  # a mechanism of somebody else may state no law that can be certified
        return None


def _mechanism(mechanism: Any, rng: Random) -> Subject:
    domain = mechanism.domain
    pairs = _record_pairs(domain, rng) if isinstance(domain, Schema) else value_pairs(domain, rng)
    source: ReportSource = RecordSource(mechanism) if isinstance(mechanism, RecordMechanism) else CodeSource(mechanism)
    return Subject(type(mechanism).__name__, source, pairs, _certificate(mechanism), ours=True)


@dataclass
class CodeSource:
    """A mechanism of one answer: reports as arrays, each drawn afresh."""

    mechanism: Any
    default_samples: int = 1_000_000

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        return [sent_array(self._reports(value, n, rng)) for value, n in zip(values, counts, strict=True)]

    def _reports(self, value: Any, n: int, rng: Random) -> Any:
        if type(self.mechanism).report is not Randomiser.report:  # it does something else than to sample its law
            return np.asarray(self.mechanism.report([value] * n, rng))
        code = self.mechanism.domain.encode([value])
        return self.mechanism.law(np.repeat(np.asarray(code), n)).sample(rng)


@dataclass
class RecordSource:
    """A mechanism of records: a part for each attribute, absent where it is not shown."""

    mechanism: Any
    default_samples: int = 200_000

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        return [self._reports(value, n, rng) for value, n in zip(values, counts, strict=True)]

    def _reports(self, value: Any, n: int, rng: Random) -> SentReports:
        mechanism = self.mechanism
        if type(mechanism).report is RecordMechanism.report:
            codes = mechanism.domain.encode({name: [cell] for name, cell in value.items()})
            records = mechanism.randomise([np.repeat(np.asarray(column), n) for column in codes], rng)
        else:
            records = mechanism.report({name: [cell] * n for name, cell in value.items()}, rng)
        shown = None if records.rows is None else dict(zip(mechanism.columns, records.rows, strict=True))
        return sent_parts(dict(zip(mechanism.columns, records.parts, strict=True)), shown, n)


@dataclass
class ClientSource:
    """A client that keeps bits: each report from a new one."""

    client: MemoisedClient
    default_samples: int = 20_000

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        return [
            sent_array(np.concatenate([self._fresh().report(value) for _ in range(n)]))
            for value, n in zip(values, counts, strict=True)
        ]

    def _fresh(self) -> MemoisedClient:
        return self.client.mechanism.client(fresh_key(), self.client.question, values=self.client.values)


@dataclass
class KeptSource:
    """What all reports of one client reveal together: the bits that it keeps."""

    of: ForEver
    default_samples: int = 1_000_000

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        kept, domain = self.of.permanent, self.of.domain
        return [
            sent_array(
                kept.draw(np.repeat(np.asarray(domain.encode([value])), n), rng.reserve(n, kept.words, kept.deep))
            )
            for value, n in zip(values, counts, strict=True)
        ]


def _for_ever(of: ForEver, rng: Random) -> Subject:
    note = Phrase("Audited is what all reports of a client reveal in the end: the bits that it keeps.")
    name = type(of.mechanism).__name__
    return Subject(name, KeptSource(of), value_pairs(of.domain, rng), _certificate(of), (note,), ours=True)


def value_of(domain: Domain, code: int) -> Any:
    """A value with this code, as somebody would write it."""
    numbers = domain.numbers()
    if numbers is None:
        return domain.label(code)
    number = float(numbers[code])
    return int(number) if number.is_integer() else number


def value_pairs(domain: Domain, rng: Random) -> tuple[Pair, ...]:
    """All pairs of few values; of many, the extremes and some at random."""
    if domain.size <= ALL_PAIRS:
        pairs = list(combinations(range(domain.size), 2))
    else:
        pairs = [(0, domain.size - 1), (0, 1)]
        while len(pairs) < 2 + RANDOM_PAIRS:
            one, other = sorted(int(word % np.uint64(domain.size)) for word in rng.words(2))
            if one != other and (one, other) not in pairs:
                pairs.append((one, other))
    return tuple((value_of(domain, one), value_of(domain, other)) for one, other in pairs)


def _record_pairs(schema: Schema, rng: Random) -> tuple[Pair, ...]:
    """Records that differ everywhere, and in one attribute: the largest, and the smallest."""
    names = schema.private
    low = {name: value_of(schema[name], 0) for name in names}
    high = {name: value_of(schema[name], schema[name].size - 1) for name in names}
    by_size = sorted(names, key=lambda name: schema[name].size)
    single = [{**low, name: high[name]} for name in dict.fromkeys((by_size[-1], by_size[0]))]
    drawn = [
        {
            name: value_of(schema[name], int(word % np.uint64(schema[name].size)))
            for name, word in zip(names, words, strict=True)
        }
        for words in (rng.words(len(names)),)
    ]
    away = [{name: high[name] if row[name] == low[name] else low[name] for name in names} for row in drawn]
    pairs = [(low, high), *((low, other) for other in single), *zip(drawn, away, strict=True)]
    unique: list[Pair] = []
    for pair in pairs:
        if pair[0] != pair[1] and pair not in unique:
            unique.append(pair)
    return tuple(unique)


# -- plans, learners, files ---------------------------------------------------------------------------


def _plan(plan: Plan, rng: Random) -> Subject:
    if plan.parties is not None:
        raise InvalidParameter(
            "audit cannot sample a plan between parties: nobody sees single answers there.",
            hint="audit the same plan without parties=",
        )
    if plan.person is not None:
        note = Phrase("Audited are the reports of the plan, as they leave the person.")
        return replace(_mechanism(plan.person, rng), name=plan.describe(), notes=(note,))
    if plan.curator is None:
        raise InvalidParameter("audit: this plan protects nothing, so there is no claim to audit.")
    source = TableSource(lambda rows, gate: _run_plan(plan, rows, gate))
    certificate = next(iter(plan.guarantees().values()))
    for observer, other in plan.guarantees().items():
        certificate = other if observer == "reader" else certificate
    note = Phrase("Audited are the noisy answers as they leave the gate, on two tables that differ in one person.")
    pairs = _table_pairs(plan.statistic.domain, plan.relation)
    return Subject(plan.describe(), source, pairs, certificate, (note,), ours=True)


def _run_plan(plan: Plan, rows: Any, gate: Gate) -> Any:
    from murmure.run.run import run

    return run(plan, rows, gate=gate)


def _table_pairs(domain: Any, relation: Any) -> tuple[Pair, ...]:
    """Small readable tables with one row more, less or changed."""
    found = neighbours(domain, relation)
    if relation == "add/remove":
        chosen = [pair for name in TABLE_PAIRS for pair in found if pair.name == name]
    else:
        readable = ("typical", "lowest", "highest", "corner")
        chosen = [
            pair
            for pair in found
            if pair.name.startswith(("typical:", "twins:"))
            and sum(pair.name.partition(": ")[2].count(word) for word in readable) >= 2
        ][:REPLACED_PAIRS]
    return tuple((pair.neighbour, pair.data) for pair in chosen)


@dataclass
class TableSource:
    """The noisy answers of a plan on a table. The table is added up once; the gate draws its noise for every sample."""

    ask: Callable[[Any, Gate], Any]
    default_samples: int = 10_000
    _passages: dict[int, Any] = field(default_factory=dict)

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        return [self._answers(table, n, rng) for table, n in zip(values, counts, strict=True)]

    def _answers(self, table: Any, n: int, rng: Random) -> SentReports:
        if id(table) not in self._passages:
            recorder = RecordingGate()
            self.ask(table, recorder)
            self._passages[id(table)] = recorder.passages
        gate = Gate(rng)
        out = []
        for _ in range(n):
            gate.answers.clear()
            for passage in self._passages[id(table)]:
                truth = np.array(passage.truth, np.int64)
                if isinstance(passage.bound, BoundChoice):
                    gate.choose(passage.question, truth, passage.bound)
                else:
                    gate.add(passage.question, truth, passage.bound)
            out.append([number for answer in gate.answers for number in answer.answer])
        return sent_array(np.array(out, np.int64).reshape(n, -1))


def _learner(learner: Learner) -> Subject:
    relation = learner.privacy.relation if isinstance(learner.privacy, Central) else "add/remove"
    source = LearnerSource(learner)
    note = Phrase("Audited is everything that a fitted learner shows, on two tables that differ in one person.")
    schema = learner.schema
    pairs = () if schema is None else _table_pairs(schema, relation)[:1]  # a fit takes milliseconds, not microseconds
    return Subject(type(learner).__name__, source, pairs, None, (note,), ours=True)


@dataclass
class LearnerSource:
    """A learner that is fitted again for every sample, with fresh noise."""

    learner: Learner
    default_samples: int = 2_000
    fits: int = 0

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        branch = rng.branch()
        return [
            sent_objects([self._fit(table, branch, problems) for _ in range(n)])
            for table, n in zip(values, counts, strict=True)
        ]

    def _fit(self, table: Any, rng: Random, problems: Problems) -> Any:
        from murmure.attacks.audits.problems import crashed, message_of

        one = copy.copy(self.learner)
        one.rng = rng.child(self.fits)
        self.fits += 1
        try:
            one.fit(table)
        except Exception as error:
            problems.add("crashed", crashed(self.fits - 1, table, error), self.fits - 1)
            return NoReport(type(error).__name__, message_of(error))
        problems.reports += 1
        return [_number(value) for _, value in released_values(one, "learner", ())]


def _number(value: Any) -> Any:
    """A released value as numbers, where it is some."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], bytes):
        return np.frombuffer(value[2], np.dtype(value[0])).tolist()
    if isinstance(value, tuple) and len(value) == 2 and "float" in str(value[0]):
        return float.fromhex(value[1])
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], tuple):
        return list(value[1])
    return value


def _sanitised(path: Path, rng: Random) -> Subject:
    from murmure.engines.sources.tables import open_table
    from murmure.run.tables.table_format import plan_in_table

    plan, _ = plan_in_table(open_table(path))
    note = Phrase(
        "Audited is the mechanism that the file names: nobody knows which row had which true answer, so the rows "
        "themselves prove nothing."
    )
    subject = _mechanism(plan.person, rng)
    return replace(subject, name=path.name, notes=(note,))
