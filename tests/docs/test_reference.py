"""Reference pages are written from the code, and none is missing, stale or nobody's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from murmure.catalogue import PUBLIC
from murmure.learn import LEARNERS

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"index", "cli", "econometrics"}
BY_HAND = {"collector-api"}  # tests/docs/test_collector_reference.py
SILENT = re.compile(r"^\| (?:`|<code>).*\|\s*\|$")  # a row whose last cell is empty


def test_every_public_name_has_a_page_and_every_page_a_name():
    pages = {p.stem.removeprefix("ref-").removesuffix("-function") for p in (ROOT / "docs").glob("ref-*.md")}

    assert set(PUBLIC) | set(LEARNERS) | GENERATED | BY_HAND == pages


def test_nothing_on_a_page_is_left_unexplained():
    """Every field, member and learned attribute has its words: no row of a table ends in an empty cell."""
    silent = {
        page.name: [line for line in page.read_text(encoding="utf-8").splitlines() if SILENT.match(line)]
        for page in (ROOT / "docs").glob("ref-*.md")
    }

    assert not {name: lines for name, lines in silent.items() if lines}


def test_code_in_a_table_shows_no_backslash():
    """Markdown keeps the backslash of `a \\| b` in code: such code is written as HTML."""
    shown = {
        page.name: [
            line for line in page.read_text(encoding="utf-8").splitlines() if re.search(r"`[^`]*\\\|[^`]*`", line)
        ]
        for page in (ROOT / "docs").glob("ref-*.md")
    }

    assert not {name: lines for name, lines in shown.items() if lines}


def test_every_command_has_a_section():
    import click

    from murmure.cli import main

    text = (ROOT / "docs" / "ref-cli.md").read_text(encoding="utf-8")
    commands = main.list_commands(click.Context(main))

    assert commands
    assert all(f"\n### murmure {command}\n" in text for command in commands)


def test_reference_pages_are_what_the_code_says():
    """script/reference --check; run script/reference when it fails."""
    ran = subprocess.run(
        [sys.executable, ROOT / "script" / "reference", "--check"], capture_output=True, text=True, timeout=120
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
