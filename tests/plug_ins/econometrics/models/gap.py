"""The mean difference of two columns: a model that tests/test_plugins.py adds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.schema import Schema
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.example_tables import CLINIC, CLINIC_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.provenance import How
from murmure.econometrics.results.result import ModelResult
from murmure.show.document import Table
from murmure.show.phrase import Phrase
from murmure.statistics.sums import Sums


@dataclass(frozen=True)
class Gap(OneRound):
    """How far one column is above another, on average."""

    domain: Schema
    column: str
    minus: str

    entry = ModelEntry(
        functions=(
            ModelFunction(
                "gap",
                CommandForm(
                    "The mean difference of two columns.",
                    ("COLUMN",),
                    (OptionForm("minus", "The column that is subtracted.  [required]", metavar="C"),),
                    "age t.csv --minus stay",
                ),
                study=('column = "age"\nminus = "stay"',),
            ),
        )
    )

    def in_words(self) -> Phrase:
        return Phrase("the mean of {column} minus {minus}", column=self.column, minus=self.minus)

    def steps(self) -> Generator[Any, Any, ModelResult]:
        answer = yield Sums(self.domain, ("1", f"{self.column} - {self.minus}"))
        rows, difference = answer.sums
        return GapResult(float(difference / rows))


@dataclass(frozen=True)
class GapResult(ModelResult):
    """The gap."""

    gap: float
    how: How | None = None

    def tables(self) -> list[Table]:
        return [Table("", ("", "gap"), (("mean", self.gap),))]


def gap(
    column: str,
    data: Any,
    *,
    minus: str,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> GapResult:
    """`gap("age", table, minus="stay")`: the mean difference of two columns."""
    model = Gap(schema_for("gap", data, schema, [column, minus], privacy), column, minus)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (Example(Gap(CLINIC, "age", "stay"), CLINIC_ROWS),)
