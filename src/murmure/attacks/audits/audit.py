"""An audit from samples alone: does a randomiser reveal more than it claims?

    first samples     choose what to look at (events.py)
    looks             each on fresh samples, twice as many as before: bound the event that all earlier samples chose
                      (bounds.py), at level alpha / (i (i + 1)) for look i from the end

The levels add up to less than alpha, so a correct randomiser is called "violates" with probability at most alpha.
Samples must be independent: a randomiser that remembers, repeats or depends on earlier calls gets no statement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from murmure.attacks.audits.audit_result import AuditLook, AuditResult, AuditRow, Verdict, direction_words, value_words
from murmure.attacks.audits.bounds import (
    Hits,
    coin_bound,
    delta_bound,
    probability_floor,
    ratio_bound,
    would_have_shown,
)
from murmure.attacks.audits.events import MAX_ROWS_ALONE, ReportEvent, choose_events, rows_to_choose
from murmure.attacks.audits.independence import COMPARED, batches_differ, follows, repeats
from murmure.attacks.audits.problems import Problems
from murmure.attacks.audits.sent_reports import FORM, MAX_POSITIONS, OPAQUE, REST, SentReports, joined
from murmure.attacks.audits.sources import Exhausted
from murmure.attacks.audits.subjects import Pair, Subject, subject_of
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import MAX_EPSILON
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Array
from murmure.engines.base.progress import with_progress

MIN_FRESH = 100  # reports of each value; with fewer there is no statement
FIRST_LOOK = 500  # reports of each value that the first look bounds, and that choose its event
FORGIVEN = ("printed",)  # problems that leave a result whole


def audit(
    randomiser: Any,
    epsilon: float | None = None,
    pairs: Sequence[Pair] | None = None,
    *,
    delta: float | None = None,
    samples: int | None = None,
    alpha: float = 0.05,
    rng: Random | None = None,
    batched: bool = False,
    fresh: bool = False,
    time_limit: float = 10.0,
    name: str | None = None,
) -> AuditResult:
    """A lower bound on epsilon from samples: "violates", "consistent; would have seen eps >= x", or "no statement".

    randomiser: f(value) -> report, or with batched=True f(value, n) -> n reports; a Command, or a list of words, that
    reads one JSON value a line and writes one report a line; a URL that takes {"value": ...} and answers with a report;
    a mechanism, a plan, a learner, or the path of a sanitised file. Reports are looked at as they are sent.
    epsilon, delta: what is claimed. Ours state both themselves; of others, delta is 0 unless it is given. pairs: two
    values each, as randomiser takes them; of ours they are chosen. samples: reports of each value, in all. alpha: the
    chance that a correct randomiser is called "violates", at most. time_limit: seconds that one call may take.

    Alpha holds for independent draws from fresh state, and samples cannot show in general that a randomiser remembers.
    One that does (a permanent answer with fresh noise) must be made anew for each call: with fresh=True, randomiser()
    returns a new randomiser, and each report comes from one of its own; a Command is started for each report. If all
    reports about a value are equal, that decides: with fresh=True it is deterministic, which the bound shows; without,
    it may as well remember its first draw, and there is no statement.

    >>> import random
    >>> import murmure as mu
    >>> dice = random.Random(7)
    >>> def answer(yes):  # claims ln 3: two coins
    ...     return yes if dice.random() < 0.5 else dice.random() < 0.5
    >>> print(mu.audit(answer, 1.1, [(False, True)], samples=20_000, rng=mu.Random.seeded(7)).verdict)
    consistent
    >>> def leaky(yes):
    ...     return yes if dice.random() < 0.9 else not yes
    >>> result = mu.audit(leaky, 1.1, [(False, True)], samples=20_000, rng=mu.Random.seeded(7))
    >>> print(result.verdict, result.bound > 1.5)
    violates True
    """
    rng = random_or_secure(rng, "audit")
    level = _check_share("alpha", alpha, None)
    subject = subject_of(randomiser, batched, _check_seconds(time_limit), rng.branch(), fresh)
    claim = _check_claim(epsilon, subject)
    claimed_delta = _check_delta(delta, subject)
    chosen = _check_pairs(pairs, subject)
    count = subject.source.default_samples if samples is None else _check_samples(samples)
    run = _Run(subject, chosen, claim, claimed_delta, level, count, rng.branch(), name or subject.name)
    return run.go()


@dataclass
class _Run:
    subject: Subject
    pairs: tuple[Pair, ...]
    claim: float
    delta: float
    alpha: float
    samples: int
    rng: Random
    name: str
    problems: Problems = field(default_factory=Problems)
    looks: list[AuditLook] = field(default_factory=list)
    drawn: int = 0
    held_out: int = 0
    stopped: bool = False
    curve: tuple[tuple[float, float], ...] = ()
    events: dict[int, tuple[ReportEvent, ReportEvent]] = field(default_factory=dict)  # of each pair, in both directions
    settled: set[int] = field(default_factory=set)  # pairs whose events do not change any more

    def __post_init__(self) -> None:
        # Values are told apart by identity and kind: 1 and True are two values to a randomiser.
        self.values: list[Any] = []
        self.places: list[tuple[int, int]] = []
        for pair in self.pairs:
            self.places.append((self._place(pair[0]), self._place(pair[1])))
        self.earlier: list[list[SentReports]] = [[] for _ in self.values]
        self.starts: list[list[Array]] = [[] for _ in self.values]
        self.constant: list[bool] = [True] * len(self.values)
        self.first_report: list[int | None] = [None] * len(self.values)

    def _place(self, value: Any) -> int:
        for i, other in enumerate(self.values):
            if other is value or (type(other) is type(value) and _equal(other, value)):
                return i
        self.values.append(value)
        return len(self.values) - 1

    # -- the looks

    def go(self) -> AuditResult:
        sizes = look_sizes(self.samples)
        if not sizes:
            reason = Phrase(
                "Too few samples: {n:,} reports of each value; at least {least:,} are needed, half of them held out.",
                n=self.samples,
                least=2 * MIN_FRESH,
            )
            return self._result("no statement", [reason])
        first = self.samples - sum(sizes)
        steps = [*enumerate(sizes)]
        try:
            self._keep(self._draw([first] * len(self.values)), first)
            batches = ([step] for step in steps)
            for ((i, size),) in with_progress(batches, len(steps), Phrase("auditing")):
                if self._look(len(sizes) - i, size):
                    break
        except Exhausted:
            self.stopped = True
            self.problems.add("stopped", Phrase("it stopped answering and was not called again"))
        return self._conclude()

    def _look(self, number: int, size: int) -> bool:
        """Whether the audit can stop: a violation is proved."""
        events = [self._choose(i) for i in range(len(self.places))]
        flips = [self._heads(2 * size) for _ in self.places]  # how many of the coins say x
        need = [0] * len(self.values)
        for (one, other), heads in zip(self.places, flips, strict=True):
            need[one], need[other] = max(need[one], heads), max(need[other], 2 * size - heads)
        fresh = self._draw(need)
        level = self.alpha / (number * (number + 1))
        shares = _divided(level, [event.worth for both in events for event in both])
        rows, tested = [], []
        for i, ((one, other), heads) in enumerate(zip(self.places, flips, strict=True)):
            about = fresh[one].part(0, heads), fresh[other].part(0, 2 * size - heads)
            for way, pair in enumerate((self.pairs[i], self.pairs[i][::-1])):
                event, x, y = events[i][way], about[way], about[1 - way]
                rows.append(self._row(pair, event, event.hits(x, y), shares[2 * i + way]))
                tested.append((event, x, y))
        self.looks.append(AuditLook(number, level, size, tuple(rows)))
        self.held_out = size
        best = max(range(len(rows)), key=lambda i: rows[i].bound)
        event, x, y = tested[best]
        self._check_serial(event, x)
        self._check_serial(event, y)
        p, q = event.curve(x, y)
        self.curve = ((0.0, 0.0), *zip((q / max(1, y.n)).tolist(), (p / max(1, x.n)).tolist(), strict=True))
        self._keep(fresh, size)
        return rows[best].bound > self.claim and not self._unfit()

    def _choose(self, i: int) -> tuple[ReportEvent, ReportEvent]:
        about = [joined(self.earlier[place]) for place in self.places[i]]
        if i not in self.settled:
            self.events[i] = choose_events(about[0], about[1], self.delta)
            # Further samples would not be looked at: the choice stays.
            if min(sent.n for sent in about) >= rows_to_choose(about[0], about[1]):
                self.settled.add(i)
        return self.events[i]

    def _row(self, pair: Pair, event: ReportEvent, hits: Hits, level: float) -> AuditRow:
        ratio = ratio_bound(hits, self.delta, level)
        bound = coin_bound(hits, level) if self.delta == 0 else ratio
        detectable = would_have_shown(self.claim, self.delta, hits, level)
        return AuditRow(
            pair, event.words(), level, hits, bound, ratio, delta_bound(hits, self.claim, level), detectable
        )

    def _heads(self, coins: int) -> int:
        """How many of so many fair coins show heads."""
        words = self.rng.words(-(-coins // 64))
        last = coins % 64
        if last:
            words[-1] >>= np.uint64(64 - last)
        return int(np.bitwise_count(words).sum())

    def _draw(self, counts: list[int]) -> list[SentReports]:
        return self.subject.source.draw(self.values, counts, self.rng, self.problems)

    def _keep(self, fresh: list[SentReports], size: int) -> None:
        """Fresh samples become earlier ones. What shows that they are not independent is noted."""
        self.drawn += size
        for i, sent in enumerate(fresh):
            self._check_state(i, sent)
            self._check_complete(sent)
            kept = [*self.earlier[i], sent]
            while len(kept) > 1 and sum(one.n for one in kept[1:]) >= MAX_ROWS_ALONE:
                kept.pop(0)
            self.earlier[i] = kept

    # -- whether samples are independent

    def _check_state(self, i: int, sent: SentReports) -> None:
        if not sent.n:
            return
        start = sent.part(0, COMPARED).whole
        if self.first_report[i] is None:
            self.first_report[i] = int(start[0])
        if self.constant[i]:
            self.constant[i] = bool((start == self.first_report[i]).all()) and bool((sent.whole == start[0]).all())
        if any(repeats(start, other) for other in self.starts[i][-1:]):
            text = Phrase("the reports about {value} repeat: the same seed again", value=shorten(self.values[i]))
            self.problems.add("repeats", text, value=self.values[i])
        self.starts[i].append(start)
        if FORM not in sent.columns and all(one.constants == sent.constants for one in self.earlier[i]):
            return
        forms = sent.column(FORM)
        came = np.array([not str(sent.texts.get(int(form), "")).startswith("no report") for form in np.unique(forms)])
        known = np.unique(forms)[came]
        before = [np.unique(one.column(FORM)) for one in self.earlier[i]]
        kept = forms[np.isin(forms, known)]
        if len(known) > 1 and follows(kept == kept[0]):
            changed = int(np.argmax(kept != kept[0]))
            self._type_changed(i, changed)
        elif (
            before
            and _persists(kept)
            and _persists(self.earlier[i][-1].column(FORM))
            and not any(np.isin(known, one).any() for one in before)
        ):
            self._type_changed(i, 0)

    def _check_complete(self, sent: SentReports) -> None:
        if REST in sent.columns and not self.problems.has("not looked at"):
            text = Phrase(
                "reports have more than {most:,} elements: what comes after them was not looked at one by one",
                most=MAX_POSITIONS,
            )
            self.problems.add("not looked at", text)
        opaque = next((text for text in sent.texts.values() if OPAQUE in str(text)), None)
        if opaque is not None and not self.problems.has("opaque"):
            text = Phrase("reports contain an object that cannot be looked into: {form}", form=shorten(opaque))
            self.problems.add("opaque", text)

    def _type_changed(self, i: int, place: int) -> None:
        text = Phrase(
            "the reports about {value} changed their type half-way, at report {place:,}",
            value=shorten(self.values[i]),
            place=self.drawn + place,
        )
        self.problems.add("type changed", text, self.drawn + place, self.values[i])

    def _check_serial(self, event: ReportEvent, sent: SentReports) -> None:
        if self.subject.ours:
            return
        missing = [key for key, text in sent.texts.items() if text.startswith("no report")]
        came = ~np.isin(sent.column(FORM), missing) if missing else slice(None)
        if batches_differ(event.occurs(sent), sent.batch) or follows(event.occurs(sent)[came]):
            self.problems.add(
                "depends", Phrase("reports depend on the reports before them: they are not from fresh state")
            )

    @property
    def _always_the_same(self) -> bool:
        """Every report about a value was the same one."""
        return bool(self.drawn) and all(self.constant)

    @property
    def _is_fresh(self) -> bool:
        """Whether reports come from fresh state: ours do, and others if the caller says so."""
        return self.subject.ours or self.subject.fresh

    def _unfit(self) -> bool:
        remembers = self._always_the_same and not self._is_fresh  # or does not randomise: samples cannot tell
        return remembers or self.problems.has("repeats", "depends", "type changed")

    # -- the verdict

    def _conclude(self) -> AuditResult:
        reasons: list[str] = []
        failed = self.problems.nothing_came
        if failed is not None:
            reasons.append(Phrase("No report came. What happened first: {problem}.", problem=failed.text))
        elif self._always_the_same and not self._is_fresh:
            self.problems.add("deterministic", Phrase("every call about the same value gave the same report"))
            reasons.append(self._deterministic_or_remembering())
        elif self._unfit():
            reasons.append(
                Phrase("The reports are not independent draws, so nothing follows from how often they came.")
            )
        if not self.looks and not reasons:
            reasons.append(Phrase("No look was finished: too few reports came."))
        if reasons:
            return self._result("no statement", reasons)
        best = self.looks[-1].best
        if best.bound > self.claim:
            return self._result("violates", [])
        if best.would_have_seen is None:
            reason = Phrase(
                "Too few samples: no event that was found could have contradicted epsilon = {claim:g}.",
                claim=self.claim,
            )
            return self._result("no statement", [reason])
        if self.stopped:
            reason = Phrase("It stopped answering: what came until then shows no violation, and proves nothing.")
            return self._result("no statement", [reason])
        if self.problems.has("opaque", "not looked at"):
            reason = Phrase("What was looked at shows no violation, but not all of the reports could be looked at.")
            return self._result("no statement", [reason])
        return self._result("consistent", [])

    def _deterministic_or_remembering(self) -> Phrase:
        """Samples of the same state cannot tell the two apart; people are told what each would mean."""
        told = next((pair for pair in self.places if self.first_report[pair[0]] != self.first_report[pair[1]]), None)
        if told is None:
            return Phrase(
                "All reports were equal, whatever they were about. Either they tell nothing, or the randomiser "
                "remembers or repeats its first draw. Samples from fresh state would show which: make it anew for each "
                "report (fresh=True, --fresh)."
            )
        return Phrase(
            "All reports about {x} were equal, all about {other} too, and the two always differed. If the randomiser "
            "has no memory, it is deterministic, and its epsilon is infinite. If it remembers or repeats its first "
            "draw, nothing follows. Samples from fresh state would show which: make it anew for each report "
            "(fresh=True, --fresh).",
            x=value_words(self.values[told[0]]),
            other=value_words(self.values[told[1]]),
        )

    def _remarks(self, verdict: Verdict) -> tuple[str, ...]:
        """On reports that always were the same, each from fresh state: the usual bound is right, and far too small."""
        if verdict != "violates" or not self._always_the_same:
            return ()
        return (
            Phrase(
                "Each report came from fresh state, and every report about a value was the same one. If that is always "
                "so, the randomiser is deterministic and its epsilon is infinite; the bound is what so many samples "
                "prove."
            ),
        )

    def _result(self, verdict: Verdict, reasons: list[str]) -> AuditResult:
        row = self.looks[-1].best if self.looks and verdict != "no statement" else None
        floor = None if row is None else probability_floor(self.claim, self.held_out, row.level, self.delta)
        partial = self.stopped or any(kind not in FORGIVEN for kind in self.problems.counts)
        return AuditResult(
            self.name,
            verdict,
            self.claim,
            self.delta,
            None if row is None else row.bound,
            None if row is None else row.pair,
            None if row is None else direction_words(row.pair),
            None if row is None else row.event,
            None if row is None else row.would_have_seen,
            floor,
            self.drawn,
            self.held_out,
            self.alpha,
            tuple(self.looks),
            self.problems.listed(),
            partial,
            tuple(reasons),
            (*self._remarks(verdict), *self.subject.notes),
            self.subject.certificate,
            self.curve if row is not None else (),
        )


def look_sizes(samples: int) -> list[int]:
    """The held-out reports of each look: half of all at the last, half as many at each before; none: too few."""
    sizes = [samples // 2]
    while sizes[0] // 2 >= FIRST_LOOK:
        sizes.insert(0, sizes[0] // 2)
    return sizes if sizes[0] >= MIN_FRESH else []


def _divided(level: float, worths: list[float]) -> list[float]:
    """Half of the level for what looked worst on earlier samples, the rest evenly over the others."""
    worst = int(np.argmax(worths))
    rest = level / 2 / (len(worths) - 1)
    return [level / 2 if i == worst else rest for i in range(len(worths))]


def _persists(forms: Array) -> bool:
    """Whether one form is that of at least half of the reports: keys that are drawn make each form a new one."""
    return len(forms) > 1 and 2 * int(np.unique(forms, return_counts=True)[1].max()) >= len(forms)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # tables of arrays cannot be compared with ==; then they are two values
        return False


# -- arguments ---------------------------------------------------------------------------


def _check_claim(epsilon: Any, subject: Subject) -> float:
    if epsilon is None:
        if subject.certificate is not None and math.isfinite(subject.certificate.epsilon):
            return subject.certificate.epsilon
        raise InvalidParameter(
            "audit needs the epsilon that is claimed.", hint="audit(randomiser, epsilon=1.0, pairs=[(0, 1)])"
        )
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not 0 <= epsilon <= MAX_EPSILON:
        raise InvalidParameter(
            "audit: epsilon must be a number from 0 to {most:g}, got {got}.", most=MAX_EPSILON, got=shorten(epsilon)
        )
    return float(epsilon)


def _check_delta(delta: Any, subject: Subject) -> float:
    """What is claimed; else what the certificate states: an epsilon of ours holds with its delta only."""
    if delta is None:
        return 0.0 if subject.certificate is None else float(subject.certificate.delta)
    return _check_share("delta", delta, 0.0)


def _check_pairs(pairs: Any, subject: Subject) -> tuple[Pair, ...]:
    if pairs is None:
        if not subject.pairs:
            raise InvalidParameter(
                "audit needs pairs of values to tell apart.", hint="pairs=[(0, 1)], as the randomiser takes them"
            )
        return subject.pairs
    try:
        given = [tuple(pair) for pair in pairs if not isinstance(pair, str)]
        good = len(given) == len(list(pairs)) and bool(given) and all(len(pair) == 2 for pair in given)
    except TypeError:
        good, given = False, []
    if not good:
        raise InvalidParameter(
            "audit: pairs must be a list of pairs of values, got {got}.", hint="pairs=[(0, 1)]", got=shorten(pairs)
        )
    for one, other in given:
        if one is other or (type(one) is type(other) and _equal(one, other)):
            raise InvalidParameter("audit: a pair needs two different values, got {got} twice.", got=shorten(one))
    return tuple((one, other) for one, other in given)


def _check_samples(samples: Any) -> int:
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 1:
        raise InvalidParameter("audit: samples must be a whole number from 1, got {got}.", got=shorten(samples))
    return int(samples)


def _check_share(name: str, value: Any, least: float | None) -> float:
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 <= value < 1
    if not good or (least is None and value == 0):
        raise InvalidParameter("audit: {name} must be a probability below 1, got {got}.", name=name, got=shorten(value))
    return float(value)


def _check_seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InvalidParameter("audit: time_limit must be a positive number of seconds, got {got}.", got=shorten(value))
    return float(value)
