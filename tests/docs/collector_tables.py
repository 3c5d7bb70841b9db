"""Tables of docs/ref-collector-api.md that the code says: routes, options, stored tables.

`python -m tests.docs.collector_tables` writes them into the page; tests/docs/test_collector_reference.py compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from murmure.cli.serve import DEFAULT_FOLDER, serve
from murmure.collector.http.openapi import PATHS
from murmure.collector.intake import tables as intake_tables
from murmure.collector.service import database

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ref-collector-api.md"
MARK = "<!-- {name}: written by `python -m tests.docs.collector_tables` -->\n"
FOR = {"/metrics": "with its token", "/api/first-analyst": "with the set-up link"}
END = "<!-- end of {name} -->\n"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# -- routes ------------------------------------------------------------------------------------------------------------


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in PATHS.items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def routes() -> str:
    rows = []
    for method, path, operation in operations():
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        takes = f"`{body['$ref'].rpartition('/')[2]}`" if body else ""
        queries = [f"`?{one['name']}=`" for one in operation.get("parameters", ()) if one["in"] == "query"]
        good = [status for status in operation["responses"] if status != "default"]
        signed_in = "its analyst" if "{id}" in path else "analysts"
        who = FOR.get(path) or (signed_in if "security" in operation else "anybody")
        rows.append(
            (
                f"`{method} {path}`",
                operation["summary"],
                ", ".join([takes, *queries] if takes else queries) or "-",
                who,
                ", ".join(good),
            )
        )
    return table(("route", "what it does", "takes", "for", "answers"), rows)


# -- options -----------------------------------------------------------------------------------------------------------


def settings() -> list[click.Option]:
    """The options of `murmure serve` that are also environment variables."""
    return [one for one in serve.params if isinstance(one, click.Option) and one.envvar]


def options() -> str:
    rows = []
    for option in settings():
        about = re.sub(r"\s*\[default:.*\]", "", option.help or "")
        known = DEFAULT_FOLDER if option.name == "folder" else option.default
        default = "off" if option.is_flag else f"`{known}`" if isinstance(known, str | int | Path) else "-"
        rows.append((f"`{option.opts[0]}`", f"`{option.envvar}`", default, about))
    return table(("option", "environment variable", "default", "what it is"), rows)


# -- stored tables -----------------------------------------------------------------------------------------------------


def stored() -> str:
    files: dict[str, dict[str, Any]] = {"collector.db": database.TABLES, "reports.db": intake_tables.TABLES}
    rows = [
        (f"`{file}`", f"`{name}`", f"`{column}`", f"`{kind.split()[0]}`", about)
        for file, tables in files.items()
        for name, columns in tables.items()
        for column, (kind, about) in columns.items()
    ]
    return table(("file", "table", "column", "type", "what it holds"), rows)


SECTIONS: dict[str, Callable[[], str]] = {"routes": routes, "options": options, "tables": stored}


def section(name: str) -> str:
    return f"{MARK.format(name=name)}\n{SECTIONS[name]()}\n{END.format(name=name)}"


def page_with_tables(text: str) -> str:
    for name in SECTIONS:
        end = END.format(name=name)
        text = text[: text.index(MARK.format(name=name))] + section(name) + text[text.index(end) + len(end) :]
    return text


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
