"""The data of the rule (affine map, certificate, total, release), and what implementations are and can do.

Data are frozen dataclasses. Statistics, mechanisms, noises and models inherit from this file what they can do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.show.document import Document, Shown
from murmure.show.phrase import Phrase, Several

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # type checkers bring it along

    from murmure.core.blocks import Block, NoisySum
    from murmure.core.cells.parsed_columns import Codes, ParsedColumn
    from murmure.core.domain_policies import Outside
    from murmure.core.random import Random
    from murmure.core.schema import Schema

    # What a statistic makes of a sum: an Estimate, Estimates ... Where nothing is said, `Release` is a Release[Any].
    Answer = TypeVar("Answer", covariant=True, default=Any)
else:
    from typing import TypeVar

    Answer = TypeVar("Answer", covariant=True)

Array = NDArray[Any]
Ints = NDArray[np.int64]  # the only thing that is ever added up
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Target = Literal["fixed", "superpopulation"]  # of an interval: these people, or the population they were drawn from
Unit = Literal["record", "attribute"]
Relation = Literal["replace", "add/remove"]
Observer = str
MAX_SUM = 2**63 - 1
VISIBLE = 0.99  # of the requested epsilon: a certificate below it says so
SATURATED = 20.0  # above this epsilon the limit is the smallest probability that a law can have


@dataclass(frozen=True)
class Affine:
    """E[tally] = n * offset + slope * sum g(x), exactly: the integers of the law, as fractions.

    of "cells": g(x) is the indicator of each value; offset and slope are one fraction for all cells, or one per cell.
    of "code":  g(x) is the code itself, and `readout` turns the tally into an unbiased sum of codes:
                E[readout . tally] = sum of codes.
    """

    of: Literal["cells", "code"]
    offset: tuple[Fraction, ...] = ()
    slope: tuple[Fraction, ...] = ()
    readout: Sequence[Fraction] = ()


@dataclass(frozen=True)
class Readout(Sequence[Fraction]):
    """The exact number that each report stands for, computed on access: there may be a hundred thousand."""

    of: Callable[[int], Fraction]
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, y: Any) -> Any:
        if not 0 <= y < self.length:
            raise IndexError(y)
        return self.of(y)


@dataclass(frozen=True)
class NoAffine:
    """There is no unbiased estimate, and this is why."""

    reason: str


@dataclass(frozen=True)
class Certificate(Shown):
    """What an observer can learn about one person, at most. Never printed without its five parts.

    >>> import murmure as mu
    >>> certificate = mu.certify(mu.GRR(mu.Categories(["no", "yes"]), epsilon=1.0))
    >>> print(certificate)
    epsilon = 1, delta = 0
      protects: the record of one person (replace: what somebody holds is exchanged for anything else)
      computed by: closed form over classes of reports (a formula of the probabilities)
      public: the 2 answers 'no', 'yes'; the mechanism and its integers; who takes part
      witness, the report that tells most: the report 'yes' is 2.718 times likelier from 'yes' than from
        'no'
    >>> print(certificate.witness, certificate.asked)
    ('yes', 'no', 1) 1.0
    """

    epsilon: float
    delta: float
    relation: Relation  # which two data sets must look alike
    unit: Unit  # what of a person may differ between them
    public: tuple[str, ...]  # what was taken for public knowledge
    method: str  # enumerated, closed form, bound, theorem
    witness: tuple[Any, Any, Any] | None = None  # two inputs and the report that tells them apart best
    assumption: str | None = None
    asked: float | None = None  # the requested epsilon, where there was one
    hides: str | None = None  # what an observer does not get to see at all, and with whom it may collude
    witness_text: tuple[str, str] | None = field(default=None, repr=False, compare=False)  # the witness in words

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta <= 1:
            raise InvalidParameter("a certificate needs epsilon >= 0 and 0 <= delta <= 1, got {got!r}.", got=self)

    def document(self) -> Document:
        """What it shows, which text, pages and LaTeX are rendered from."""
        from murmure.core.certificate_blocks import certificate_document

        return certificate_document(self)

    @property
    def shortfall(self) -> str | None:
        """In words, where the law visibly falls short of the requested epsilon: less than 0.99 of it."""
        if self.asked is None or not self.epsilon < VISIBLE * self.asked:
            return None
        fields = {"asked": self.asked, "part": self.epsilon / self.asked}
        if self.epsilon > SATURATED:
            return Phrase(
                "epsilon = {asked:.10g} was asked for; the law reaches {part:.3g} of it: no probability lies between 0 "
                "and 2**-64",
                **fields,
            )
        return Phrase("epsilon = {asked:.10g} was asked for; the law reaches {part:.3g} of it", **fields)

    def to_dict(self) -> dict[str, Any]:
        """The five parts, for JSON; an infinite epsilon is the text "inf"."""
        return {
            "epsilon": "inf" if math.isinf(self.epsilon) else self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "unit": self.unit,
            "public": list(self.public),
            "method": self.method,
            "assumption": self.assumption,
            **({} if self.hides is None else {"hides": self.hides}),
            **({} if self.shortfall is None else {"asked": self.asked, "shortfall": self.shortfall}),
        }


@dataclass(frozen=True)
class Total:
    """What an engine returns: how many people, and their sum."""

    n: int
    sum: Ints

    def __add__(self, other: Total) -> Total:
        return Total(self.n + other.n, self.sum + other.sum)


# -- what things can do ------------------------------------------------------------------------------------------------
# A class says what it can do: it inherits a class below, or sets an attribute whose default here means no. Others ask
# isinstance, or read the attribute; nobody probes for names (docs/decisions/0033-capabilities-are-types.md).
# What each implementation must bring itself is declared for type checkers only: at run time a dataclass would take an
# attribute of a base class for the default of its own field.


class Domain:
    """The values that one person may hold, numbered 0 .. size-1."""

    ordered: ClassVar[bool] = True  # whether codes are in the order of the values, so that one can be nearest

    if TYPE_CHECKING:

        @property
        def column(self) -> str | None: ...
        @property
        def size(self) -> int: ...
        @property
        def absent(self) -> Any: ...  # what a missing answer counts as, where a curator reads every row
        @property
        def outside(self) -> Outside: ...  # what becomes of a row with another value
        def encode(self, values: Any) -> Codes: ...
        def parse(self, values: Any) -> ParsedColumn: ...
        def label(self, code: int) -> str: ...
        def public(self) -> str: ...
        def describe(self) -> str: ...
        def labels(self) -> Sequence[str]: ...
        def numbers(self) -> Floats | None: ...
        def to_dict(self) -> dict[str, Any]: ...


class NumberDomain(Domain):
    """Numbers between two bounds, on an even grid."""

    if TYPE_CHECKING:

        @property
        def low(self) -> Any: ...
        @property
        def high(self) -> Any: ...
        def numbers(self) -> Floats: ...
        def scale(self) -> tuple[float, float, float]: ...  # of code 0, of a step, and how far rounding can move it


class Statistic(Generic[Answer]):
    """The question: a sum over people, and how it is interpreted. Of records: codes column by column, Estimates out."""

    handles_nobody: ClassVar[bool] = False  # it decides what a row without a value adds; else such a row is left out
    trailing_counts: ClassVar[int] = 0  # how many of its last figures count rows or parties
    min_honest: ClassVar[int] = 2  # between parties: how many must be honest
    reveals: ClassVar[str | None] = None  # what its sums tell about parties

    if TYPE_CHECKING:

        @property
        def wide(self) -> bool: ...  # whether sums may pass 2**63 - 1: they are Python's integers
        @property
        def weights(self) -> str | None: ...  # the public column that says how much each person counts
        @property
        def max_entry(self) -> int: ...  # what the report of one person can add to one entry, at most
        @property
        def domain(self) -> Domain | Schema: ...
        @property
        def width(self) -> int: ...  # of the sum
        @property
        def largest(self) -> int: ...  # what one person can add to one entry, at most
        @property
        def asked_columns(self) -> tuple[str, ...]: ...  # the named columns that it is about
        def encode(self, rows: Any, /) -> Any: ...  # rows -> codes; refuses what is outside the domain
        def encode_lenient(self, rows: Any, /) -> Any: ...  # rows -> codes, whatever they hold: for a curator
        def lift(self, x: Any, /) -> Ints: ...  # g(x) row by row: the definition, for checks
        def tally(self, x: Any, /) -> Ints: ...  # the sum of g(x)
        def columns_of(self, x: Any, /) -> Any: ...  # where there is a column_key: codes -> what is read of them
        def tally_columns(self, columns: Any, /) -> Ints: ...  # and the sum of g(x) from that
        def interpret_exact(self, total: Any, n: int, /) -> Answer: ...  # from the exact sum to an estimate
        def why_unanswerable(self, affine: Any, /) -> str | None: ...  # by reports with this map; None: they can
        def finish(self, estimate: Any, /) -> Any: ...  # what is released of it
        def in_words(self) -> str: ...  # for a ledger and a release: "Mean of age by region"

    else:
        wide, weights, max_entry = False, None, 1

    @property
    def column_key(self) -> Hashable:
        """Of what it reads of a row, if sums at other parameters read the same (run/kept_rows.py)."""
        return None

    @property
    def formulas(self) -> tuple[str, ...]:
        """The expressions of columns that the asker wrote."""
        return ()

    # Reports of people
    def weigh(self, rows: Any) -> Ints | None:
        """The weight of each row; None: all count the same."""
        return None

    def tallier(self, person: Any) -> Any:
        """What adds reports up and estimates from the sum: the mechanism, or its view of what is asked."""
        return person

    # Sums of parties
    @property
    def raw_width(self) -> int:
        """Of a party's own sum, before party_contribution."""
        return self.width

    def party_contribution(self, total: Total) -> Total:
        """What one party adds to the others' sums, from the sum over its own rows."""
        return total

    # Noise
    def with_left_out_count(self) -> Statistic:
        """The question for a curator, who also counts the rows that are left out, if it leaves any out."""
        return self

    def coarse(self, bits: int) -> Statistic:
        """The question for noise: numbers rounded to this length, if it has longer ones."""
        return self


class Protectable(Statistic[Answer]):
    """Noise can protect it: blocks state how far one row moves the sum."""

    if TYPE_CHECKING:

        @property
        def blocks(self) -> tuple[Block, ...]: ...
        def interpret(self, noisy: NoisySum, /) -> Answer: ...


class Choosable(Statistic):
    """Its answer is one of several candidates, chosen by their scores."""

    score_sensitivity: ClassVar[int]  # how far one row moves a score
    choose_with: ClassVar[str]  # noise added to sums cannot protect a choice; this can

    if TYPE_CHECKING:

        @property
        def candidates(self) -> int: ...
        def scores(self, total: Ints, /) -> Ints: ...
        def chosen(self, index: int, /) -> Any: ...


class FromCounts(Statistic):
    """Its sums follow from how often each code occurs: groups and conditions count codes once, and not row by row."""

    if TYPE_CHECKING:

        def from_counts(self, counts: Ints, /) -> Ints: ...  # in the last axis; the last count is that of nobody


class Described(Statistic):
    """It adds up a function of rows, which it says in words."""

    if TYPE_CHECKING:

        def words(self) -> str: ...  # for those who approve a study


class Nested(Statistic):
    """It asks another question, `statistic`, of parts of the rows."""

    statistic: Any

    def with_left_out_count(self: Any) -> Any:
        return replace(self, statistic=self.statistic.with_left_out_count())


class CountsLeftOut(Statistic):
    """It leaves rows out of its figures, and its field `left_out` says whether it counts them."""

    left_out: bool

    def with_left_out_count(self: Any) -> Any:
        return replace(self, left_out=True)


class Certifiable:
    """It states a law, from which `certify` computes what reports tell about one person."""

    if TYPE_CHECKING:

        @property
        def domain(self) -> Any: ...  # a Domain; of records, a Schema
        @property
        def channel(self) -> Any: ...  # the integers of the law
        @property
        def assumption(self) -> str | None: ...  # what its certificate rests on
        @property
        def asked(self) -> float | None: ...  # the epsilon that was asked for; None: it follows from other settings

    else:
        assumption = asked = None


class Mechanism(Certifiable):
    """The person slot: a function from a value to a law."""

    one_of: ClassVar[tuple[str, ...]] = ()  # settings of which exactly one is given, the usual one first

    @property
    def detail(self) -> str:
        """What it chose by itself, for a table of advice: "g = 4"."""
        return ""

    if TYPE_CHECKING:

        def law(self, x: Any, /) -> Any: ...
        def report(self, values: Any, rng: Random, /) -> Any: ...
        def tally(self, reports: Any, /) -> Ints: ...
        def affine(self) -> Any: ...  # an Affine or NoAffine; of records, one for each column
        def estimate(self, total: Ints, n: int, /) -> Any: ...


class Noise:
    """The curator slot: noise that is bound to what it protects, and added to the sum."""

    if TYPE_CHECKING:

        @property
        def epsilon(self) -> float | None: ...  # that was asked for; None: a rho was
        def bind(self, blocks: Sequence[Block], relation: Relation = ..., rows: int = ..., /) -> Any: ...


class PostProcessed(Noise):
    """Only a function of the noisy sum leaves the gate. It is biased, so no error bars follow from the noise."""

    if TYPE_CHECKING:

        def post_process(self, noisy: Ints, /) -> Ints: ...


class Chooser:
    """The curator slot of a Choosable question: it draws one of the candidates by their scores."""

    if TYPE_CHECKING:

        @property
        def epsilon(self) -> float | None: ...
        def bind_scores(
            self, candidates: int, sensitivity: int, relation: Relation = ..., rows: int = ..., /
        ) -> Any: ...


class Sharing:
    """The parties slot: how several parties add up without showing their parts."""

    if TYPE_CHECKING:

        @property
        def parties(self) -> int: ...
        @property
        def honest(self) -> int: ...  # parties that stay and do not collude, at least
        @property
        def rows(self) -> int: ...  # of one party, at most
        @property
        def assumption(self) -> str: ...
        def in_words(self) -> str: ...  # what it hides, from whom


class Promises:
    """It has certificates of its own: a plan."""

    if TYPE_CHECKING:

        def guarantees(self) -> Mapping[Observer, Certificate]: ...


class Model:
    """A generator of questions: the next one follows from the sums that were released."""

    if TYPE_CHECKING:

        @property
        def noise_refusal(self) -> str | None: ...  # why noise cannot protect it; None if it can
        @property
        def domain(self) -> Schema: ...  # the columns that it reads
        @property
        def rounds(self) -> int: ...  # how many questions it asks, at most
        def steps(self) -> Generator[Statistic, Any, Any]: ...
        def in_words(self) -> str: ...  # for those who approve a study

    @property
    def max_sums(self) -> int | None:
        """The most sums of all rounds; None: it declares none."""
        return None

    def limit_in_words(self) -> str | None:
        """How far it can go between parties; None: that does not depend on what it asks."""
        return None

    def later_rounds(self) -> str | None:
        """What it asks after its first question; None: the same again, or nothing."""
        return None

    @property
    def finest_cells(self) -> tuple[str, int] | None:
        """The column of which later rounds may ask for cells, and the most cells; None: they ask for none."""
        return None

    @property
    def party_statistic(self) -> type[Statistic] | None:
        """The statistic that it asks about each party separately."""
        return None


class Releasable:
    """What a statistic makes of a sum, and a release shows: an estimate, or a choice."""

    @property
    def left_out(self) -> Any:
        """The noisy number of rows that have no part in it; None: it is not counted."""
        return None

    @property
    def reason(self) -> str | None:
        """Why there are no error bars; None: there are."""
        return None

    @property
    def remark(self) -> str:
        """What the figures rest on."""
        return ""


@runtime_checkable
class Engine(Protocol):
    """Where rows are worked on, batch by batch. An engine that inherits from this has one method to write: total."""

    def total(self, step: Callable[[Any], Total], source: Iterable[Any]) -> Total:
        """The sum of step(batch) over all batches."""
        raise NotImplementedError

    def each(self, work: Callable[[Any], Any], source: Iterable[Any]) -> Iterator[Any]:
        """work(batch) for every batch, in order."""
        return map(work, source)

    def accepts(self, frame: Any) -> bool:
        """Whether it reads the rows of this frame itself, where they are; anything else is cut into batches first.

        Then it also has what FrameEngine lists, and its `total` takes the frame and a generator.
        """
        return False


class FrameEngine(Engine, Protocol):
    """An engine with frames of its own, or that reads files on its workers."""

    def total(self, step: Callable[[Any], Total], source: Any, rng: Random | None = None) -> Total: ...
    def map(
        self,
        function: Callable[[Any], Any],
        frame: Any,
        schema: Any,
        rng: Random | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Any:
        """A frame of what function(task) returns, an Arrow batch of this schema: computed once, with metadata."""
        ...

    def metadata(self, frame: Any) -> Mapping[str, str]: ...  # what `map` wrote; nothing of other frames
    def arrow_types(self, frame: Any, columns: Iterable[str] | None = None) -> dict[str, Any]: ...  # by column
    def bounded(self, source: Any, columns: Sequence[str], unit: str, rows: int) -> Any: ...  # rows of each person


def int_array(values: Iterable[int]) -> Any:
    """int64 where they fit, Python's integers where they do not."""
    integers = [int(v) for v in values]
    if all(-(2**63) <= v < 2**63 for v in integers):
        return np.array(integers, np.int64)
    out = np.empty(len(integers), object)
    out[:] = integers
    return out


def room_for(n: int, bound: int, what: str) -> None:
    """Refuse a sum that could pass 2**63 - 1."""
    if n * bound > MAX_SUM:
        raise PlanRefused(
            "Plan refused: {n:_} people x bound {bound:_} can exceed 2**63 - 1 in {what}.",
            hint="use a coarser grid (fewer cells) or fewer people at a time",
            n=n,
            bound=bound,
            what=what,
        )


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """A figure that is lost in the noise is null in JSON, which has no NaN."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


def _left_out(estimate: Any, level: float) -> dict[str, Any]:
    """The noisy numbers of rows that have no part in the figures, by column or group."""
    if not isinstance(estimate, Mapping):
        return {} if estimate.left_out is None else {"left_out": estimate.left_out.to_rows(level)}
    by_column = {
        str(name): part.left_out.to_rows(level) for name, part in estimate.items() if part.left_out is not None
    }
    return {"left_out": by_column} if by_column else {}


def _listed(observers: list[str]) -> str:
    return observers[0] if len(observers) == 1 else Phrase("{observers}", observers=Several(observers))


@dataclass(frozen=True)
class Release(Shown, Generic[Answer]):
    """What may be shown: the estimate, what it costs each observer, and which plan it answers.

    >>> import murmure as mu
    >>> domain = mu.Categories(["no", "yes"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> release = mu.run(plan, ["no"] * 1500 + ["yes"] * 500, rng=mu.Random.seeded(7))
    >>> print(release)
    Release of Histogram through GRR (plan 82439d35bcdc)
    ==============================================================================
    SEEDED RANDOMNESS: an experiment, not for real people
    randomised here, from true answers (people's own coins: run(plan, reports=answers))
    <BLANKLINE>
            share       low      high
    no     0.7445    0.7025    0.7870
    yes    0.2555    0.2130    0.2975
    <BLANKLINE>
    2,000 people; 95% intervals by exact inversion (every share under which such a count is not rare),
      for these people (fixed population)
    <BLANKLINE>
    collector and reader
    --------------------
    epsilon = 1, delta = 0
      protects: the record of one person (replace: what somebody holds is exchanged for anything else)
      computed by: closed form over classes of reports (a formula of the probabilities)
      public: the 2 answers 'no', 'yes'; the mechanism and its integers; who takes part
      witness, the report that tells most: the report 'yes' is 2.718 times likelier from 'yes' than from
        'no'
    """

    estimate: Answer  # an Estimate; of a record Estimates, one per column
    guarantees: Mapping[Observer, Certificate]
    plan: str  # the digest
    seeded: bool
    about: str = ""
    seconds: float | None = field(default=None, compare=False)
    rehearsal: bool = False  # between parties, all of them in one process
    randomised_outside: bool = False  # people randomised their answers themselves: nothing was drawn here
    randomised_here: bool = field(default=False, compare=False)  # `run` took its frame for true answers, and drew
    charge: Any = field(default=None, compare=False, repr=False)  # a ledger's Charge

    def document(self) -> Document:
        """What it shows, which text, pages and LaTeX are rendered from."""
        from murmure.core.certificate_blocks import release_document

        return release_document(self)

    def __repr__(self) -> str:
        return str(self)

    def shared_public(self) -> tuple[str, ...] | None:
        """What several certificates take for public, where it is the same: printed once."""
        distinct = {certificate.public for _, certificate in self.observers()}
        return distinct.pop() if len(distinct) == 1 < len(self.observers()) else None

    def observers(self) -> list[tuple[str, Certificate]]:
        """Guarantees with the observers who share them: ("collector and reader", certificate)."""
        names: dict[int, list[str]] = {}
        for observer, certificate in self.guarantees.items():
            names.setdefault(id(certificate), []).append(observer)
        shared = {id(certificate): certificate for certificate in self.guarantees.values()}
        return [(_listed(names[key]), certificate) for key, certificate in shared.items()]

    def to_json(self, level: float = 0.95) -> str:
        """Figures, intervals, guarantees and the plan's digest: what may be published, for machines."""
        e: Any = self.estimate
        bars = e.estimator is not None
        fields = {
            "about": self.about,
            "plan": self.plan,
            "seeded": self.seeded,
            **({"rehearsal": True} if self.rehearsal else {}),  # of parties that one person ran
            **({"randomised_outside": True} if self.randomised_outside else {}),  # by the people themselves
            "people": e.n,
            "people_noisy": e.n is not None and bool(e.noisy),  # read off a protected sum
            "level": level if bars else None,
            "target": e.target if bars else None,
            "figures": [_without_nan(row) for row in e.to_rows(level)],
            **({"too_noisy": e.reason} if bars and e.reason else {}),
            **_left_out(e, level),
            "guarantees": {observer: c.to_dict() for observer, c in self.guarantees.items()},
        }
        return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False)
