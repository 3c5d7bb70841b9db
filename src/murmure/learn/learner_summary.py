"""How a learner that has learned looks: what it learned, what was done to noisy sums, what it cost.

Only what was released is shown: learned attributes, guarantees, cost. Nothing here looks at rows, so it costs nothing.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from murmure.core.certificate_blocks import RELATIONS, UNITS
from murmure.core.errors import Phrase, shorten
from murmure.core.notices import REHEARSAL_NOTICE
from murmure.core.types import Certificate
from murmure.plan.privacy import Local, Privacy, Secure, noise_in
from murmure.show.document import Block, Document, Paragraph, Table
from murmure.show.phrase import Several

MAX_NAMED_COLUMNS = 8  # columns of a schema
SEEDED = Phrase("SEEDED RANDOMNESS: an experiment, not for real people.")
OBSERVERS = {
    "reader": Phrase("reader"),
    "curator": Phrase("curator"),
    "coordinator": Phrase("coordinator"),
    "party": Phrase("party"),
    "colluders": Phrase("colluders"),
    "person": Phrase("person"),
}


def tables_of(learner: Any) -> list[Table]:
    """What was learned: every learner says what it shows."""
    tables: list[Table] = learner._summary_tables()
    return tables


def learner_document(learner: Any) -> Document:
    """Before `fit`, its parameters alone."""
    kind = type(learner).__name__
    if not learner.__sklearn_is_fitted__():
        return Document(title_of(learner), (Paragraph(Phrase("Not fitted yet."), "note"),), kind)
    notices = ((REHEARSAL_NOTICE, hasattr(learner, "parties_")), (SEEDED, learner.seeded_))
    notes = Table(Phrase("How it was learned"), ("", ""), tuple(notes_of(learner)), words=True)
    blocks: tuple[Block, ...] = (
        *(Paragraph(text, "warning") for text, holds in notices if holds),
        *tables_of(learner),
        notes,
    )
    return Document(title_of(learner), blocks, kind)


def title_of(learner: Any) -> str:
    """The learner with the parameters that are not their defaults; the notes name the schema's columns."""
    return _call_text(learner, {n: v for n, v in learner.get_params(deep=False).items() if n != "schema"})


def _call_text(owner: Any, parameters: dict[str, Any]) -> str:
    defaults = {name: p.default for name, p in inspect.signature(type(owner).__init__).parameters.items()}
    changed = {n: v for n, v in parameters.items() if v is not defaults[n] and not _is_default(v, defaults[n])}
    parts = [f"{n}={privacy_text(owner) if isinstance(v, Privacy) else shorten(v, 60)}" for n, v in changed.items()]
    return f"{type(owner).__name__}({', '.join(parts)})"


def privacy_text(learner: Any) -> str:
    """The privacy of a learner, in short; after learning between parties, with their number."""
    privacy = learner.privacy
    if isinstance(privacy, Secure) and hasattr(learner, "parties_"):
        privacy = privacy.for_parties(learner.parties_)
    return _call_text(privacy, asdict(privacy))


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not hasattr(value, "shape") and bool(value == default)


def notes_of(learner: Any) -> Iterator[tuple[str, str]]:
    """What was read, what was done to noisy sums, what it cost, and what each observer can learn."""
    noise = noise_in(learner.privacy)
    noisy = noise is not None or isinstance(learner.privacy, Local)
    yield Phrase("columns"), _columns(learner.schema_)
    if hasattr(learner, "parties_"):
        yield Phrase("parties"), _parties(learner.parties_, learner.parties_ - learner.present_)
    if isinstance(learner.privacy, Local):
        yield Phrase("rows"), Phrase("randomised at the person, before anybody learned from them")
    elif noisy and learner._counts_people:
        yield Phrase("people"), Phrase("their numbers are noisy too")
    if done := learner._post_processing():
        free = noisy and not done.startswith("none")
        text = Phrase("{done} (of what was released: it costs nothing)", done=done) if free else done
        yield Phrase("post-processing"), text
    if why := learner._why_no_errors():
        yield Phrase("std err"), Phrase("none: {reason}", reason=why)
    spent = getattr(learner, "spent_", None)
    if noise is not None and spent is not None:
        name, value = ("epsilon", spent.epsilon) if noise.pure else ("rho", spent.rho)
        yield Phrase("cost"), Phrase("{name} = {value:.6g}", name=name, value=value)
    if hasattr(learner, "nominal_epsilon_"):
        yield (
            Phrase("nominal"),
            Phrase(
                "its source calls this epsilon = {epsilon:.6g}; what it costs stands above",
                epsilon=learner.nominal_epsilon_,
            ),
        )
    groups: dict[str, tuple[list[str], Certificate]] = {}  # observers who learn the same are named together
    for observer, certificate in getattr(learner, "guarantees_", {}).items():
        groups.setdefault(repr(certificate.to_dict()), ([], certificate))[0].append(OBSERVERS.get(observer, observer))
    for observers, certificate in groups.values():
        yield Phrase("{observers}", observers=Several(observers)), _guarantee_text(certificate)


def _columns(schema: Any) -> str:
    names = [
        Phrase("{name} ({domain})", name=name, domain=schema[name].describe())
        for name in schema.private[:MAX_NAMED_COLUMNS]
    ]
    more = len(schema.private) - len(names)
    listed = Several(names, Phrase(", "))
    if more:
        return Phrase("{names} and {more} more", names=listed, more=more)
    return Phrase("{names}", names=listed)


def _parties(parties: int, gone: int) -> str:
    if gone:
        return Phrase(
            "{parties}, of which {gone} vanished; masked sums over all of their rows, in one process",
            parties=parties,
            gone=gone,
        )
    return Phrase("{parties}; masked sums over all of their rows, in one process", parties=parties)


def _guarantee_text(c: Certificate) -> str:
    promise: str
    if math.isinf(c.epsilon):
        promise = Phrase("no differential privacy; {method}", method=c.method)
    else:
        promise = Phrase(
            "epsilon = {epsilon:.6g}, delta = {delta:g} for {unit} ({relation}); {method}",
            epsilon=c.epsilon,
            delta=c.delta,
            unit=UNITS[c.unit],
            relation=RELATIONS[c.relation],
            method=c.method,
        )
    if c.hides:
        promise = Phrase("{promise}; hidden: {hides}", promise=promise, hides=c.hides)
    if c.assumption and (c.hides or not math.isinf(c.epsilon)):
        promise = Phrase("{promise}; provided {assumption}", promise=promise, assumption=c.assumption)
    return promise
