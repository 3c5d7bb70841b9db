"""One person's report as it travels from a device to a collector: JSON, the same from Python and from a browser.

    a code                    a whole number
    packed bits, a hash       hexadecimal text: bit v is bit v % 8 of byte v // 8; 16-bit words with the low byte first
    a record                  a list with an entry for each column that is randomised, null where it is not shown

    {"plan": the digest of the plan that it answers, "report": one of these}

Each report has exactly one such text, so two copies of it are equal byte for byte. `clients/js` writes the same ones; a
collector reads them with `received`, which refuses what the plan's law cannot draw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, OutsideDomain, Phrase, PlanMismatch, shorten
from murmure.core.fixed import smallest_uint
from murmure.core.random import Random
from murmure.core.types import Array
from murmure.laws.bits import last_word_mask, packed_words
from murmure.laws.hashed import Hashed
from murmure.laws.records import Records, Sampled
from murmure.laws.subset import Subset
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.base.report_columns import ReportColumnCodec
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports

MADE_BY = Phrase(
    "reports are made by murmure.plan.sent_reports.answer and by clients/js, with the plan that reads them"
)


def answer(plan: Plan[Any], answers: Any, rng: Random | None = None, number: int = 0) -> dict[str, Any]:
    """One person's report, ready to be sent; for several questions `answers` maps each column to its answer.

    Every call draws again and costs epsilon again: keep the report, and send it until it is acknowledged. number: the
    public number of the person, for plans that take columns in turn.
    """
    rng = (Random.secure() if rng is None else rng).require_secure("murmure.plan.sent_reports.answer")
    return report_from(plan, answers, rng, number)


def report_from(plan: Plan[Any], answers: Any, rng: Random, number: int = 0) -> dict[str, Any]:
    """The same from any words, for vectors: whoever has a report and its words has the answer."""
    if not isinstance(plan.person, RecordMechanism):
        data: Any = plan.report([answers], rng).data
    elif not isinstance(answers, Mapping):
        raise InvalidParameter(
            "the answers must map each of the columns {names} to an answer, got {got}.",
            hint='answer(plan, {{"smoker": "no", "region": 3}})',
            names=", ".join(plan.person.columns),
            got=type(answers).__name__,
        )
    else:
        data = plan.person.report({name: [value] for name, value in answers.items()}, rng, number)
    if len(data) == 0:
        raise OutsideDomain(
            "the answer is not {domain}, and this plan leaves such rows out.",
            hint="nothing was randomised, and there is nothing to send",
            domain=plan.person.domain.describe(),
        )
    return sent(plan, Reports(data, plan.digest, seeded=False))[0]


def sent(plan: Plan[Any], reports: Reports) -> list[dict[str, Any]]:
    """Reports as JSON values, person by person."""
    data = reports.data
    if not isinstance(data, Records):
        return [{"plan": reports.plan, "report": cell} for cell in _cells(plan.person, data)]
    columns: list[list[Any]] = []
    for i, part in enumerate(plan.person.parts):
        column: list[Any] = [None] * data.n
        places = range(data.n) if data.rows is None else data.rows[i].tolist()
        for place, cell in zip(places, _cells(part, data.parts[i]), strict=True):
            column[place] = cell
        columns.append(column)
    return [{"plan": reports.plan, "report": list(row)} for row in zip(*columns, strict=True)]


def received(plan: Plan[Any], documents: Sequence[Any]) -> Reports:
    """Reports from JSON values; refuses what another plan asked for, and what this plan's law cannot draw."""
    cells = [_opened(plan, document) for document in documents]
    if not isinstance(plan.person, RecordMechanism):
        return Reports(_parsed(plan.person, "", cells), plan.digest, seeded=False)
    names, parts = plan.person.columns, plan.person.parts
    take = plan.person.channel.draw.take if isinstance(plan.person.channel, Sampled) else len(parts)
    for row in cells:
        if not isinstance(row, list) or len(row) != len(parts) or sum(cell is not None for cell in row) != take:
            raise _refused(Phrase("a record with {take} of {total} columns", take=take, total=len(parts)), row)
    columns, rows = [], []
    for i, (name, part) in enumerate(zip(names, parts, strict=True)):
        shown = [place for place, row in enumerate(cells) if row[i] is not None]
        columns.append(_parsed(part, name, [cells[place][i] for place in shown]))
        rows.append(np.array(shown, np.int64))
    some = tuple(rows) if plan.person.shows_some_columns else None
    data = Records(len(cells), tuple(columns), some, law=plan.person.law_digest)
    return Reports(data, plan.digest, seeded=False)


def _opened(plan: Plan[Any], document: Any) -> Any:
    if not isinstance(document, Mapping) or set(document) != {"plan", "report"}:
        raise _refused(Phrase("an object with plan and report"), document)
    if document["plan"] != plan.digest:
        raise PlanMismatch(
            "this report answers plan {plan}, not this plan {digest}.",
            hint=MADE_BY,
            plan=shorten(document["plan"]),
            digest=plan.digest[:12],
        )
    return document["report"]


def _real(part: Any) -> Any:
    return part.real if isinstance(part, HiddenOracle) else part


def _cells(part: Any, data: Array) -> list[Any]:
    width = ReportColumnCodec("", part).width
    if width is None:
        return np.asarray(data).tolist()
    little = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False)
    return [row.tobytes()[:width].hex() for row in little]


def _parsed(part: Any, name: str, cells: Sequence[Any]) -> Array:
    channel, width = _real(part).channel, ReportColumnCodec(name, part).width
    if width is None:
        count = len(channel.outcomes())
        for cell in cells:
            if type(cell) is not int or not 0 <= cell < count:
                raise _refused(Phrase("a whole number from 0 to {last}", last=count - 1), cell)
        return np.array(cells, smallest_uint(count - 1))
    for cell in cells:
        if not isinstance(cell, str) or not re.fullmatch(r"[0-9a-f]*", cell) or len(cell) != 2 * width:
            raise _refused(Phrase("{digits} hexadecimal digits", digits=2 * width), cell)
    raw = np.frombuffer(bytes.fromhex("".join(cells)), np.uint8).reshape(len(cells), width)
    return _hashes(channel, raw) if isinstance(channel, Hashed) else _packed(channel, raw)


def _hashes(channel: Hashed, raw: Array) -> Array:
    out = np.ascontiguousarray(raw).view("<u2").astype(np.uint16)
    if len(out) and (int(out[:, :-1].max()) >> channel.seed_bits or int(out[:, -1].max()) >= channel.g):
        bad = (out[:, :-1] >> channel.seed_bits).any(axis=1) | (out[:, -1] >= channel.g)
        raise _refused(Phrase("a hash to {bins} bins", bins=channel.g), raw[int(np.argmax(bad))].tobytes().hex())
    return out


def _packed(channel: Any, raw: Array) -> Array:
    k = channel.inputs
    padded = np.zeros((len(raw), 8 * packed_words(k)), np.uint8)
    padded[:, : raw.shape[1]] = raw
    out = padded.view("<u8").astype(np.uint64)
    bad = (out[:, -1] & ~last_word_mask(k)) != 0
    wanted = Phrase("bits of {k} values", k=k)
    if isinstance(channel, Subset):  # more bits would count for more people
        bad |= np.bitwise_count(out).sum(axis=1) != channel.size
        wanted = Phrase("{size} of {k} bits", size=channel.size, k=k)
    if bad.any():
        raise _refused(wanted, raw[int(np.argmax(bad))].tobytes().hex())
    return out


def _refused(wanted: str, got: Any) -> InvalidParameter:
    return InvalidParameter(
        "this is not a report of the plan: wanted {wanted}, got {got}.", hint=MADE_BY, wanted=wanted, got=shorten(got)
    )
