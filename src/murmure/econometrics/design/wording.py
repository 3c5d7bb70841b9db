"""Words about designs, in English and French, for those who approve a study."""

from __future__ import annotations

from typing import Any


def columns_in_words(design: Any) -> tuple[str, str]:
    """The columns of a design matrix, in both languages."""
    named = [name for name, term in zip(design.names, design.terms, strict=True) if term != "1"]
    some, one = ", ".join(named), len(named) < len(design.names)
    if not named:
        return "a constant alone", "une constante seule"
    return (f"a constant, {some}", f"une constante, {some}") if one else (some, some)
