"""The demonstration's survey: a simulated class is asked two questions about cheating, through three mechanisms.

The class is simulated; the reports, estimates and certificates are real. `murmure demo` prints them and writes a page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.core.errors import Phrase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from murmure.advise.advice import Advice
    from murmure.core.random import Random
    from murmure.core.types import Certificate, Release
    from murmure.plan.plan import Plan
    from murmure.plan.reports import Reports

TWO_COINS = math.log(3)  # the epsilon of two fair coins
YES_NO = ("no", "yes")
HOW_OFTEN = ("never", "once", "a few times", "often", "every time")
LABELS = {  # the answers as people read them
    "no": Phrase("no"),
    "yes": Phrase("yes"),
    "never": Phrase("never"),
    "once": Phrase("once"),
    "a few times": Phrase("a few times"),
    "often": Phrase("often"),
    "every time": Phrase("every time"),
}
SHARES = (0.55, 0.20, 0.15, 0.07, 0.03)  # of HOW_OFTEN in the simulated class; all but "never" have cheated
CLASS_SEED = 1965  # the year of Warner's paper


@dataclass(frozen=True)
class DemoQuestion:
    """One question, asked of the whole class through one mechanism."""

    name: str
    mechanism: Any
    plan: Plan
    reports: Reports
    release: Release
    truth: NDArray[np.float64]  # known only because the class is simulated

    @property
    def certificate(self) -> Certificate:
        return self.release.guarantees["collector"]

    @property
    def sent(self) -> Any:
        """What the first student sent."""
        return self.reports.data[0]  # type: ignore[index]

    def rows(self) -> list[dict[str, Any]]:
        """label, share, low, high, truth."""
        return [{**row, "truth": float(t)} for row, t in zip(self.release.estimate.to_rows(), self.truth, strict=True)]

    def covered(self) -> int:
        """How many intervals contain the true share."""
        return sum(row["low"] <= row["truth"] <= row["high"] for row in self.rows())


@dataclass(frozen=True)
class DemoSurvey:
    """Everything that the terminal and the page show."""

    people: int
    epsilon: float
    seed: int | None
    coins: DemoQuestion
    grr: DemoQuestion
    oue: DemoQuestion
    advice: Advice

    @property
    def questions(self) -> tuple[DemoQuestion, DemoQuestion, DemoQuestion]:
        return self.coins, self.grr, self.oue

    @property
    def fair_coins(self) -> bool:
        return self.epsilon == TWO_COINS

    def yes_of_100(self) -> tuple[int, int]:
        """How many send yes, out of 100 who have cheated and out of 100 who have not."""
        a, c = self.coins.mechanism.yes
        return round(100 * a), round(100 * c)

    def truth_of_100(self) -> int:
        a, c = self.coins.mechanism.yes
        return round(100 * (a - c))

    def support_of_100(self, question: DemoQuestion) -> tuple[int, int]:
        """How often a report supports the true answer, and each other answer, out of 100."""
        return round(100 * question.mechanism.supports.p), round(100 * question.mechanism.supports.q)

    def ticked_boxes(self) -> list[bool]:
        """The boxes that the first student ticked in the OUE report."""
        from murmure.certify.witness_words import set_bits

        ticked = set_bits(self.oue.sent, len(HOW_OFTEN))
        return [v in ticked for v in range(len(HOW_OFTEN))]

    def coverage(self) -> tuple[int, int]:
        """How many intervals contain the truth, and how many intervals there are."""
        return sum(q.covered() for q in self.questions), sum(len(q.truth) for q in self.questions)


def simulate_class(people: int, rng: Random) -> NDArray[np.int64]:
    """The answer code of each student: one random word per student, compared with the cumulated shares."""
    import numpy as np

    total, edges = 0.0, []
    for share in SHARES[:-1]:
        total += share
        edges.append(round(total * 2**64))
    return np.searchsorted(np.array(edges, np.uint64), rng.words(people), side="right").astype(np.int64)


def run_survey(people: int, epsilon: float, seed: int | None) -> DemoSurvey:
    """Reports use secure randomness, unless a seed makes this an experiment that can be repeated."""
    import numpy as np

    from murmure.advise.advice import advise
    from murmure.core.domain import Categories
    from murmure.core.random import Random
    from murmure.local.grr import GRR
    from murmure.local.unary import OUE
    from murmure.local.warner import Warner
    from murmure.plan.plan import Plan
    from murmure.statistics.histogram import Histogram

    # The class is the same each time; only its reports are random, unless a seed repeats them too.
    class_rng = Random.seeded(CLASS_SEED if seed is None else seed)
    often = simulate_class(people, class_rng)
    rng = Random.secure() if seed is None else class_rng

    def ask(mechanism: Any, codes: NDArray[np.int64]) -> DemoQuestion:
        domain = mechanism.domain
        plan = Plan(Histogram(domain), person=mechanism)
        reports = plan.report([domain.values[c] for c in codes.tolist()], rng)
        truth = np.bincount(codes, minlength=domain.size) / people
        return DemoQuestion(type(mechanism).__name__, mechanism, plan, reports, plan.estimate(reports), truth)

    whether, how_often = Categories(YES_NO), Categories(HOW_OFTEN)
    two_coins = Warner(whether) if epsilon == TWO_COINS else Warner(whether, epsilon=epsilon)
    return DemoSurvey(
        people,
        epsilon,
        seed,
        ask(two_coins, (often > 0).astype(np.int64)),
        ask(GRR(how_often, epsilon), often),
        ask(OUE(how_often, epsilon), often),
        advise(how_often, epsilon, people),
    )
