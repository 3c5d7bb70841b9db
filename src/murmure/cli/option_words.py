"""Errors of the library name its parameters; here they name the options that people typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Whole sentences of the library that are clearer in the words of the command line. They are matched by their text, so a
# sentence that changes there must change here.
SENTENCES = (
    (r"\bCategories\.k\b", "--categories"),
    (r"\bCategories labels\b", "--labels"),
    (r"\bCategories needs at least two labels\b", "--labels needs at least two answers"),
    (
        r"\b(\w+)\.domain must be Integers, Interval or Decimals, got .*",
        r"\1 is for numbers: give --integers or --interval.",
    ),
    (r"\b(\w+)\.domain must hold two answers\b", r"\1 takes two answers"),
    (r"\b(\w+)\.domain must have at most\b", r"\1 takes at most"),
    (r"\(Interval\(\.\.\., cells=(\d+)\)\)", r"(--cells \1)"),
    (r"\bor one number: the share\b", "or --share alone: the share"),
    (r"\ba mean needs the shares of all values,", "a mean needs the shares of all values (--shares),"),
    (r"\bcertify (relation|reports)\b", r"certify.\1"),
)
BOUNDS = (
    (r"\b(Integers|Interval)\.(low|high)\b", lambda m: f"{option(m[1].lower())} {m[2].upper()}"),
    (r"\b(Integers|Interval) needs low < high\b", lambda m: f"{option(m[1].lower())} LOW:HIGH needs LOW < HIGH"),
    (r"\b(Integers|Interval) (holds|is)\b", lambda m: f"{option(m[1].lower())} {m[2]}"),
)


def option(name: str) -> str:
    """epsilon_once -> --epsilon-once"""
    return "--" + name.replace("_", "-")


def in_options(text: str, given: Mapping[str, Any]) -> str:
    """`GRR.epsilon must be ...` becomes `--epsilon must be ...`; `given` is what the command takes, and its values."""
    if given.get("plan") is not None:  # the parameters of a plan are in its file, not on the command line
        given = {name: value for name, value in given.items() if name in ("relation", "reports")}
    else:
        for pattern, replacement in BOUNDS:
            text = re.sub(pattern, replacement, text)
    for pattern, words in SENTENCES:
        text = re.sub(pattern, words, text)
    names = {name: option(name) for name in given}
    if given.get("share") is not None:
        names["shares"] = "--share"
    if not names:
        return text
    # Longest first: "epsilon_once" must not match as "epsilon".
    alternatives = "|".join(sorted(names, key=len, reverse=True))
    text = re.sub(
        rf'(?<![\w-])(?:[A-Za-z_]\w*\.)?({alternatives})\s?=\s?"?([\w.+-]*\w)"?(?: or "(\w+)")?',
        lambda m: f"{names[m[1]]} {m[2].removesuffix('.0')}" + (f" or {m[3]}" if m[3] else ""),
        text,
    )
    text = re.sub(rf"(?<![\w-])[A-Za-z_]\w*\.({alternatives})\b", lambda m: names[m[1]], text)
    if given.get("labels") is not None:
        text = re.sub(r"^(--labels .*, got) \(.*", lambda m: f"{m[1]} {given['labels']}.", text)
    return re.sub(r"^--([a-z-]+): ", lambda m: _with_value(m, given), text)


def _with_value(match: re.Match[str], given: Mapping[str, Any]) -> str:
    """`--rank-by: ` becomes `--rank-by var-star: `."""
    value = given.get(match[1].replace("-", "_"))
    return f"--{match[1]} {value}: " if isinstance(value, str | int | float) else match[0]
