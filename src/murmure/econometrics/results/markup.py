"""Results as HTML for notebooks and pages, and as LaTeX for papers. All names are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from murmure.core.show import STYLE
from murmure.econometrics.results.french import in_french
from murmure.econometrics.results.text import UNKNOWN, cell_texts, facts_in_pairs

if TYPE_CHECKING:
    from murmure.econometrics.results.result import ModelResult, ResultTable

# -- HTML -------------------------------------------------------------------------------------------------------------


def summary_html(result: ModelResult, language: str = "en") -> str:
    say = in_french if language == "fr" else str
    parts = [f"<p><b>{html.escape(result.title)}</b></p>"]
    pairs = facts_in_pairs(result.facts())
    facts = "".join(f"<tr>{_fact(say(a), v)}{_fact(say(b), w)}</tr>" for (a, v), (b, w) in pairs)
    if facts:
        parts.append(f"<table>{facts}</table>")
    parts += [_table_html(table, say) for table in result.tables()]
    origin = result.how.lines_in_french() if language == "fr" and result.how is not None else result.origin
    parts += [f"<p class='note'>{html.escape(note)}</p>" for note in (*result.notes, *origin)]
    return f"{STYLE}<div class='murmure'>{''.join(parts)}</div>"


def _fact(name: str, text: str) -> str:
    return f"<td class='name'>{html.escape(name)}</td><td>{html.escape(text)}</td>"


def _table_html(table: ResultTable, say: Callable[[str], str]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        first = f"<{tag} class='name'>{html.escape(cells[0])}</{tag}>"
        return f"<tr>{first}{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells[1:])}</tr>"

    title = f"<p>{html.escape(say(table.title))}</p>" if table.title else ""
    body = "".join(line(row, "td") for row in cell_texts(table))
    return f"{title}<table>{line([say(name) for name in table.head], 'th')}{body}</table>"


# -- LaTeX ------------------------------------------------------------------------------------------------------------

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ a bracket would be an optional length
    "]": "{]}",
}


def latex(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def summary_latex(result: ModelResult) -> str:
    parts = [f"% {' '.join(result.title.split())}"]
    lines = [
        f"{latex(a)} & {_number(value)} & {latex(b)} & {_number(other)} \\\\"
        for (a, value), (b, other) in facts_in_pairs(result.facts())
    ]
    if lines:
        parts.append("\n".join([r"\begin{tabular}{lrlr}", r"\hline", *lines, r"\hline", r"\end{tabular}"]))
    for table in result.tables():
        head = " & ".join(latex(name) for name in table.head) + r" \\"
        body = [" & ".join([latex(row[0]), *map(_number, row[1:])]) + r" \\" for row in cell_texts(table)]
        top = rf"\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}"
        title = [latex(table.title) + "\n"] if table.title else []
        lines = [*title, top, r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
        parts.append("\n".join(lines))
    parts += [latex(note) for note in (*result.notes, *result.origin)]
    return "\n\n".join(parts) + "\n"


def _number(text: str) -> str:
    """In LaTeX: a minus needs mathematics (text shows a dash), and thousands a space without a line break."""
    escaped = re.sub(r"(?<=\d) (?=\d{3})", r"\\,", latex(text.removeprefix("-")))
    return f"$-${escaped}" if text.startswith("-") and text != UNKNOWN else escaped if text != UNKNOWN else latex(text)
