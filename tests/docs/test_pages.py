"""Pages are claims too: their code runs, their output is what is printed, their links lead somewhere.

The ```python blocks of a page run in order in one namespace, and its ```sh blocks between them in the same folder. A
```text block right after one is what it prints. (A ```bash block stands alone: its commands need no files.)
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import murmure as mu

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))  # those in French too, in docs/fr
READMES = [ROOT / "README.md", ROOT / "README.fr.md"]
BESIDE_README = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CITATION.cff")]
LOCALE_NAMES = {"LANGUAGE", "LANG", "LC_ALL", "LC_MESSAGES"}
LANGUAGES = {"python", "text", "bash", "sh", "js", "json"}  # js: tests/browser_client/test_client.py


class Block(NamedTuple):
    language: str
    line: int  # of the fence, counted from 1
    body: str
    after: str  # the prose between the last block and this one


def blocks(page: Path) -> list[Block]:
    out: list[Block] = []
    prose: list[str] = []
    inside: tuple[str, int, list[str]] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if inside is None and line.startswith("```"):
            inside = (line[3:].strip(), number, [])
        elif inside is None:
            prose.append(line)
        elif line == "```":
            language, start, body = inside
            out.append(Block(language, start, "".join(f"{b}\n" for b in body), "\n".join(prose).strip()))
            inside, prose = None, []
        else:
            inside[2].append(line)
    assert inside is None, f"{page.name}: the block of line {inside and inside[1]} is never closed"
    return out


def prose(page: Path, spans: bool = True) -> str:
    """The page without its blocks; without `code` in its lines either, if spans is False."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return text if spans else re.sub(r"`[^`\n]*`", "", text)


def name(page: Path) -> str:
    return page.relative_to(ROOT if page in READMES else DOCS).as_posix()


def locale_of(page: Path) -> str:
    """That of a reader of the page."""
    return "fr_FR.UTF-8" if page.parent == DOCS / "fr" else "C.UTF-8"


def typed(lines: str, folder: Path, lang: str, commands: Path) -> str:
    """What a shell shows for them in that locale, 100 letters wide: with these commands, then this environment's."""
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {name: value for name, value in os.environ.items() if name not in LOCALE_NAMES}
    env |= {"PATH": path, "COLUMNS": "100", "LANG": lang}
    ran = subprocess.run(
        ["sh", "-c", lines],
        cwd=folder,
        env=env,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return "".join(f"{row.rstrip()}\n" for row in ran.stdout.replace(f"{folder}/", "").rstrip().splitlines())


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    """A page may set another language, which would stay for the tests after it."""
    yield
    mu.set_language(None)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_runs_and_prints_what_it_says(page, request, tmp_path, monkeypatch):
    """Every python and sh block runs; a text block that follows it is its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # dataclasses look their module up
    for block, following in itertools.pairwise([*blocks(page), None]):
        if block.language not in ("python", "sh"):
            continue
        said = io.StringIO()
        if block.language == "sh":
            commands = request.getfixturevalue("forked_commands")  # most pages need none
            said.write(typed(block.body, tmp_path, locale_of(page), commands))
        else:
            code = compile("\n" * block.line + block.body, str(page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(said):
                exec(code, module.__dict__)
        shown = following is not None and following.language == "text" and not following.after
        expected = following.body if shown else ""

        assert expected == said.getvalue(), f"{name(page)}, line {block.line}: it prints something else"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_fences_are_of_a_known_kind(page):
    """No block escapes the tests by a mark of its own."""
    assert {block.language for block in blocks(page)} <= LANGUAGES


def test_shell_lines_are_real(tmp_path, monkeypatch):
    """Every `murmure ...` line of the pages runs, every `script/...` exists."""
    from click.testing import CliRunner

    from murmure.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for page in PAGES:
        for block in blocks(page):
            for line in block.body.splitlines() if block.language == "bash" else []:
                command, *arguments = shlex.split(line)
                if command == "murmure":
                    ran = CliRunner().invoke(main, arguments)

                    assert ran.exit_code == 0, f"{name(page)}: {line}: {ran.output}"
                else:
                    assert (ROOT / command).is_file(), f"{name(page)}: {line}"


@pytest.mark.parametrize("page", READMES, ids=name)
def test_a_readme_runs(page, tmp_path, monkeypatch, capsys):
    """Its python runs and prints something. Of its other lines, scripts exist, and so do commands and their options."""
    from click.testing import CliRunner

    from murmure.cli import main

    monkeypatch.chdir(tmp_path)
    kinds = {block.language for block in blocks(page)}

    assert kinds == {"python", ""}
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.body, str(page), "exec", dont_inherit=True), {"__name__": "page"})

            assert capsys.readouterr().out
            continue
        for line in block.body.splitlines():
            command, *arguments = shlex.split(line, comments=True)
            if command == "murmure":
                groups = {"schema", "ledger", "study", "party"}
                words = arguments[: 2 if arguments[0] in groups else 1]
                ran = CliRunner().invoke(main, [*words, "--help"])

                assert ran.exit_code == 0, f"{name(page)}: {line}: {ran.output}"
                options = {a for a in arguments if a.startswith("--")}
                assert {o for o in options if not re.search(rf"{o}\b", ran.output)} == set(), f"{name(page)}: {line}"
            elif command != "source":
                assert (ROOT / command).is_file(), f"{name(page)}: {line}"


def slug(heading: str) -> str:
    """As the site makes anchors of headings."""
    plain = re.sub(r"[`*\\]", "", heading).strip().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-")


def anchors(page: Path) -> set[str]:
    return {slug(h) for h in re.findall(r"^#+ (.+)$", prose(page), re.M)}


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name)
def test_links_lead_somewhere(page):
    """Internal links name a file of docs/ (of a README: or a file beside it) and, after #, one of its headings."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path.partition("?")[0]).resolve() if path else page

        within = file.is_relative_to(DOCS) or (page in READMES and file in [*READMES, *BESIDE_README])

        assert file.is_file() and within, f"{name(page)}: {target}"
        if file.suffix == ".md":  # the lab understands its own addresses: tests/lectures/test_lab.py
            assert not anchor or anchor in anchors(file), f"{name(page)}: {target}"


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name)
def test_no_page_names_a_machine(page):
    """No absolute path of somebody's machine."""
    text = page.read_text(encoding="utf-8")

    assert not re.search(r"(?<![\w~.:/])/(work|home|root|usr|tmp|opt|var|etc|mnt|Users|private)/|[A-Z]:\\\\?\w", text)


def test_words_of_how_it_works_are_in_the_glossary():
    """What how-it-works sets in bold, the glossary explains."""
    bold = {w.lower() for w in re.findall(r"\*\*([^*]+)\*\*", prose(DOCS / "how-it-works.md", spans=False))}
    known = set(re.findall(r"^\*\*(.+?)\*\*\n:   ", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.M))

    assert bold and bold <= {w.lower() for w in known}


@pytest.mark.parametrize("page", [p for p in PAGES if p.name == "glossary.md"], ids=name)
def test_a_glossary_is_sorted_and_says_each_word_once(page):
    """By letters, whatever their accents; a French word has the English one behind it."""
    text = page.read_text(encoding="utf-8")
    words = re.findall(r"^\*\*(.+?)\*\*(?: \(\*.+?\*\))?\n:   ", text, re.M)
    letters = [unicodedata.normalize("NFD", w.lower()).encode("ascii", "ignore") for w in words]

    assert letters and letters == sorted(set(letters))


def test_every_page_is_in_the_navigation_once():
    """zensical.toml lists every page of docs/, and no other."""

    def leaves(nav):
        for entry in nav:
            for value in entry.values():
                if isinstance(value, str):
                    yield value
                else:
                    yield from leaves(value)

    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]

    assert sorted(leaf for leaf in leaves(nav) if ".html" not in leaf) == sorted(name(p) for p in PAGES)
    assert all((DOCS / leaf.partition("?")[0]).is_file() for leaf in leaves(nav))


def test_decisions_have_three_parts():
    """Context, choice, consequence; numbered without gaps; in the index."""
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")

    assert [int(p.name[:4]) for p in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text(encoding="utf-8")

        assert re.search(r"\*\*Context\.\*\*.*\*\*Choice\.\*\*.*\*\*Consequence\.\*\*", text, re.S), page.name
        assert f"({page.name})" in index


def test_french_pages_have_english_ones_of_the_same_name_and_both_homes_link():
    """docs/fr/x.md is docs/x.md in French; the home pages and the READMEs name one another."""
    french = {p.name for p in PAGES if p.parent == DOCS / "fr"}

    assert "index.md" in french and french <= {p.name for p in DOCS.glob("*.md")}
    for page, other in [
        (DOCS / "index.md", "fr/index.md"),
        (DOCS / "fr" / "index.md", "../index.md"),
        (READMES[0], "README.fr.md"),
        (READMES[1], "README.md"),
    ]:
        assert f"]({other})" in prose(page), name(page)


def test_page_names_say_their_kind():
    """tutorial-, how-to-, explanation-, lecture-, ref-; and four pages that everybody looks for by name."""
    free = {"index.md", "how-it-works.md", "glossary.md", "known-flaws.md"}

    kinds = re.compile("(tutorial|how-to|explanation|lecture|ref)-")

    assert all(p.name in free or kinds.match(p.name) for p in DOCS.glob("*.md"))
