"""What certificates and releases show: what an observer can learn about one person, at most."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from murmure.core.errors import shorten
from murmure.core.notices import RANDOMISED_HERE, RANDOMISED_OUTSIDE, REHEARSAL_NOTICE, SEEDED
from murmure.show.document import Block, Document, Paragraph, Section, Table
from murmure.show.phrase import Phrase, apart

if TYPE_CHECKING:
    from murmure.core.types import Certificate, Release

NO_PRIVACY = Phrase("no differential privacy")
PROTECTS, COMPUTED, ASKED, PUBLIC, HIDDEN, PROVIDED = (
    Phrase("protects"),
    Phrase("computed by"),
    Phrase("asked"),
    Phrase("public"),
    Phrase("hidden"),
    Phrase("provided"),
)
WITNESS = Phrase("witness, the report that tells most")
RELATIONS = {
    "replace": Phrase("replace: what somebody holds is exchanged for anything else"),
    "add/remove": Phrase("add/remove: somebody is in the data or not"),
}
RELATION_NAMES = {"replace": Phrase("replace"), "add/remove": Phrase("add/remove")}
UNITS = {"record": Phrase("the record of one person"), "attribute": Phrase("one attribute of one person")}


def cost(c: Certificate, reports: int | None = None, asked: bool = False) -> Phrase:
    """epsilon and delta; asked: with the epsilon that was asked for."""
    if math.isinf(c.epsilon):
        return NO_PRIVACY
    if not asked or c.asked is None:
        return Phrase("epsilon = {epsilon:.10g}, delta = {delta:g}", epsilon=c.epsilon, delta=c.delta)
    if reports is not None and reports > 1:
        return Phrase(
            "epsilon = {epsilon:.10g} ({reports} reports of at most {asked:.10g} each), delta = {delta:g}",
            epsilon=c.epsilon,
            reports=reports,
            asked=c.asked,
            delta=c.delta,
        )
    return Phrase(
        "epsilon = {epsilon:.10g} (asked for {asked:.10g}), delta = {delta:g}",
        epsilon=c.epsilon,
        asked=c.asked,
        delta=c.delta,
    )


def protects(c: Certificate) -> Phrase:
    if math.isinf(c.epsilon):
        return Phrase("nothing of one person")
    return Phrase("{unit} ({relation})", unit=UNITS[c.unit], relation=RELATIONS[c.relation])


def method_explained(method: str) -> str:
    """How a bound was found, and what that means."""
    if method.startswith("enumerated"):
        return Phrase("{method} (every report and every two answers were compared)", method=method)
    if "closed form" in method:
        return Phrase("{method} (a formula of the probabilities)", method=method)
    if re.fullmatch(r"largest over public draws of \d+", method):
        return Phrase("worst case over which columns were drawn")
    return method


def witness_phrase(c: Certificate) -> str | None:
    """The two inputs and the report that tells them apart best."""
    if c.witness_text is not None:
        return Phrase("{report} {tells}", report=c.witness_text[0], tells=c.witness_text[1])
    if c.witness is None:
        return None
    a, b, y = c.witness
    return Phrase("report {report} tells {a} from {b}", report=shorten(y, 40), a=repr(a), b=repr(b))


def certificate_rows(c: Certificate, public: bool = True) -> list[tuple[str, str]]:
    """The parts of a certificate beside its cost; public=False: without what several of them share."""
    rows: list[tuple[str, str | None]] = [
        (PROTECTS, protects(c)),
        (COMPUTED, None if math.isinf(c.epsilon) else method_explained(c.method)),
        (ASKED, c.shortfall),
        (PUBLIC, apart(c.public) if public else None),
        (WITNESS, witness_phrase(c)),
        (HIDDEN, c.hides),
        (PROVIDED, c.assumption),
    ]
    return [(name, text) for name, text in rows if text]


def certificate_blocks(
    c: Certificate, public: bool = True, reports: int | None = None, asked: bool = False
) -> tuple[Block, ...]:
    """A certificate with its five parts and its witness."""
    head: Phrase = cost(c, reports, asked)
    if math.isinf(c.epsilon):
        head = Phrase("{none}: {method}", none=head, method=c.method)
    return Paragraph(head), Table("", ("", ""), tuple(certificate_rows(c, public)), words=True)


def certificate_document(c: Certificate, reports: int | None = None, asked: bool = False) -> Document:
    return Document("", certificate_blocks(c, reports=reports, asked=asked), "Certificate")


def notices(release: Release[Any]) -> list[Paragraph]:
    """What a release must say about how it was made."""
    warnings = [
        (REHEARSAL_NOTICE, release.rehearsal),
        (RANDOMISED_OUTSIDE, release.randomised_outside),
        (SEEDED, release.seeded),
    ]
    out = [Paragraph(text, "warning") for text, holds in warnings if holds]
    return [*out, Paragraph(RANDOMISED_HERE, "note")] if release.randomised_here else out


def release_document(release: Release[Any]) -> Document:
    """The figures, then what each group of observers can learn; public knowledge that all share is said once."""
    shared = release.shared_public()
    sections: list[Block] = [Section(who, certificate_blocks(c, shared is None)) for who, c in release.observers()]
    if shared is not None:
        sections.append(Paragraph(Phrase("Public to all: {public}.", public=apart(shared)), "note"))
    title = Phrase("Release of {about} (plan {plan})", about=release.about, plan=release.plan[:12])
    return Document(title, (*notices(release), *release.estimate.document().blocks, *sections), "Release")
