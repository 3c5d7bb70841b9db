"""People who do not exist, drawn by a seeded generator. Ordinary randomness will do: there is nobody to protect."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from murmure.core.schema import Schema

AGES = (18, 99)  # public: only adults are asked, and whoever is older counts as 99
INCOMES = (0, 6000)
STAYS = (0, 60)


def people(names: SimpleNamespace, count: int, rng: Random) -> str:
    """Age, region, income and whether somebody smokes: the young and the poor smoke more."""
    rows = []
    for _ in range(count):
        age = rng.randint(18, 90)
        region = rng.choices(names.regions, (4, 3, 2, 1))[0]
        income = _clamped(rng.gauss(1200 + 25 * age, 500), INCOMES)
        smokes = rng.random() < (0.7 if age < 40 else 0.15) - (0.05 if income > 2500 else 0.0)
        rows.append((age, region, income, names.yes if smokes else names.no))
    return csv_text((names.age, names.region, names.income, names.smoker), rows)


def people_schema(names: SimpleNamespace) -> Schema:
    """Bounds and labels that anybody could have written without seeing the rows."""
    from murmure.core.domain import Categories, Integers, Interval
    from murmure.core.schema import Schema

    return Schema(
        {
            names.age: Integers(*AGES),
            names.region: Categories(names.regions),
            names.income: Interval(*INCOMES),
            names.smoker: Categories([names.no, names.yes]),
        }
    )


def patients(names: SimpleNamespace, count: int, rng: Random) -> str:
    """Age and days in hospital, which grow with age."""
    ages = [rng.randint(18, 99) for _ in range(count)]
    return csv_text((names.age, names.stay), [(age, _clamped(rng.gauss(1 + age / 10, 2), STAYS)) for age in ages])


def patients_schema(names: SimpleNamespace) -> Schema:
    from murmure.core.domain import Integers
    from murmure.core.schema import Schema

    return Schema({names.age: Integers(*AGES), names.stay: Integers(*STAYS)})


def coin_answers(names: SimpleNamespace, count: int, yes: int, seed: int) -> list[str]:
    """What `count` people say after tossing two coins, `yes` of whom would truly say yes."""
    from murmure.core.domain import Categories
    from murmure.core.random import Random as SeededRandom
    from murmure.local.warner import Warner

    labels = [names.no, names.yes]
    truths = [names.yes] * yes + [names.no] * (count - yes)
    reports = Warner(Categories(labels)).report(truths, SeededRandom.seeded(seed))
    return [labels[report] for report in reports]


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return file.getvalue()


def _clamped(value: float, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(bounds[1], round(value)))
