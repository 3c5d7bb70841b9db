"""The content of a report, before it is written in a language.

What the plan does not say is parsed from the sentences of the release and of its certificates: `about` ends in "through
MECHANISM" or "in the clear", and methods and assumptions mention the rows of a person. Those sentences must not change
without this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.core.errors import InvalidParameter, PlanMismatch, shorten
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.estimate import Estimate
from murmure.core.show import simultaneous_level, true_values, truths_of
from murmure.core.types import Certificate, Nested, Release, Target
from murmure.local.base.record_mechanism import protocol_names
from murmure.run.report.html_parts import WIDE, Language
from murmure.run.report.question_words import QuestionWords
from murmure.statistics.mean import Mean
from murmure.statistics.mode import Chosen
from murmure.statistics.quantile import Quantile

MAX_SHORT_LABEL = 14  # letters of a label that fit a narrow column


@dataclass(frozen=True)
class ReportColumn:
    """One heading of the page."""

    name: str
    estimate: Estimate
    truth: Any
    number: int
    bounds: tuple[float, float] | None = None
    mean: Estimate | None = None  # computed from the shares


@dataclass(frozen=True)
class PaidCharge:
    """Who paid: the data set's budget in a ledger, and the charge, where it is known which."""

    dataset: str
    charge: int | None
    left: float
    budget: float
    delta: float

    @classmethod
    def of(cls, account: Any, release: Release) -> PaidCharge | None:
        """The charge that the release itself names; or, of a release without one, the charge that its plan finds."""
        charge = release.charge
        if account is None:
            if charge is None or charge.budget is None:
                return None
            return cls(charge.dataset, charge.number, charge.left.epsilon, charge.budget.epsilon, charge.budget.delta)
        from murmure.ledger.account import Account

        if not isinstance(account, Account):
            raise InvalidParameter(
                "ledger must be an account of a Ledger, got {got}.",
                hint='Ledger("ledger.db").account("patients")',
                got=shorten(type(account).__name__),
            )
        ledger, dataset = account.ledger, account.dataset
        numbers = [charge.number] if charge is not None and charge.dataset == dataset else []
        numbers = numbers or [e.number for e in ledger.history(dataset) if e.plan == release.plan]
        state = ledger.state(dataset)
        if not numbers or state.budget is None:
            raise PlanMismatch(
                "the ledger has no charge for plan {plan} of {dataset!r}.",
                hint="pass the account that paid for this release",
                plan=release.plan[:12],
                dataset=dataset,
            )
        # Several charges for one plan are fresh draws: which of them is shown is not known.
        number = numbers[0] if len(numbers) == 1 else None
        return cls(dataset, number, state.left().epsilon, state.budget.epsilon, state.budget.delta)


class ReportContent:
    """The facts of a report; the sections put them into words."""

    def __init__(
        self,
        release: Release,
        truth: Any,
        level: float,
        target: Target,
        receipt: Any,
        plan: Any,
        simultaneous: bool,
        weights: str | None,
        ledger: Any = None,
    ) -> None:
        self.release, self.level, self.target, self.receipt = release, level, target, receipt
        self.simultaneous = simultaneous
        self.simulated = truth is not None
        self.plan = receipt.plan if plan is None and receipt is not None else plan
        self._check_plan_and_receipt()
        self.weights = weights or (None if self.plan is None else self.plan.statistic.weights)
        # "Histogram of age by region through GRR": statistic, question, mechanism. The plan may be unknown, so the
        # sentence of the release is parsed.
        kind, _, rest = release.about.partition(" ")
        asked, _, by = rest.rpartition("through ")
        self.statistic, self.mechanism = kind, by if asked or by else ""
        if rest.endswith("in the clear"):
            asked, self.mechanism = rest.removesuffix("in the clear"), ""
        self.question_text = asked.strip().removeprefix("of ").strip()
        self.paid = PaidCharge.of(ledger, release)
        self.columns = list(self._columns(truth))

    def _check_plan_and_receipt(self) -> None:
        """Refuse a receipt or plan that belongs to other figures."""
        release, plan = self.release, self.plan
        if plan is not None and plan.digest != release.plan:
            if self.curated:
                raise PlanMismatch(
                    "this release answers plan {plan}, not plan {digest}.",
                    hint="pass the plan that was run",
                    plan=release.plan[:12],
                    digest=plan.digest[:12],
                )
            # A pair is asked of a table whose plan asked another question: only the guarantees must agree.
            both = (plan.guarantees(), release.guarantees)
            first, second = ([(c.epsilon, c.public) for c in guarantees.values()] for guarantees in both)
            if first != second:
                raise PlanMismatch(
                    "this release answers plan {plan}, the receipt plan {digest}.",
                    hint="pass the receipt of the table that was estimated",
                    plan=release.plan[:12],
                    digest=plan.digest[:12],
                )
        if self.receipt is not None and self.receipt.rows != release.estimate.n:
            raise PlanMismatch(
                "this release is about {n} rows, the receipt about {rows}.",
                hint="pass the receipt of the table that was estimated",
                n=release.estimate.n,
                rows=self.receipt.rows,
            )

    def _columns(self, truth: Any) -> Iterator[ReportColumn]:
        shown = self.release.estimate
        if not isinstance(shown, Estimates):
            if hasattr(truth, "items"):
                raise InvalidParameter(
                    "truth must be {mean_count} numbers, one for each figure, got a mapping.",
                    mean_count=len(shown.mean),
                )
            yield ReportColumn(self.question_text, shown, true_values(shown, truth, "truth"), 0)
            return
        truths, means = truths_of(shown, truth), shown.means
        for i, (name, estimate) in enumerate(shown.items()):
            values = shown.numbers.get(name)
            bounds = None if values is None else (float(values[0][0] - values[1]), float(values[0][-1] + values[1]))
            mean = means.by_column.get(name) if estimate.unit == "share" else None
            yield ReportColumn(name, estimate, truths.get(name), i, bounds, mean)

    # -- noise at the curator -------------------------------------------------------------------------------------

    @property
    def curated(self) -> bool:
        """Whether a curator saw every row, and added noise to what leaves."""
        return "curator" in self.release.guarantees

    @property
    def reader(self) -> Certificate:
        return self.release.guarantees["reader"]

    @property
    def chosen(self) -> Any:
        """The one of several candidates that was drawn; None where the answer is figures."""
        return self.release.estimate if isinstance(self.release.estimate, Chosen) else None

    @cached_property
    def question(self) -> QuestionWords:
        if self.plan is not None:
            return QuestionWords.of(self.plan.statistic)
        estimates = self.release.estimate
        if isinstance(estimates, Estimates):
            return QuestionWords(self.statistic, tuple(estimates))
        return QuestionWords.from_words(self.statistic, self.question_text)

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """The public bounds of what is shown, where it is values of one column."""
        # Groups and conditions wrap the statistic whose values are shown.
        inner: Any = None if self.plan is None else self.plan.statistic
        while isinstance(inner, Nested):
            inner = inner.statistic
        if not self.curated or not isinstance(inner, Mean | Quantile):
            return None
        return float(inner.domain.low), float(inner.domain.high)

    def people(self, w: Language) -> str:
        """How many people, or rows if one person may have several; "about" where the number is noisy."""
        n = self.release.estimate.n
        rows = (self.rows_per_person or 1) > 1
        what = w("rows", "lignes") if rows else w("people", "personnes")
        if n == 1:
            what = w("row", "ligne") if rows else w("person", "personne")
        about = w("about ", "environ ") if self.release.estimate.noisy else ""
        return f"{about}{w.number(n, 0)}{WIDE}{what}"

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        return int(self.release.estimate.n)

    @property
    def many_columns(self) -> bool:
        return isinstance(self.release.estimate, Estimates)

    @property
    def of_records(self) -> bool:
        """Whether people answered several columns, of which perhaps only a pair is shown."""
        return self.many_columns or self.statistic == "Pair"

    @cached_property
    def each_level(self) -> float:
        """The level of one interval: the requested one, or higher where all are to cover together."""
        if not self.simultaneous:
            return self.level
        shown = [e for c in self.columns for e in (c.estimate, c.mean) if e is not None]
        return simultaneous_level(self.level, shown)

    @property
    def digest(self) -> str:
        """The plan that people answered: the table's, where it was asked another question afterwards."""
        return str(self.release.plan if self.plan is None else self.plan.digest)

    def target_of(self, estimate: Estimate) -> Target:
        return estimate.target if estimate.target != "fixed" else self.target

    @cached_property
    def certificates(self) -> list[Certificate]:
        """Of the whole record, then of one attribute where that is another question."""
        return [certificate for _, certificate in self.release.observers()]

    @property
    def rows_per_person(self) -> int | None:
        """How many rows one person may have; None: the guarantee is about one row."""
        if self.plan is not None:
            return None if self.plan.unit == "row" else int(self.plan.rows_per_person)
        # Without a plan, the certificate's sentence is the only place that says it.
        if self.curated:
            match = re.search(r"; of one person (\d+) rows are read", self.reader.assumption or "")
        else:
            match = re.search(r"; (\d+) fresh reports add up", self.certificates[0].method)
        return int(match[1]) if match else None

    def protocol(self, name: str) -> str:
        """GRR, OUE ...: what randomised this column, where the plan is known."""
        if self.plan is None or self.plan.person is None or not self.many_columns:
            return ""
        return protocol_names(self.plan.person)[list(self.plan.person.columns).index(name)]

    @cached_property
    def long_labels(self) -> bool:
        """Whether labels need room; the same for all columns, so that pictures are aligned."""
        return any(len(str(label)) > MAX_SHORT_LABEL for column in self.columns for label in column.estimate.labels)

    # -- in words -------------------------------------------------------------------------------------------------

    def title(self, w: Language) -> str:
        if self.curated:
            what = self.question.title(w)
            return what if self.release.estimate.n is None else f"{what}, {self.people(w)}"
        rows = w.number(self.rows, 0)
        if not self.many_columns:
            what = f"{self.column_title(self.question_text, w)}, " if self.question_text else ""
            if self.of_records:
                return what + w(f"{rows} rows", f"{rows} lignes")
            return what + w(f"{rows} answers", f"{rows} réponses")
        columns = len(self.columns)
        return w(
            f"{columns} column{'s' * (columns != 1)}, {rows} rows",
            f"{columns} colonne{'s' * (columns != 1)}, {rows} lignes",
        )

    def column_title(self, column: str, w: Language) -> str:
        """The name of a column or a pair; for one question to a curator, the question."""
        if self.curated and not self.many_columns:
            return self.question.title(w)
        if self.statistic == "Pair" and column.count(" and ") == 1:
            return column.replace(" and ", w(" and ", " et "))
        return column

    def protects(self, w: Language) -> str:
        if not self.of_records and not self.curated:
            return w("one answer", "une réponse")
        rows = self.rows_per_person
        if rows is None:
            return w("one row", "une ligne")
        limit = w.number(rows, 0)
        return w(
            f"one person with at most {limit} row{'s' * (rows != 1)}",
            f"une personne ayant au plus {limit} ligne{'s' * (rows != 1)}",
        )
