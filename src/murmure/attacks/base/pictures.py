"""Which lines go into which picture: nobody reads more than a few at once.

all in one                   where they are few
one for each attacker,       by the property that needs the fewest pictures
epsilon, k of top k ...
the highest alone            where that would still be too many; the table has all
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from murmure.attacks.base.success import Success
from murmure.core.errors import Phrase
from murmure.show.phrase import Several

MAX_CURVES = 6  # in one picture, those of the baseline too
MAX_PICTURES = 6
SETTING_NAMES = {"top": Phrase("top")}  # numbers whose names are words; epsilon is not translated

Line = Sequence[Success]
ATTACKER = "attacker"  # as the name of what lines are told apart by; all other names are of settings


@dataclass(frozen=True)
class LinePicture:
    """The lines of one picture. shared: what they have in common, which is in the title and not beside each line."""

    title: str
    lines: Sequence[Line]
    shared: str | None = None


def in_pictures(lines: Sequence[Line], title: str, curves: Callable[[Sequence[Line]], int]) -> list[LinePicture]:
    """curves: how many curves some lines need, with their baselines."""
    if curves(lines) <= MAX_CURVES:
        return [LinePicture(title, lines)]
    names = dict.fromkeys([ATTACKER, *(name for line in lines for name in line[0].setting)])
    splits = {name: _split(lines, name) for name in names}
    fit = [
        name
        for name, split in splits.items()
        if 1 < len(split) <= MAX_PICTURES and all(curves(part) <= MAX_CURVES for part in split.values())
    ]
    if fit:
        name = min(fit, key=lambda name: len(splits[name]))
        parts = splits[name].values()
        return [
            LinePicture(Phrase("{measure} ({setting})", measure=title, setting=_shared(part, name)), part, name)
            for part in parts
        ]
    ordered = sorted(lines, key=lambda line: -max(row.value - row.baseline for row in line))
    drawn = next((n for n in range(MAX_CURVES - 1, 1, -1) if curves(ordered[:n]) <= MAX_CURVES), 1)
    kept = [line for line in lines if any(line is other for other in ordered[:drawn])]
    words = Phrase("{measure}; the {drawn} highest of {of} lines", measure=title, drawn=drawn, of=len(lines))
    return [LinePicture(words, kept)]


def _split(lines: Sequence[Line], name: str) -> dict[str, list[Line]]:
    out: dict[str, list[Line]] = {}
    for line in lines:
        out.setdefault(str(line[0].attacker if name == ATTACKER else line[0].setting.get(name)), []).append(line)
    return out


def _shared(part: Sequence[Line], name: str) -> Any:
    row = part[0][0]
    return row.attacker if name == ATTACKER else setting_words({name: row.setting.get(name)})


def label_of(row: Success, shared: str | None = None) -> str:
    """The attacker and its setting, but for what all have in common."""
    setting = {name: value for name, value in row.setting.items() if name != shared}
    if shared == ATTACKER:
        return Phrase("{settings}", settings=setting_words(setting))
    return row.attacker if not setting else with_setting(row.attacker, setting)


def with_setting(name: str, setting: Mapping[str, Any]) -> Phrase:
    return Phrase("{attacker} ({settings})", attacker=name, settings=setting_words(setting))


def setting_words(setting: Mapping[str, Any]) -> Several:
    """Words as they are; numbers with what they are: epsilon 2, top 5."""
    named = (
        Phrase("{name} {value:g}", name=SETTING_NAMES.get(name, name), value=value)
        if type(value) in (int, float)
        else value
        for name, value in setting.items()
    )
    return Several(named, Phrase(", "))
