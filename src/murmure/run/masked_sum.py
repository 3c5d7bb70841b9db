"""Between parties: what one party adds to the masked sum, and all parties in one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from murmure.central.base.gate import Gate
from murmure.core.errors import EmptySource, InvalidParameter, MurmureError, Phrase, PlanRefused, shorten
from murmure.core.random import Random
from murmure.core.types import room_for
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.plan.plan import Plan
from murmure.run.kept_rows import KeptRows
from murmure.run.totals import at_party, total
from murmure.secure.errors import OutOfBound
from murmure.secure.in_process import sum_in_process


@dataclass(frozen=True)
class PartySum:
    """What one party adds: its number of rows, and its sums with its share of the noise. Nobody else sees them."""

    rows: int
    values: Any = field(repr=False)


@dataclass(frozen=True)
class MaskedSum:
    """The sum over the survivors, and who they are."""

    values: list[int]
    cohort: tuple[int, ...]


def party_sum(
    plan: Plan, frame: Any, engine: Any = None, gate: Gate | None = None, kept: KeptRows | None = None
) -> PartySum:
    """The sum over one party's rows. A value outside its bound is an error that names its row, for its holder alone."""
    if plan.parties is None:
        raise PlanRefused("Plan refused: it has no parties.", hint="parties=PairwiseMasks(5)")
    gate = gate or Gate()
    local = total(plan, frame, engine, gate.rng, kept)
    if local.n == 0:
        raise EmptySource(
            "no row fits the schema: all rows were left out.",
            hint='outside = "drop" leaves out rows; check the bounds',
        )
    if local.n > plan.parties.rows:
        raise OutOfBound(
            "there are {n:_} rows, but the parties agreed on at most {rows:_}.",
            hint="agree on more: PairwiseMasks(..., rows=...)",
            n=local.n,
            rows=plan.parties.rows,
        )
    if not plan.statistic.wide:
        room_for(local.n, plan.max_entry, Phrase("a party's own sum"))
    if plan.curator is None:
        return PartySum(local.n, [local.n, *local.sum.tolist()])
    return PartySum(local.n, with_noise_share(plan, local.sum.tolist(), gate))


def with_noise_share(plan: Plan, sums: Sequence[int], gate: Gate) -> list[int]:
    """A party's sums plus its share of the noise, ready to be masked. Nowhere else are the two added."""
    share = gate.share(plan.bound)  # type: ignore[arg-type]
    return [value + part for value, part in zip(sums, share.tolist(), strict=True)]


def sum_between_parties(
    plan: Plan,
    frames: Any,
    engine: Any,
    rng: Random,
    rules: DisclosureRules | None = None,
    kept: KeptRows | None = None,
) -> MaskedSum:
    """All parties in one process: the machines that run over a network, with the same bytes.

    rules: what exact sums must keep; None: the rules for a single question.
    """
    sharing = plan.parties
    assert sharing is not None
    if isinstance(frames, Mapping) or not isinstance(frames, Sequence) or isinstance(frames, str | bytes):
        raise InvalidParameter(
            "between parties run takes a list of frames, one for each party, got {got}.",
            hint="run(plan, [frame_1, ..., frame_{parties}]); None for a party that drops out",
            got=shorten(type(frames).__name__),
            parties=sharing.parties,
        )
    if len(frames) != sharing.parties:
        raise InvalidParameter(
            "the plan is for {parties} parties, got {frame_count} frames.",
            hint="give a frame for each party, in the order of the roster; None for one that drops out",
            parties=sharing.parties,
            frame_count=len(frames),
        )
    values: list[Any] = []
    rows: list[int] = []
    for i, frame in enumerate(frames):
        try:
            branch = rng.branch()
            local = None if frame is None else party_sum(plan, frame, engine, Gate(branch), kept)
        except MurmureError as error:
            raise at_party(error, i) from None
        values.append(None if local is None else local.values)
        rows += [] if local is None else [local.rows]
    (rules or DisclosureRules()).check(plan, rows or [0])
    vanish: dict[int, Any] = {i: "vectors" for i, one in enumerate(values) if one is None}
    noisy = plan.curator is not None
    done = sum_in_process(sharing, plan.encoder, values, vanish, bytes.fromhex(plan.digest), noisy)
    return MaskedSum(done.result, done.cohort)
