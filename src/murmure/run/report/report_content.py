"""The facts of a report, from the release and from what else is known: the plan, a receipt, the truth, a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.core.domain import Dates
from murmure.core.errors import InvalidParameter, PlanMismatch, shorten
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.estimate_blocks import people, simultaneous_level, true_values, truths_of
from murmure.core.types import Certificate, Nested, Release, Target
from murmure.local.base.record_mechanism import protocol_names
from murmure.run.report.question_words import QuestionWords
from murmure.show.phrase import Phrase, Plural, Several, find_field
from murmure.statistics.mean import Mean
from murmure.statistics.mode import Chosen
from murmure.statistics.quantile import Quantile


@dataclass(frozen=True)
class ReportColumn:
    """One picture of the page."""

    name: str
    estimate: Estimate
    truth: Any
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
        self.simultaneous, self.simulated = simultaneous, truth is not None
        self.plan = receipt.plan if plan is None and receipt is not None else plan
        self._check_plan_and_receipt()
        self.weights = weights or (None if self.plan is None else self.plan.statistic.weights)
        self.mechanism: str = find_field(release.about, "mechanism") or ""
        self.asked = QuestionWords.of_release(release.about)
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
            yield ReportColumn(self.one_title, shown, true_values(shown, truth, "truth"), self.value_bounds)
            return
        truths, means = truths_of(shown, truth), shown.means
        for name, estimate in shown.items():
            bounds = shown.bounds(name) if estimate.unit == "value" else None
            mean = means.by_column.get(name) if estimate.unit == "share" else None
            yield ReportColumn(name, estimate, truths.get(name), bounds, mean)

    # -- what was asked -------------------------------------------------------------------------------------------

    @property
    def curated(self) -> bool:
        """Whether a curator saw every row, and added noise to what leaves."""
        return "curator" in self.release.guarantees

    @property
    def chosen(self) -> Any:
        """The one of several candidates that was drawn; None where the answer is figures."""
        return self.release.estimate if isinstance(self.release.estimate, Chosen) else None

    @property
    def many_columns(self) -> bool:
        return isinstance(self.release.estimate, Estimates)

    @property
    def of_records(self) -> bool:
        """Whether people answered several columns, of which perhaps only a pair is shown."""
        return self.many_columns or self.asked.kind == "Pair"

    @cached_property
    def question(self) -> QuestionWords:
        if self.plan is not None:
            return QuestionWords.of(self.plan.statistic)
        estimates = self.release.estimate
        return QuestionWords(self.asked.kind, tuple(estimates)) if isinstance(estimates, Estimates) else self.asked

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """The public bounds of what is shown, where it is one value of one column."""
        inner: Any = None if self.plan is None else self.plan.statistic
        if not self.curated or isinstance(inner, Nested) or not isinstance(inner, Mean | Quantile):
            return None
        domain = inner.domain
        return (0.0, domain.size - 1.0) if isinstance(domain, Dates) else (float(domain.low), float(domain.high))

    # -- people ---------------------------------------------------------------------------------------------------

    @cached_property
    def certificates(self) -> list[Certificate]:
        """Of the whole record, then of one attribute where that is another question."""
        return [certificate for _, certificate in self.release.observers()]

    @property
    def reader(self) -> Certificate:
        return self.release.guarantees["reader"]

    @property
    def rows_per_person(self) -> int | None:
        """How many rows one person may have; None: the guarantee is about one row."""
        if self.plan is not None:
            return None if self.plan.unit == "row" else int(self.plan.rows_per_person)
        # Without a plan, the sentences of the certificate say it.
        if self.curated:
            found = find_field(self.reader.assumption, "rows")
        else:
            found = find_field(self.certificates[0].method, "reports")
        return None if found is None else int(found)

    @property
    def protects(self) -> Phrase:
        if not self.of_records and not self.curated:
            return Phrase("one answer")
        rows = self.rows_per_person
        if rows is None:
            return Phrase("one row")
        return Plural("one person with at most {n:,} row", "one person with at most {n:,} rows", n=rows)

    @property
    def one_of_them(self) -> Phrase:
        return Phrase("one row") if self.rows_per_person is None else Phrase("one person")

    # -- figures --------------------------------------------------------------------------------------------------

    @cached_property
    def each_level(self) -> float:
        """The level of one interval: the requested one, or higher where all are to cover together."""
        if not self.simultaneous:
            return self.level
        shown = [e for c in self.columns for e in (c.estimate, c.mean) if e is not None]
        return simultaneous_level(self.level, shown)

    def target_of(self, estimate: Estimate) -> Target:
        return estimate.target if estimate.target != "fixed" else self.target

    @property
    def digest(self) -> str:
        """The plan that people answered: the table's, where it was asked another question afterwards."""
        return str(self.release.plan if self.plan is None else self.plan.digest)

    def protocol(self, name: str) -> str:
        """GRR, OUE ...: what randomised this column, where the plan is known."""
        if self.plan is None or self.plan.person is None or not self.many_columns:
            return ""
        return protocol_names(self.plan.person)[list(self.plan.person.columns).index(name)]

    @property
    def one_title(self) -> str:
        """The name of the one picture: the column or pair; of a question to a curator, the question."""
        if self.curated:
            return self.question.title
        columns = self.asked.columns
        return "" if not columns else columns[0] if len(columns) == 1 else Phrase("{columns}", columns=Several(columns))

    @property
    def people(self) -> Phrase:
        """How many people, or rows if one person may have several; "about" where the number is noisy."""
        n, noisy = self.release.estimate.n, self.release.estimate.noisy
        if (self.rows_per_person or 1) == 1:
            return people(n, noisy)
        return Plural("about {n:,} row", "about {n:,} rows", n=n) if noisy else Plural("{n:,} row", "{n:,} rows", n=n)

    @property
    def title(self) -> str:
        what: str = self.one_title
        if self.curated:
            what = self.question.title
            if self.release.estimate.n is None:
                return what
            return Phrase("{question}, {people}", question=what, people=self.people)
        n = int(self.release.estimate.n)
        answers = Plural("{n:,} answer", "{n:,} answers", n=n)
        if self.of_records:
            answers = Plural("{n:,} row", "{n:,} rows", n=n)
        if self.many_columns:
            what = Plural("{n} column", "{n} columns", n=len(self.columns))
        return Phrase("{question}, {people}", question=what, people=answers) if what else answers
