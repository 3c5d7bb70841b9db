"""Detects columns of numbers in which some rows hold other text: NA, a single point, a decimal comma.

Reading such a column as labels, one for each number, would fit another model than the one that was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from murmure.core.errors import Phrase
from murmure.econometrics.design.factors import quoted

NUMBER_PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"  # in the grammar of Python and of Arrow
MISSING = frozenset(("na", "n/a", "#n/a", "nan", "null", "none", "missing", ".", "-", "--", "?", ""))
_NUMBER = re.compile(NUMBER_PATTERN)
_NEARLY = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?%?")  # after removing spaces and thousands separators
_CODE = re.compile(r"[+-]?0[0-9xX]")  # 007 is a name in digits, not a number


def strange_among_numbers(labels: Iterable[str]) -> list[str]:
    """The labels that are not numbers, if most labels are; [] for a column of labels, or of numbers only."""
    texts = [label for label in labels if isinstance(label, str)]
    if any(_CODE.match(label) for label in texts):
        return []
    strange = [label for label in texts if not _NUMBER.match(label)]
    nearly = [label for label in strange if _NEARLY.fullmatch(re.sub(r"[\s'\u2019]", "", label))]
    words = [label for label in strange if label not in nearly and label.strip().lower() not in MISSING]
    numbers = len(texts) - len(strange) + len(nearly)
    return sorted(strange) if numbers > len(words) else []


def mixed_column_hint(name: str, strange: Iterable[str]) -> str:
    """What to do about a column with such texts."""
    commas = any("," in label and label.strip().lower() not in MISSING for label in strange)
    first = Phrase("write decimal points: 3.5, not 3,5") if commas else Phrase("leave those rows out")
    return Phrase(
        "{first}; if the column holds labels, C({name}) in a formula says so, or a schema with Categories",
        first=first,
        name=quoted(name),
    )
