"""The house stays in order: a tree that shows the design, names that are used once, and no words of the old dialect."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import murmure

PACKAGE = Path(murmure.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

# Persisted or shown under the same name on purpose: none today.
USED_TWICE: set[str] = set()

# Words that say nothing about a thing; the project once used them for everything.
DIALECT = re.compile(r"(^|_)(held|said|own|stand|stands|standing|seen|heard|happened|unsaid)(_|$)")
SUPERLATIVE = re.compile(r"^_?(MOST|LEAST|WIDEST|LONGEST|LARGEST|SMALLEST|FEWEST|FINEST|SHORTEST|NARROWEST)(_|$)")
KEPT = {  # keys of JSON, and attributes that pages document
    "parties/study/round_figures.py": {"said"},
    "local/rappor.py": {"seen"},
    "collector/client.py": {"seen"},  # what it passes on to RAPPOR's client
    "attacks/audits/audit_result.py": {"held_out", "would_have_seen"},  # as statisticians and issue trackers say it
    "attacks/audits/audit.py": {"held_out"},
}


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Everything that a module names: functions, classes, parameters, variables, attributes that it sets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def dialect(tree: ast.Module) -> list[str]:
    found = [(name, line) for name, line in names(tree) if DIALECT.search(name.lower()) or SUPERLATIVE.match(name)]
    return [f"{name}:{line}" for name, line in found]


def test_the_top_of_the_tree_is_short() -> None:
    """At most twenty packages; beside them the entry points, the catalogue and the helper for tests."""
    packages = [path for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    modules = {path.name for path in PACKAGE.glob("*.py")}

    assert len(packages) <= 20
    assert modules == {"__init__.py", "__main__.py", "catalogue.py", "testing.py"}


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_folder_can_be_read_at_once(folder: Path) -> None:
    """At most forty files, and a sentence in its __init__ that says what they are."""
    init = folder / "__init__.py"

    assert len(list(folder.glob("*.py"))) <= 40
    assert init.exists() and ast.get_docstring(TREES[init]), f"{folder.relative_to(PACKAGE)} does not say what it is"


def test_a_class_name_is_defined_once() -> None:
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(PACKAGE)))

    assert {name: files for name, files in homes.items() if len(files) > 1 and name not in USED_TWICE} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_names_say_what_a_thing_is(path: Path) -> None:
    """No `held`, `said`, `own`, `seen`, and MAX_ROWS instead of MOST_ROWS."""
    kept = KEPT.get(path.relative_to(PACKAGE).as_posix(), set())

    assert [name for name in dialect(TREES[path]) if name.partition(":")[0] not in kept] == []


def test_the_check_of_names_finds_what_it_looks_for() -> None:
    """A mutant: each kind of name is found, and ordinary words that contain one are not."""
    mutant = "def said_of(x, held): own = x; MOST_ROWS = 3\nclass Standing: pass\nself.seen_in = 1\nx.shown = aside = 1"

    found = {name.split(":")[0] for name in dialect(ast.parse(mutant))}

    assert found == {"said_of", "Standing", "held", "own", "MOST_ROWS", "seen_in"}


def test_files_are_nouns() -> None:
    """No prepositions and no words of the dialect as names of files."""
    banned = {
        "said",
        "own",
        "same",
        "before",
        "between",
        "leaving",
        "happened",
        "how",
        "standing",
        "seen",
        "shown",
        "held",
    }

    assert [path.stem for path in FILES if path.stem in banned] == []


def test_nothing_is_an_alias_module() -> None:
    """A module that only imports, but for packages' __init__, is an old path that somebody left behind."""
    aliases = []
    for path, tree in TREES.items():
        body = [node for node in tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
        imports = all(isinstance(node, ast.Import | ast.ImportFrom) for node in body)
        if body and imports and path.name not in ("__init__.py", "__main__.py"):
            aliases.append(str(path.relative_to(PACKAGE)))

    assert aliases == []


NAMES_WITH_ACCENTS = {"Cramér", "Rényi", "Français"}  # of people, and of a language in itself
ACCENTS = re.compile("[àâçéèêëîïôùûüœÀÂÇÉÈÊËÎÏÔÙÛÜŒ«»]")


def french_strings(tree: ast.Module) -> list[str]:
    """Strings with French letters, docstrings apart; names of people and of the language itself are no French."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    return [text for text in texts if ACCENTS.search(re.sub("|".join(NAMES_WITH_ACCENTS), "", text))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_french_is_in_the_catalogue(path: Path) -> None:
    """French sentences are in show/locale, where people who translate find them, and not in Python code."""
    quotes = {"show/language.py", "show/phrase.py"}  # they know the marks of each language

    assert path.relative_to(PACKAGE).as_posix() in quotes or french_strings(TREES[path]) == []


def test_the_check_for_french_finds_some() -> None:
    tree = ast.parse('"""Un résumé."""\nx = "déjà"\ny = "Cramér"')

    assert french_strings(tree) == ["déjà"]
