"""Files about the project agree with it: versions, extras, and what the install page names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import murmure

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = (ROOT / "docs" / "how-to-install.md").read_text(encoding="utf-8")
FOR_DEVELOPERS = {"test", "docs"}


def citation_fields() -> dict[str, str]:
    """The top level of CITATION.cff, a field to a line."""
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    return {
        name: value.strip().strip('"') for name, _, value in (line.partition(":") for line in lines if line[:1].strip())
    }


def test_the_version_is_the_same_everywhere() -> None:
    """In the package, its metadata and the citation."""
    assert murmure.__version__ == PROJECT["version"] == citation_fields()["version"]


def test_the_citation_says_what_the_project_says() -> None:
    fields = citation_fields()

    assert fields["cff-version"] == "1.2.0"
    assert fields["license"] == PROJECT["license"]
    assert {"message", "title", "authors"} <= fields.keys()  # what the format requires
    assert PROJECT["authors"][0]["name"] in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_a_dated_release_has_a_dated_citation() -> None:
    """The first section of the changelog is this version: unreleased, or dated, and the citation with it."""
    head = re.search(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)

    assert head is not None and head[1] == murmure.__version__
    assert citation_fields().get("date-released", "unreleased") == head[2]


def test_the_install_page_lists_every_extra() -> None:
    """And no other; those of developers in a sentence."""
    table = re.search(r"^\| extra \| what for \|\n\| --- \| --- \|\n((?:\|.*\n)+)", INSTALL, re.M)

    assert table is not None
    assert (
        set(re.findall(r"^\| `(\w+)` \|", table[1], re.M)) == PROJECT["optional-dependencies"].keys() - FOR_DEVELOPERS
    )
    assert all(f"`{extra}`" in INSTALL for extra in FOR_DEVELOPERS)


def test_the_install_page_names_this_wheel() -> None:
    names = set(re.findall(r"murmure-[\w.]+-py3-none-any\.whl", INSTALL))

    assert names == {f"murmure-{murmure.__version__}-py3-none-any.whl"}


def test_the_hint_of_the_install_page_is_real() -> None:
    """What the page shows for a wheel is what the error says there, in an environment of its own."""
    code = (
        "import sys\n"
        "from importlib import metadata\n"
        "from murmure.core import installation\n"
        "from murmure.core.errors import MissingExtra, Phrase\n"
        "installation._setup_script, installation._python = (lambda: None), (lambda: 'python')\n"
        "installation.find_spec = lambda name: name\n"
        "print(f\"Error: {MissingExtra(Phrase('reading tables'), 'pyarrow', 'tables')}\")\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert f"```text\n{shown}```" in INSTALL


@pytest.mark.parametrize("name", ["SECURITY.md", "CITATION.cff", "CONTRIBUTING.md"])
def test_both_readmes_link_it(name: str) -> None:
    for readme in ("README.md", "README.fr.md"):
        assert f"]({name})" in (ROOT / readme).read_text(encoding="utf-8")


def test_nobody_is_told_to_install_from_an_index() -> None:
    """`pip install "murmure[...]"` works only with --no-index and a folder of wheels: murmure is on no index."""
    wrong = [
        f"{path.name}: {line}"
        for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "README.fr.md"))]
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"install ['\"]?murmure\b", line) and "--no-index" not in line and " @ " not in line
    ]

    assert wrong == []
