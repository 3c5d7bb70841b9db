"""The lab computes what Python computes: vectors from the public functions, checked by node against docs/lab/*.js."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests import node
from tests.vectors.make_lab import FILE, lab_vectors

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "docs" / "lab"


def same(actual: Any, wanted: Any, tolerance: float = 1e-8) -> bool:
    """Everything that is wanted is there, numbers to a relative tolerance."""
    if isinstance(wanted, dict):
        return all(key in actual and same(actual[key], value, tolerance) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(actual) == len(wanted) and all(same(a, w, tolerance) for a, w in zip(actual, wanted, strict=True))
    if isinstance(wanted, int | float):
        return math.isclose(actual, wanted, rel_tol=tolerance, abs_tol=1e-15)
    return bool(actual == wanted)


def nudged(wanted: Any) -> Any:
    """The same with its first number other than 0 changed in the sixth digit."""
    done = False

    def change(part: Any) -> Any:
        nonlocal done
        if isinstance(part, dict):
            return {key: change(value) for key, value in part.items()}
        if isinstance(part, list):
            return [change(value) for value in part]
        if isinstance(part, int | float) and part and not done:
            done = True
            return part + 10 ** (math.floor(math.log10(abs(part))) - 5)
        return part

    out = change(wanted)
    if done:
        return out
    return {key: f"{value}?" for key, value in wanted.items()} if isinstance(wanted, dict) else wanted + 1


def run_node(folder: Path, vectors: Path) -> str:
    """What `node --test` says. The files are copied to where a package.json calls them modules, for older versions."""
    for path in LAB.glob("*.js"):
        shutil.copy(path, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    tests = shutil.copy(Path(__file__).with_name("lab.test.mjs"), folder)
    command = [node.find_or_skip(), "--test", "--test-reporter=tap", tests]
    env = {"LAB": str(folder), "VECTORS": str(vectors)}
    return subprocess.run(command, env=env, capture_output=True, encoding="utf-8", cwd=folder).stdout


def test_the_vectors_are_what_python_says() -> None:
    """After a change that is meant: `python tests/vectors/make_lab.py`."""
    written = json.loads(FILE.read_text(encoding="utf-8"))
    computed = lab_vectors()

    assert [one["name"] for one in written] == [one["name"] for one in computed]
    assert [one["name"] for one, new in zip(written, computed, strict=True) if not same(one, new, 1e-10)] == []


def test_the_lab_equals_python(tmp_path: Path) -> None:
    told = run_node(tmp_path, FILE)

    assert re.findall(r"^not ok .*|^ *error: .*", told, re.M) == []
    assert len(re.findall(r"^ok ", told, re.M)) > len(lab_names())


def test_a_vector_changed_in_the_sixth_digit_is_found(tmp_path: Path) -> None:
    """Each vector, with one number that is off by one in its sixth digit, fails; the other tests do not."""
    vectors = [one | {"returns": nudged(one["returns"])} for one in json.loads(FILE.read_text(encoding="utf-8"))]
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(vectors), encoding="utf-8")

    told = run_node(tmp_path, changed)

    assert re.findall(r"^ok \d+ - vector (.*)", told, re.M) == []
    assert (
        len(re.findall(r"^not ok \d+ - vector", told, re.M)) == len(re.findall(r"^not ok", told, re.M)) == len(vectors)
    )


def lab_names() -> list[str]:
    return [one["name"] for one in json.loads(FILE.read_text(encoding="utf-8"))]


def test_the_page_fetches_from_nowhere() -> None:
    """A strict policy, no inline script or style, and no address of another host in any of its files."""
    page = (LAB / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    texts = {path.name: path.read_text(encoding="utf-8") for path in LAB.iterdir()}

    assert policy and policy[1].startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'none'")
    assert "unsafe" not in policy[1]
    assert re.findall(r"<style|style=|<script(?![^>]* src=)|\son\w+=", page) == []
    addresses = {(name, found) for name, text in texts.items() for found in re.findall(r"https?://[^\s\"'<)]*", text)}
    spaces = {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }  # names of elements, fetched by nobody
    assert {found for _, found in addresses} - spaces == {"http://localhost:8000"}  # of the sentence for files on disk
    assert [(name, found) for name, text in texts.items() for found in re.findall(r'from "(?!\./)[^"]*"', text)] == []


def test_no_function_of_the_mathematics_knows_the_page() -> None:
    for name in ("laws.js", "variances.js", "numbers.js", "address.js", "words.js"):
        code = re.sub(r"//.*|/\*.*?\*/", "", (LAB / name).read_text(encoding="utf-8"))

        assert not re.search(r"\b(document|window|location|history)\b", code), name
