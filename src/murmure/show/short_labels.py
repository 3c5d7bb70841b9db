"""Long labels in narrow tables: cut in the middle, so that they stay distinct and keep their ends.

income_of_the_household_in_euros[T.less than 1000]      income_of_t..., twice, would name two coefficients alike
income_of_t...uros[T.less than 1000]                    the end says which label it is
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

GAP = "..."
STEP = 8  # letters that labels may grow by, where shorter ones would be equal


def cut(text: str, width: int) -> str:
    """At most `width` letters: a third of them from the beginning, the others from the end."""
    room = width - len(GAP)
    if len(text) <= width or room < 2:
        return text if len(text) <= width else text[:width]
    first = max(1, room // 3)
    return f"{text[:first]}{GAP}{text[len(text) - (room - first) :]}"


def cut_labels(labels: Sequence[str], width: int) -> list[str]:
    """Each label in at most `width` letters; in more only where distinct labels would look the same."""
    short = {label: label for label in labels if len(label) <= width}
    long, room = [label for label in dict.fromkeys(labels) if label not in short], width
    while long:
        texts = _cut_apart(long, room)
        uses = Counter([*short.values(), *texts.values()])
        short |= {label: text for label, text in texts.items() if uses[text] == 1}
        long, room = [label for label in long if label not in short], room + STEP
    return [short[label] for label in labels]


def _cut_apart(labels: Sequence[str], width: int) -> dict[str, str]:
    """Cut in the middle; where labels then look the same, the place from which they differ is shown too."""
    out = {label: cut(label, width) for label in labels}
    alike: dict[str, list[str]] = {}
    for label, text in out.items():
        alike.setdefault(text, []).append(label)
    for group in alike.values():
        if len(group) > 1:
            out |= {label: _around(label, _common_prefix(group), width) for label in group}
    return out


def _common_prefix(labels: Sequence[str]) -> int:
    """The number of first letters that all of them share."""
    low, high = min(labels), max(labels)
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))


def _around(label: str, first: int, width: int) -> str:
    """The beginning, the letters around number `first`, and the end."""
    part = (width - 2 * len(GAP)) // 3
    at = max(first - 2, part)
    end = len(label) - (width - 2 * len(GAP) - 2 * part)
    if part < 3 or at + part + len(GAP) >= end:  # it is at the end, which stays anyway
        return cut(label, width)
    if at <= part + len(GAP):
        return f"{label[: 2 * part + len(GAP)]}{GAP}{label[end:]}"
    return f"{label[:part]}{GAP}{label[at : at + part]}{GAP}{label[end:]}"
