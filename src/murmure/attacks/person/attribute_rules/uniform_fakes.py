"""The law as the published attack on RS+RFD takes it: the same, but with uniform fakes (the server knows better)."""

from __future__ import annotations

from dataclasses import replace

from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeZeros, Hidden, HiddenPart


def with_uniform_fakes(law: Hidden) -> Hidden:
    return Hidden(tuple(_uniform(part) for part in law.parts), law.chances)


def _uniform(part: HiddenPart) -> HiddenPart:
    return part if isinstance(part, FakeZeros) else replace(part, fake=Cut(part.fake.size))
