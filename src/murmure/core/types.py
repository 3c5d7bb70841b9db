"""The data of the rule (affine map, certificate, total, release) and the protocols that implementations follow.

Protocols are structural (an implementation inherits nothing); data are frozen dataclasses.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, PlanRefused, shorten

if TYPE_CHECKING:
    from murmure.core.domain import Domain
    from murmure.core.estimates.estimate import Estimate
    from murmure.core.random import Random
    from murmure.core.schema import Schema

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
class Certificate:
    """What an observer can learn about one person, at most. Never printed without its five parts.

    >>> import murmure as mu
    >>> certificate = mu.certify(mu.GRR(mu.Categories(["no", "yes"]), epsilon=1.0))
    >>> print(certificate)
    epsilon = 1, delta = 0; closed form over classes of reports
      protects   the record of one person (replace)
      public     the 2 answers 'no', 'yes'; the mechanism and its integers; who takes part
      witness    the report 'yes' is 2.718 times likelier from 'yes' than from 'no'
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

    def __str__(self) -> str:
        return self.to_text()

    @property
    def shortfall(self) -> str | None:
        """In words, where the law visibly falls short of the requested epsilon: less than 0.99 of it."""
        if self.asked is None or not self.epsilon < VISIBLE * self.asked:
            return None
        why = ": no probability lies between 0 and 2**-64" if self.epsilon > SATURATED else ""
        return f"epsilon = {self.asked:.10g} was asked for; the law reaches {self.epsilon / self.asked:.3g} of it{why}"

    def to_text(self, public: bool = True) -> str:
        """The five parts in lines; public=False leaves out the public knowledge that several certificates share."""
        if math.isinf(self.epsilon):
            lines = [f"no differential privacy; {self.method}", f"  protects   nothing of one person ({self.relation})"]
        else:
            lines = [
                f"epsilon = {self.epsilon:.10g}, delta = {self.delta:g}; {self.method}",
                f"  protects   the {self.unit} of one person ({self.relation})",
            ]
        if self.shortfall:
            lines.append(f"  asked      {self.shortfall}")
        if public:
            lines.append(f"  public     {'; '.join(self.public)}")
        if self.witness_text is not None:
            lines.append(f"  witness    {self.witness_text[0]} {self.witness_text[1]}")
        elif self.witness is not None:
            a, b, y = self.witness
            lines.append(f"  witness    report {shorten(y, 40)} tells {a!r} from {b!r}")
        if self.hides:
            lines.append(f"  hidden     {self.hides}")
        if self.assumption:
            lines.append(f"  provided   {self.assumption}")
        return "\n".join(lines)

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

    def _repr_html_(self) -> str:
        from murmure.core.show import certificate_html

        return certificate_html(self)


@dataclass(frozen=True)
class Total:
    """What an engine returns: how many people, and their sum."""

    n: int
    sum: Ints

    def __add__(self, other: Total) -> Total:
        return Total(self.n + other.n, self.sum + other.sum)


@runtime_checkable
class Mechanism(Protocol):
    """The person slot: a function from a value to a law."""

    @property
    def domain(self) -> Domain: ...
    def law(self, x: Any) -> Any: ...
    def report(self, values: Any, rng: Random) -> Array: ...
    def tally(self, reports: Array) -> Ints: ...
    def affine(self) -> Affine | NoAffine: ...
    def estimate(self, total: Ints, n: int) -> Estimate: ...


@runtime_checkable
class Statistic(Protocol):
    """The question: a sum over people, and how it is interpreted. Of records: codes column by column, Estimates out."""

    @property
    def domain(self) -> Domain | Schema: ...
    @property
    def width(self) -> int: ...
    @property
    def largest(self) -> int: ...  # what one person can add to one entry, at most
    def encode(self, rows: Any, /) -> Any: ...
    def lift(self, x: Any, /) -> Ints: ...
    def tally(self, x: Any, /) -> Ints: ...
    def interpret_exact(self, total: Ints, n: int, /) -> Any: ...
    def why_unanswerable(self, affine: Any, /) -> str | None: ...
    def finish(self, estimate: Any, /) -> Any: ...


class Engine(Protocol):
    """Where the sum runs. One method."""

    def total(self, step: Callable[[Array], Total], source: Iterable[Array]) -> Total: ...


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
        left_out = getattr(estimate, "left_out", None)
        return {} if left_out is None else {"left_out": left_out.to_rows(level)}
    by_column = {
        str(name): part.left_out.to_rows(level) for name, part in estimate.items() if part.left_out is not None
    }
    return {"left_out": by_column} if by_column else {}


def _wrapped(notice: str) -> str:
    return textwrap.fill(notice, 100, initial_indent="  ", subsequent_indent="  ") + "\n"


@dataclass(frozen=True)
class Release:
    """What may be shown: the estimate, what it costs each observer, and which plan it answers.

    >>> import murmure as mu
    >>> domain = mu.Categories(["no", "yes"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> release = mu.run(plan, ["no"] * 1500 + ["yes"] * 500, rng=mu.Random.seeded(7))
    >>> print(release)
    Release of Histogram through GRR (plan 82439d35bcdc)
      SEEDED RANDOMNESS: an experiment, not for real people
      randomised here, from true answers (people's own coins: run(plan, reports=answers))
              share       low      high
    no       0.7445    0.7025    0.7870
    yes      0.2555    0.2130    0.2975
    2 000 people; 95 % intervals by exact inversion, for these people (fixed population)
      collector and reader: epsilon = 1, delta = 0; closed form over classes of reports
        protects   the record of one person (replace)
        public     the 2 answers 'no', 'yes'; the mechanism and its integers; who takes part
        witness    the report 'yes' is 2.718 times likelier from 'yes' than from 'no'
    """

    estimate: Any  # an Estimate; of a record Estimates, one per column
    guarantees: Mapping[Observer, Certificate]
    plan: str  # the digest
    seeded: bool
    about: str = ""
    seconds: float | None = field(default=None, compare=False)
    rehearsal: bool = False  # between parties, all of them in one process
    randomised_outside: bool = False  # people randomised their answers themselves: nothing was drawn here
    randomised_here: bool = field(default=False, compare=False)  # `run` took its frame for true answers, and drew
    charge: Any = field(default=None, compare=False, repr=False)  # a ledger's Charge

    def __repr__(self) -> str:
        from murmure.core.notices import RANDOMISED_HERE, RANDOMISED_OUTSIDE, REHEARSAL_NOTICE

        notices = _wrapped(REHEARSAL_NOTICE) if self.rehearsal else ""
        notices += _wrapped(RANDOMISED_OUTSIDE) if self.randomised_outside else ""
        notices += "  SEEDED RANDOMNESS: an experiment, not for real people\n" if self.seeded else ""
        notices += f"  {RANDOMISED_HERE}\n" if self.randomised_here else ""
        head = f"Release of {self.about} (plan {self.plan[:12]})"
        return f"{head}\n{notices}{self.estimate!r}\n{self._guarantees_text()}"

    def _guarantees_text(self) -> str:
        """One certificate whole; of several with the same public knowledge, that knowledge once."""
        shared = self.shared_public()
        texts = [f"  {names}: " + c.to_text(shared is None).replace("\n", "\n  ") for names, c in self.observers()]
        if shared is None:
            return "\n".join(texts)
        lines = [line for text in texts for line in text.split("\n")]
        # continuation lines start below the text of a part, which has a name of eleven columns before it
        wrapped = [textwrap.fill(i, 100, subsequent_indent=" " * (15 if i.startswith("    ") else 4)) for i in lines]
        public = f"public to all: {'; '.join(shared)}"
        return "\n".join(["", *wrapped, textwrap.fill(public, 100, initial_indent="  ", subsequent_indent="    ")])

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
        return [(" and ".join(names[key]), certificate) for key, certificate in shared.items()]

    def to_json(self, level: float = 0.95) -> str:
        """Figures, intervals, guarantees and the plan's digest: what may be published, for machines."""
        e = self.estimate
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
            **({"too_noisy": e.reason} if bars and getattr(e, "reason", None) else {}),
            **_left_out(e, level),
            "guarantees": {observer: c.to_dict() for observer, c in self.guarantees.items()},
        }
        return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False)

    def _repr_html_(self) -> str:
        from murmure.core.show import release_html

        return release_html(self)
