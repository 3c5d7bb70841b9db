"""Noise is added, and choices are drawn, in one place: murmure/central/base/gate.py."""

from __future__ import annotations

import ast
from pathlib import Path

import murmure

SOURCE = Path(murmure.__file__).parent
DRAWING = {"draw_noise", "draw_choice"}
# The gate draws for releases; the checks draw to hold samples against their law, and see nobody's data; nor do the
# items of a lecture that repeat noise on the lecture's own numbers, thousands of times.
LESSONS = {f"lectures/items/lecture_003/{name}.py" for name in ("dp_against_ldp", "mallory", "repeated_answers")}
MAY_DRAW = {"central/base/gate.py", "certify/checks/noise.py", *LESSONS}
# Whoever can reach the samplers: the laws themselves, the noises that are bound to them, and the checks.
MAY_IMPORT = ("laws/", "central/", "certify/checks/noise.py")
COINS = "murmure.laws.noise.coins"  # what samplers are made of: for laws only


def mentions(tree: ast.AST) -> set[str]:
    """Every way to name a drawing method that is not its definition: attribute, name, or a string for getattr."""
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            out.add(node.attr)
        elif isinstance(node, ast.Name):
            out.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            out |= {name for name in DRAWING if node.value.strip() == name}
    return out & DRAWING


def imports(tree: ast.AST) -> set[str]:
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            out |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in out if name.startswith("murmure.laws.noise")}


def offences(source: str, path: str) -> list[str]:
    tree = ast.parse(source)
    out = [f"{path} uses {name}" for name in sorted(mentions(tree)) if path not in MAY_DRAW]
    for name in sorted(imports(tree)):
        if not path.startswith("laws/" if name.startswith(COINS) else MAY_IMPORT):
            out.append(f"{path} imports {name}")
    return out


def test_nothing_but_the_gate_draws_noise() -> None:
    """No module uses a drawing method, nor imports a sampler of noise, but those few."""
    found = [
        offence
        for file in sorted(SOURCE.rglob("*.py"))
        for offence in offences(file.read_text(encoding="utf-8"), file.relative_to(SOURCE).as_posix())
    ]

    assert found == []


def test_the_walk_sees_what_it_should() -> None:
    """A learner that draws by itself, however it is written, is found."""
    path = "learn/kmeans.py"
    assert offences("noise = law.draw_noise(3, rng)", path)
    assert offences("f = law.draw_noise\nf(3, rng)", path)
    assert offences("getattr(law, 'draw_choice')(scores, rng)", path)
    assert offences("from murmure.laws.noise.coins import flips", path)
    assert offences("from murmure.laws.noise import digits", path)
    assert offences("import murmure.laws.noise.laplace as nl", path)
    assert offences("from murmure.laws.noise.coins import flips", "central/staircase.py")
    assert not offences("gate.add(digest, total, bound)\nchannel.draw(x, words)", path)
    assert not offences("chosen = bound.law.draw_choice(scores, rng)", "central/base/gate.py")


def test_the_laws_define_what_the_gate_calls() -> None:
    """The names of this test are those of the code: a renamed method would make it blind."""
    gate = ast.parse((SOURCE / "central" / "base" / "gate.py").read_text(encoding="utf-8"))

    assert mentions(gate) == DRAWING
