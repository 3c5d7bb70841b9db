"""The examples that the package lists today, found by walking it, each as its persisted JSON."""

from __future__ import annotations

import importlib
import json
import pkgutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

from tests.frozen import reach
from tests.frozen.compare import sha256

import murmure
import murmure as mu
from murmure import catalogue

VECTORS = Path(__file__).parent.parent / "vectors"
PRIVACIES: tuple[dict[str, Any], ...] = (
    {"type": "Clear"},
    {"type": "Local", "epsilon": 8.0},
    {"type": "Local", "epsilon": 8.0, "debias": False},
    {"type": "Secure", "dropouts": 0, "rows_are_public": True},
)  # besides those that the examples of learners have
BY_PART = {
    "mechanisms": {**catalogue.MECHANISMS, **catalogue.RECORDS},
    "statistics": catalogue.QUESTIONS,
    "sharings": catalogue.SHARINGS,
}


def key_of(kept: Mapping[str, Any]) -> str:
    """The name of an entry: a word for the reader, and a hash of the persisted JSON."""
    part = kept.get("part") or kept.get("model") or kept.get("learner") or {}
    return f"{part.get('type', kept.get('about', 'plan'))} {sha256(kept)[:12]}"


def walk() -> Iterator[Any]:
    """Every member of every tuple EXAMPLES in the package, once."""
    seen = set()
    for info in pkgutil.walk_packages(murmure.__path__, "murmure."):
        if info.name.endswith("__main__") or info.name.startswith(("murmure.attacks.", "murmure.advise.")):
            continue  # examples of attacks are runs, those of devices proposals: nothing of them is kept
        examples = getattr(importlib.import_module(info.name), "EXAMPLES", None)
        if isinstance(examples, tuple) and id(examples) not in seen:  # others are texts for help pages
            seen.add(id(examples))
            yield from examples


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def placed(example: Any) -> list[tuple[str, dict[str, Any]]]:
    """Of which kind an example is, and what a data file keeps of it. One of no kind is refused, not passed over."""
    if isinstance(example, mu.Memory | mu.Spark):
        return []  # figures of the others are frozen on these
    if isinstance(example, tuple):
        part, (noise, about) = as_json(reach.part_to_dict(example[0])), example
        assert part["type"] in catalogue.NOISES, f"{noise!r} is not of a known kind"
        if all(isinstance(one, int) for one in about):
            return [("noises", {"part": part, "scores": list(about)})]
        return [("noises", {"part": part, "blocks": [asdict(block) for block in about]})]
    if hasattr(example, "get_params"):
        return [("learners", one) for one in learners_of(example)]
    if hasattr(example, "model") and hasattr(example, "rows"):
        kept = {"model": as_json(reach.model_to_dict(example.model)), "rows": as_json(dict(example.rows))}
        return [("models", kept)]
    part = as_json(reach.part_to_dict(example))
    kinds = [kind for kind, known in BY_PART.items() if part["type"] in known]
    assert len(kinds) == 1, f"{example!r} is not of a known kind"
    return [(kinds[0], {"part": part})]


def learners_of(example: Any) -> list[dict[str, Any]]:
    """A learner's parameters and its privacy, each by its public name."""
    params = {
        k: v for k, v in example.get_params(deep=False).items() if k not in ("engine", "ledger", "rng", "privacy")
    }
    params["schema"] = params["schema"].to_dict()
    held = as_json({"type": type(example).__name__, **params})
    own = example.privacy
    said = {f.name: getattr(own, f.name) for f in fields(own) if f.init}
    return [{"learner": held, "privacy": {"type": type(own).__name__, **as_json(said)}}]


def studies() -> list[dict[str, Any]]:
    """Every model of a study.toml that the package shows, one study each, and one of all; signed by fixed keys."""
    one_each = [
        (name, f'[[models]]\nmodel = "{name}"\n{text}\n')
        for name, texts in reach.STUDY_MODELS.items()
        for text in texts
    ]
    everything = "\n".join(text for name, text in one_each if name != "fixed_effects")
    return [written_study(name, text) for name, text in [*one_each, ("every-model", everything)]]


def written_study(about: str, asks: str) -> dict[str, Any]:
    """What the file of a study says, as the JSON that parties sign."""
    parties = 5
    terms = 'name = "Frozen"\npurpose = "To stay as it is."\nrows = 1000\nleast_rows = 24\nratio = 1000\n'
    text = f"minimum_parties = {parties}\n{terms}{reach.STUDY_COLUMNS}\n{asks}"
    keys = [reach.Identity.from_bytes(bytes([i]) * 32) for i in range(parties + 1)]
    cards = tuple(key.card(f"Hospital {i}") for i, key in enumerate(keys[1:], 1))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.toml").write_text(text, "utf-8")
        study = mu.Study.from_toml(Path(folder) / "study.toml", cards, keys[0].card("Office"))
    said = study.to_json()
    return {"about": about, "text": said.decode() if isinstance(said, bytes) else said}


@cache
def listed() -> dict[str, dict[str, dict[str, Any]]]:
    """Kind by kind, what the package and tests/vectors list: the key of each entry, and what is kept of it."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    texts = json.loads((VECTORS / "plans.json").read_text("utf-8"))
    found = [("plans", {"text": one["text"]}) for one in texts]
    found += [("studies", one) for one in studies()]
    found += [one for example in walk() for one in placed(example)]
    first = {kept["learner"]["type"]: kept["learner"] for kind, kept in reversed(found) if kind == "learners"}
    found += [("learners", {"learner": one, "privacy": privacy}) for one in first.values() for privacy in PRIVACIES]
    for kind, kept in found:
        out.setdefault(kind, {})[key_of(kept)] = kept
    return out
