"""What mechanisms of records have in common: one mechanism per attribute, a law of records, a tally, estimates.

The tally of a record is the tallies of its attributes one after the other; where only some people show an attribute,
their number comes before its tally.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.counts import check_counts
from murmure.core.domain import Domain, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, PlanMismatch, shorten
from murmure.core.estimates.column_estimates import Estimates, no_estimate, numeric_values
from murmure.core.estimates.estimate import Estimate, SampledEstimator
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Affine, Ints, Mechanism, NoAffine, Unit
from murmure.laws.records import Columns, RecordChannel, RecordLaw, Records
from murmure.local.base.attribute_pairs import PairOracle, why_not_paired
from murmure.local.base.randomisers import NumericRandomiser
from murmure.local.base.weighted_columns import WeightedColumns


class RecordMechanism(Mechanism):
    """Record -> law -> report. Subclasses have `domain` (a schema), `parts` and `channel`."""

    domain: Schema
    epsilon: float

    @property
    def remark(self) -> str | None:
        """What the estimates rest on."""
        return self.assumption

    def _check(self) -> None:
        name = type(self).__name__
        if not isinstance(self.domain, Schema):
            raise InvalidParameter(
                "{name}.domain must be a Schema, got {got}.",
                hint='{name}(Schema({{"smoker": Categories(["no", "yes"])}}), epsilon=1.0)',
                name=name,
                got=shorten(self.domain),
            )
        self.domain.refuse_drafted()
        if not self.domain.private:
            raise InvalidParameter("{name}.domain has public columns only: there is nothing to randomise.", name=name)
        for column in self.domain.private:
            check_few_values(f"{name}.domain", self.domain[column])
        object.__setattr__(self, "epsilon", positive_epsilon(name, self.epsilon))

    @property
    def parts(self) -> tuple[Any, ...]:
        """The mechanism of each private column."""
        raise NotImplementedError

    @property
    def channel(self) -> RecordChannel:
        raise NotImplementedError

    def requested_epsilon(self, unit: Unit) -> float | None:
        """The epsilon that was asked for when records may differ by this unit; None if none was."""
        return self.epsilon if unit == "record" else None

    @property
    def asked(self) -> float | None:
        """The epsilon that was asked for."""
        return self.requested_epsilon("record")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.domain.private

    @property
    def names(self) -> tuple[str, ...]:
        """The protocol of every column: GRR, OUE-z, Hybrid ..."""
        return tuple(type(part).__name__ for part in self.parts)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return tuple(self.domain[name] for name in self.columns)

    def law(self, x: Any) -> RecordLaw:
        """The law of the reports of people holding these codes: (n, d), or one array per column."""
        columns = list(x.T) if isinstance(x, np.ndarray) and x.ndim == 2 else [np.atleast_1d(np.asarray(c)) for c in x]
        good = len(columns) == len(self.columns) and len({len(column) for column in columns}) == 1
        for column, domain in zip(columns, self.domains, strict=False):
            good = good and column.dtype.kind in "iu"
            good = good and (not len(column) or 0 <= column.min() <= column.max() < domain.size)
        if not good:
            raise InvalidParameter(
                "{kind}.law takes one array of codes for each of {column_count} columns, all of one length.",
                hint="schema.encode(batch) turns rows into codes; report(batch, rng) does both",
                kind=type(self).__name__,
                column_count=len(self.columns),
            )
        return RecordLaw(self.channel, columns)

    def report(self, batch: Any, rng: Random, first: int = 0) -> Records:
        """Check and encode people's rows and randomise each; `first` is the number of the first row."""
        return self.randomise(self.domain.encode(batch), rng, first)

    def randomise(self, codes: Columns, rng: Random, first: int = 0) -> Records:
        """The same for codes that are already checked."""
        return replace(self.channel.sample(codes, rng, first), law=self.law_digest)

    @cached_property
    def law_digest(self) -> str:
        """Names the law of records: what draws them, and its integers."""
        fields = {"law": type(self.channel).__name__, "integers": self.channel.integers()}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    @property
    def report_bits(self) -> float:
        return self.channel.report_bits()

    # -- adding up ------------------------------------------------------------------------------------------------

    @property
    def shows_some_columns(self) -> bool:
        """Whether only some people show an attribute, so that their number is part of the tally."""
        return False

    @property
    def columns_shown(self) -> int | None:
        """How many columns each person shows, where that is fixed and not all of them."""
        return None

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many integers each column adds to the tally."""
        return tuple(tally_width(part) + self.shows_some_columns for part in self.parts)

    @property
    def width(self) -> int:
        return sum(self.widths)

    def refuse_others(self, records: Records) -> None:
        """Refuse records of another law: they can have the same shape, and their estimates would be wrong."""
        if records.law not in (None, self.law_digest):
            raise PlanMismatch(
                "{kind} cannot read these records: another mechanism drew them, or this one with other settings.",
                hint="read them with the plan that made them: plan.estimate(reports)",
                kind=type(self).__name__,
            )

    def tally(self, records: Records) -> Ints:
        """Reports -> integers that add up."""
        if not isinstance(records, Records) or len(records.parts) != len(self.parts):
            raise InvalidParameter(
                "{kind}.tally takes records of {part_count} columns, got {got}.",
                kind=type(self).__name__,
                part_count=len(self.parts),
                got=shorten(records),
            )
        if (records.rows is not None) != self.shows_some_columns or not records.fit():
            raise InvalidParameter(
                "{kind}.tally: these records were not made by this mechanism.", kind=type(self).__name__
            )
        # The shape fits; another law can have the same shape, and only the digest shows it.
        self.refuse_others(records)
        out = []
        for i, part in enumerate(self.parts):
            if self.shows_some_columns:
                out.append(np.array([records.shown(i)], np.int64))
            out.append(part.tally(records.parts[i]))
        return np.concatenate(out)

    def pieces(self, total: Ints) -> Iterator[tuple[int | None, Ints]]:
        """The tally of every column, and how many people showed it (None: everybody)."""
        at = 0
        for width in self.widths:
            piece = np.asarray(total[at : at + width])
            at += width
            yield (int(piece[0]), piece[1:]) if self.shows_some_columns else (None, piece)

    def affine(self) -> dict[str, Affine | NoAffine]:
        """The map of every column."""
        return {name: part.affine() for name, part in zip(self.columns, self.parts, strict=True)}

    def estimate(self, total: Ints, n: int) -> Estimates:
        """Shares or a mean of every column."""
        if np.shape(total) != (self.width,):
            raise InvalidParameter(
                "{kind}.estimate takes {width} whole numbers, got shape {shape}.",
                hint="tally(reports) returns them",
                kind=type(self).__name__,
                width=self.width,
                shape=np.shape(total),
            )
        if self.shows_some_columns:
            people = np.array([shown for shown, _ in self.pieces(total)], np.int64)
            check_counts(type(self).__name__, people, n, len(people), self.columns_shown)
        out = {}
        for name, part, (shown, tally) in zip(self.columns, self.parts, self.pieces(total), strict=True):
            out[name] = self._estimate_column(part, tally, n, shown)
        return Estimates(out, n, numeric_values(self.domain), remark=self.remark or "")

    def _estimate_column(self, part: Any, tally: Ints, n: int, shown: int | None) -> Estimate:
        affine = part.affine()
        if isinstance(affine, NoAffine):
            if shown != 0:  # without a figure the counts are still checked: a damaged file should not pass
                check_counts(type(part).__name__, tally, n if shown is None else shown, tally_width(part), 1)
            return no_estimate(["(no figure)"], affine.reason)
        if shown is None:
            return part.estimate(tally, n)
        if shown == 0:
            return no_estimate(
                part.domain.labels() if affine.of == "cells" else ["mean"], Phrase("nobody reported this column")
            )
        base: Estimate = part.estimate(tally, shown)
        assert base.estimator is not None
        return replace(base, n=n, estimator=SampledEstimator(base.estimator, shown, n))

    # -- two columns at once -----------------------------------------------------------------------------------------

    def why_no_pair(self, i: int, j: int) -> str | None:
        """Why the pair of columns i and j cannot be estimated, or None."""
        for place in (i, j):
            why = why_not_paired(self.parts[place], self.columns[place])
            if why is not None:
                return why
        return None

    def pair(self, i: int, j: int) -> PairOracle:
        """What tallies and estimates columns i and j together."""
        return PairOracle(self.parts[i], self.parts[j], (i, j))

    def weighted(self) -> WeightedColumns:
        """What tallies and estimates the reports of people with public weights."""
        return WeightedColumns(self)

    def variance(self, shares: Sequence[Any], n: int) -> list[Any]:
        """Exact variance of every figure of every column, for a fixed population of n people with these shares."""
        return [part.variance(f, n) for part, f in zip(self.parts, shares, strict=True)]


def tally_width(part: Any) -> int:
    return part.outputs if isinstance(part, NumericRandomiser) else part.domain.size  # type: ignore[no-any-return]


def check_weights(owner: object, name: str, given: Any, schema: Schema) -> tuple[float, ...] | None:
    """Positive weights, one per private column, as a sequence or by name; None stays None."""
    if given is None:
        return None
    columns = schema.private
    if hasattr(given, "items"):
        unknown = set(given) - set(columns)
        if unknown:
            raise InvalidParameter(
                "{kind}.{name} names columns that are not randomised: {unknown}.",
                kind=type(owner).__name__,
                name=name,
                unknown=sorted(unknown),
            )
        given = [given.get(column, 1.0) for column in columns]
    try:
        weights = tuple(float(w) for w in given) if not isinstance(given, str) else ()
    except (TypeError, ValueError):
        weights = ()
    if len(weights) != len(columns) or not all(0 < w < float("inf") for w in weights):
        raise InvalidParameter(
            "{kind}.{name} must be {column_count} positive numbers, one per column, got {given}.",
            hint="columns in order: {column_names}",
            kind=type(owner).__name__,
            name=name,
            column_count=len(columns),
            given=shorten(given),
            column_names=", ".join(columns),
        )
    return weights


def protocol_names(mechanism: Any) -> tuple[str, ...]:
    """What randomises each column: GRR, OUE-z, Hybrid ..."""
    return tuple(mechanism.names)
