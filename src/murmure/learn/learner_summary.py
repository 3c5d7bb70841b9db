"""How a learner that has learned looks: a summary in a terminal, tables in a notebook.

Only what was released is shown: learned attributes, guarantees, cost. Nothing here looks at rows, so it costs nothing.
"""

from __future__ import annotations

import html
import inspect
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from murmure.core.errors import shorten
from murmure.core.notices import REHEARSAL_NOTICE
from murmure.core.show import STYLE
from murmure.core.types import Certificate
from murmure.learn.summary_table import SummaryTable
from murmure.plan.privacy import Local, Privacy, Secure, noise_in

MAX_SHOWN_ROWS = 24  # of a table
MAX_NAMED_COLUMNS = 8  # columns of a schema
WIDTH = 100  # letters of a line
SEEDED = "Seeded randomness: an experiment, not for real people."


def tables_of(learner: Any) -> list[SummaryTable]:
    """What was learned: every learner says what it shows."""
    tables: list[SummaryTable] = learner._summary_tables()
    return tables


# -- what is said about it --------------------------------------------------------------------------------------------


def title_of(learner: Any) -> str:
    """The learner with the parameters that are not their defaults; the schema's columns are said below."""
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
    schema, noise = learner.schema_, noise_in(learner.privacy)
    noisy = noise is not None or isinstance(learner.privacy, Local)
    names = [f"{name} ({schema[name].describe()})" for name in schema.private]
    more = f" and {len(names) - MAX_NAMED_COLUMNS} more" if len(names) > MAX_NAMED_COLUMNS else ""
    yield "columns", ", ".join(names[:MAX_NAMED_COLUMNS]) + more
    if hasattr(learner, "parties_"):
        gone = learner.parties_ - learner.present_
        vanished = f", of which {gone} vanished" if gone else ""
        yield "rehearsal", REHEARSAL_NOTICE
        yield "parties", f"{learner.parties_}{vanished}: masked sums over all of their rows, in one process"
    if isinstance(learner.privacy, Local):
        yield "rows", "randomised at the person, before anybody learned from them"
    elif noisy and learner._counts_people:
        yield "people", "their numbers are noisy too"
    if done := learner._post_processing():
        free = noisy and not done.startswith("none")
        yield "post-processing", f"{done} (of what was released: it costs nothing)" if free else done
    if why := learner._why_no_errors():
        yield "std err", f"none: {why}"
    spent = getattr(learner, "spent_", None)
    if noise is not None and spent is not None:
        yield "cost", f"epsilon = {spent.epsilon:.6g}" if noise.pure else f"rho = {spent.rho:.6g}"
    if hasattr(learner, "nominal_epsilon_"):
        yield "nominal", f"its source calls this epsilon = {learner.nominal_epsilon_:.6g}; what it costs stands above"
    groups: dict[str, tuple[list[str], Certificate]] = {}  # observers who learn the same are named together
    for observer, certificate in getattr(learner, "guarantees_", {}).items():
        groups.setdefault(repr(certificate.to_dict()), ([], certificate))[0].append(observer)
    for observers, certificate in groups.values():
        yield " and ".join(observers), _guarantee_text(certificate)


def _guarantee_text(c: Certificate) -> str:
    hidden = f"; hidden: {c.hides}" if c.hides else ""
    if math.isinf(c.epsilon):
        provided = f"; provided {c.assumption}" if c.hides and c.assumption else ""
        return f"no differential privacy; {c.method}{hidden}{provided}"
    promise = (
        f"epsilon = {c.epsilon:.6g}, delta = {c.delta:g} for the {c.unit} of one person ({c.relation}); {c.method}"
    )
    return promise + hidden + (f"; provided {c.assumption}" if c.assumption else "")


# -- as text and as HTML ----------------------------------------------------------------------------------------------


def summary(learner: Any) -> str:
    """What was learned and what it cost, in a few lines."""
    learner._require_fitted()
    parts = [textwrap.fill(title_of(learner), WIDTH, subsequent_indent="  ")]
    if learner.seeded_:
        parts.append(SEEDED.upper())
    parts += [_table_text(table) for table in tables_of(learner)]
    notes = list(notes_of(learner))
    wide = max(len(name) for name, _ in notes)
    lines = [textwrap.fill(f"{name:{wide}}  {text}", WIDTH, subsequent_indent=" " * (wide + 2)) for name, text in notes]
    return "\n\n".join([*parts, "\n".join(lines)])


def _table_text(table: SummaryTable) -> str:
    shown = [table.head, *table.rows[:MAX_SHOWN_ROWS]]
    cells = [[_cut(row[0], 40), *(_cut(cell, 24) for cell in row[1:])] for row in shown]
    wide = [max(len(row[i]) for row in cells) for i in range(len(table.head))]
    lines = ["  ".join([f"{row[0]:<{wide[0]}}", *map(str.rjust, row[1:], wide[1:])]) for row in cells]
    if len(table.rows) > MAX_SHOWN_ROWS:
        lines.append(f"{len(table.rows) - MAX_SHOWN_ROWS} more rows not shown")
    return "\n".join(line.rstrip() for line in lines)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def learner_html(learner: Any) -> str:
    """For notebooks; before `fit`, its parameters alone."""
    title = f"<p><b>{html.escape(title_of(learner))}</b></p>"
    if not learner.__sklearn_is_fitted__():
        return f"{STYLE}<div class='murmure'>{title}<p class='note'>Not fitted yet.</p></div>"
    warn = f"<p class='warn'>{SEEDED}</p>" if learner.seeded_ else ""
    tables = "".join(_table_html(table) for table in tables_of(learner))
    notes = "".join(
        f"<p class='note'><b>{html.escape(name)}</b>: {html.escape(text)}</p>" for name, text in notes_of(learner)
    )
    return f"{STYLE}<div class='murmure'>{title}{warn}{tables}{notes}</div>"


def _table_html(table: SummaryTable) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        first = f"<{tag} class='name'>{html.escape(cells[0])}</{tag}>"
        return f"<tr>{first}{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells[1:])}</tr>"

    left = len(table.rows) - MAX_SHOWN_ROWS
    more = f"<p class='note'>{left} more rows not shown</p>" if left > 0 else ""
    rows = "".join(line(row, "td") for row in table.rows[:MAX_SHOWN_ROWS])
    return f"<table>{line(table.head, 'th')}{rows}</table>{more}"
