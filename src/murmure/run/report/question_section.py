"""The head of a report, and its first section: what was asked, and how."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from murmure.catalogue import entries
from murmure.core.catalogue_entries import NoiseEntry, RecordEntry
from murmure.core.domain import Categories, Dates
from murmure.core.estimates.estimate import Estimate, SampledEstimator
from murmure.core.estimates.estimate_blocks import no_figure
from murmure.core.estimates.forged_reports import as_unforged
from murmure.core.schema import Schema
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Block, Facts, Number, Paragraph, Section, Table, paragraphs, sentences
from murmure.show.phrase import Phrase, Quoted, Several, Strong, apart

MIN_CONTENTS = 4  # columns from which there is a table of contents


def epsilon_number(value: float) -> Any:
    return Number(value, "plain") if math.isfinite(value) else Phrase("no limit")


def head(content: ReportContent) -> tuple[Block, ...]:
    """What to beware of, and what matters most."""
    return Paragraph(_motto(content), "motto"), *paragraphs(_warnings(content), "warning"), _facts(content)


def _motto(content: ReportContent) -> Phrase:
    if not content.curated:
        return Phrase("Each person whispers; the crowd speaks.")
    if content.chosen is not None:
        return Phrase("One of several public candidates leaves the curator.")
    return Phrase("Only noisy sums leave the curator.")


def _warnings(content: ReportContent) -> list[Phrase]:
    out = []
    if content.release.seeded:
        replayed = Phrase("Seeded experiment: anyone can replay these reports. Never for real people.")
        if content.chosen is not None:
            replayed = Phrase("Seeded experiment: whoever knows the seed replays the draw. Never for real people.")
        elif content.curated:
            replayed = Phrase(
                "Seeded experiment: whoever knows the seed takes the noise off again. Never for real people."
            )
        out.append(replayed)
    if content.release.randomised_outside:
        out.append(
            Phrase(
                "Randomised outside the software: nothing was drawn here, and nothing here can check how people drew."
            )
        )
    if content.simulated:
        out.append(Phrase("Simulation: the true values are shown because these people are invented or known."))
    return out


def _facts(content: ReportContent) -> Facts:
    n, items = content.release.estimate.n, list[tuple[str, Any]]()
    if content.curated:
        if n is not None:
            rows = (content.rows_per_person or 1) > 1
            number = Phrase("about {n:,}", n=n) if content.release.estimate.noisy else Number(n)
            items.append((Phrase("rows (noisy)") if rows else Phrase("people (noisy)"), number))
        items.append((Phrase("epsilon of this release"), epsilon_number(content.reader.epsilon)))
        if content.reader.delta:
            items.append(("delta", Number(content.reader.delta, "small")))
    else:
        items.append((Phrase("rows") if content.of_records else Phrase("answers"), Number(n)))
        whole = Phrase("epsilon for a whole record") if content.of_records else Phrase("epsilon of an answer")
        names = {"record": whole, "attribute": Phrase("epsilon for one attribute")}
        items += [(names[c.unit], epsilon_number(c.epsilon)) for c in content.certificates]
    items.append((Phrase("protected unit"), content.protects))
    if content.paid is not None:
        left = Phrase("{left:.6g} of {budget:.6g}", left=max(content.paid.left, 0.0), budget=content.paid.budget)
        items.append((Phrase("epsilon left in the ledger"), left))
    randomness = Phrase("seeded") if content.release.seeded else Phrase("secure")
    if content.release.randomised_outside:
        randomness = Phrase("outside the software")
    if content.mechanism:
        items.append((Phrase("randomness"), randomness))
    return Facts(tuple(items))


def question_section(content: ReportContent) -> Section:
    rules = _row_rules(content) if content.curated else _outside_rules(content)
    blocks: list[Block] = [Paragraph(sentences(_question(content), *_how(content))), *paragraphs([rules], "note")]
    return Section(Phrase("1. What was asked, and how"), (*blocks, *_contents(content)))


def _question(content: ReportContent) -> str:
    bare = content.asked.entry.bare_sentence
    return content.question.sentence if content.curated or bare is None else Phrase(bare)


def _how(content: ReportContent) -> list[Phrase]:
    name, noise = Strong(content.mechanism), entries(NoiseEntry).get(content.mechanism)
    title = Phrase((noise and noise.title) or "noise")
    if content.curated:
        return _at_curator(content, title)
    if not content.mechanism:
        how = Phrase("Nothing was randomised: these are exact figures of real answers.")
    elif noise is not None:
        how = Phrase(
            "Each party adds its share of {noise} ({name}), and only noisy sums are seen.", noise=title, name=name
        )
    else:
        sentence = Phrase("every answer is randomised before it leaves the person.")
        if content.release.randomised_outside:
            sentence = Phrase(
                "people randomised their answers themselves, outside the software: with coins, cards or a program of "
                "their own."
            )
        template = entries(RecordEntry).get(content.mechanism, RecordEntry()).sentence
        how = Phrase("By {name}: {sentence}", name=name, sentence=Phrase(template) if template else sentence)
    if content.weights is None:
        return [how]
    weighted = Phrase(
        "Figures are weighted: each person counts as the public column {column} says.", column=Strong(content.weights)
    )
    return [how, weighted]


def _at_curator(content: ReportContent, noise: Phrase) -> list[Phrase]:
    name = Strong(content.mechanism)
    if content.chosen is not None:
        return [
            Phrase(
                "A curator sees every row and draws one candidate, by {name}: those with more people are likelier.",
                name=name,
            )
        ]
    how = Phrase(
        "A curator sees every row and adds them up exactly; {noise} ({name}) is added to the sums, and only noisy sums "
        "leave.",
        noise=noise,
        name=name,
    )
    cut = Phrase("They are then cut to a public range.")
    return [how, cut] if content.mechanism == "Geometric" else [how]


def _row_rules(content: ReportContent) -> Phrase:
    """How a curator counts cells outside the schema. They never raise an error, because an error would reveal them."""
    domains = [] if content.plan is None else [domain for _, domain in domains_of(content.plan.statistic.domain)]
    labels = [domain for domain in domains if not domain.ordered]
    numbers = [domain for domain in domains if not isinstance(domain, Categories)]
    dates = [domain for domain in domains if isinstance(domain, Dates)]
    parts = []
    if content.question.kind == "Rows" and len(domains) == 1:
        numbers, dates, labels = [], [], []
        parts.append(Phrase("all of them are counted"))
    elif not domains or any(domain.outside != "drop" for domain in numbers):
        parts.append(Phrase("a number out of bounds is moved to the bound"))
    dropped = [domain for domain in numbers if domain.outside == "drop"]
    names = [Quoted(domain.column) for domain in dropped if domain.column]
    if dropped and len(names) < len(numbers) and names:
        parts.append(Phrase("a row with a number of {columns} out of bounds is left out", columns=Several(names)))
    elif dropped:
        parts.append(Phrase("a row with a number out of bounds is left out"))
    if not domains or any(domain.absent is None for domain in numbers):
        parts.append(
            Phrase("a row whose number is missing or unreadable is left out, unless the schema names a value for it")
        )
    elif numbers:
        parts.append(Phrase("a missing or unreadable number counts as the schema says"))
    parts += _date_rules(dates)
    if not domains or any(domain.outside != "drop" for domain in labels):
        parts.append(Phrase("a label that is not in the schema counts nowhere"))
    dropped = [domain for domain in labels if domain.outside == "drop"]
    names = [Quoted(domain.column) for domain in dropped if domain.column]
    if dropped and len(names) < len(labels) and names:
        parts.append(
            Phrase("a row with a label of {columns} that is not in the schema is left out", columns=Several(names))
        )
    elif dropped:
        parts.append(Phrase("a row with a label that is not in the schema is left out"))
    return Phrase("Every row is read, whatever it holds: {rules}.", rules=apart(parts))


def _date_rules(dates: Sequence[Dates]) -> list[Phrase]:
    parts = []
    if any(domain.outside != "drop" for domain in dates):
        parts.append(Phrase("a date before the first or after the last counts as the nearest of them"))
    if any(domain.outside == "drop" for domain in dates):
        parts.append(Phrase("a row whose date its column drops is left out"))
    if any(domain.absent is None for domain in dates):
        parts.append(
            Phrase("a row whose date is missing or unreadable is left out, unless the schema names a value for it")
        )
    elif dates:
        parts.append(Phrase("a missing or unreadable date counts as the schema says"))
    return parts


def domains_of(domain: Any) -> list[tuple[str, Any]]:
    if isinstance(domain, Schema):
        return [(name, domain[name]) for name in domain.private]
    return [(domain.column or "", domain)]


def _outside_rules(content: ReportContent) -> Phrase | None:
    """What was done with values outside the schema. How many there were stays with the holder of the data."""
    domain = None if content.plan is None else content.plan.statistic.domain
    domains = [] if domain is None else list(domain.values()) if isinstance(domain, Schema) else [domain]
    clamped, dropped = ([d for d in domains if d.outside == policy] for policy in ("clamp", "drop"))
    every = content.receipt is not None and content.receipt.invalid == "drop"
    parts = []
    if clamped:
        dated = any(isinstance(domain, Dates) for domain in clamped)
        what = Phrase("A number or date beyond its bounds") if dated else Phrase("A number beyond its bounds")
        numbers = _in_columns(what, clamped, domains)
        parts.append(Phrase("{numbers} was moved to the nearest bound before it was randomised.", numbers=numbers))
    if every or dropped:
        rows = Phrase("Rows outside the schema")
        if every and content.rows_per_person is not None:
            rows = Phrase("Rows outside the schema, or more than one person may have,")
        elif not every:
            rows = _in_columns(rows, dropped, domains)
        parts.append(Phrase("{rows} were left out. The figures say nothing about them.", rows=rows))
    return sentences(*parts) if parts else None


def _in_columns(what: Phrase, some: list[Any], every: list[Any]) -> Phrase:
    """With the names of columns, unless all have the same rule."""
    names = [domain.column for domain in some if domain.column]
    return Phrase("{what} ({columns})", what=what, columns=Several(names)) if len(some) < len(every) and names else what


def _contents(content: ReportContent) -> tuple[Block, ...]:
    """Of many columns: what is shown of each, and how it was randomised."""
    if len(content.columns) < MIN_CONTENTS:
        return ()
    estimators = [as_unforged(column.estimate.estimator) for column in content.columns]
    shown = [e.shown if isinstance(e, SampledEstimator) else None for e in estimators]
    sampled = any(n is not None for n in shown)
    protocols = [content.protocol(column.name) for column in content.columns]
    heads = [Phrase("column"), Phrase("shown")]
    heads += [Phrase("protocol")] if any(protocols) else []
    heads += [Phrase("reported by")] if sampled else []
    rows = []
    for column, protocol, n in zip(content.columns, protocols, shown, strict=True):
        row: list[Any] = [column.name, figure_kind(column.estimate)]
        row += [protocol] if any(protocols) else []
        rows.append(tuple([*row, Number(n) if n is not None else None] if sampled else row))
    return (Table("", tuple(heads), tuple(rows), words=True),)


def figure_kind(estimate: Estimate) -> Phrase:
    if no_figure(estimate):
        return Phrase("no figure")
    k = len(estimate.mean)
    if estimate.unit == "share":
        return Phrase("shares of {k:,} answers", k=k)
    return Phrase("mean") if list(estimate.labels) == ["mean"] else Phrase("{k:,} figures", k=k)
