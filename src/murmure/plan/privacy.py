"""How people are treated: in the clear, noise at the curator, masked sums between parties, or randomised at the person.

A learner and a model ask `privacy.plan(statistic, noise)` for every question, and cannot tell the answers apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from murmure.catalogue import load
from murmure.certify.accounting import sequential
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up, positive_epsilon, split_budget
from murmure.core.types import Certificate, Relation, Statistic
from murmure.plan.disclosure_rules import DisclosureRules, check_minimum_cell
from murmure.plan.plan import Plan
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL


@dataclass(frozen=True)
class Privacy:
    """How people are treated: Clear, Central, Local or Secure."""


@dataclass(frozen=True)
class Clear(Privacy):
    """No privacy: exact sums.

    >>> import murmure as mu
    >>> from murmure.learn import NaiveBayes
    >>> ages, smokers = [[20], [25], [30], [70], [75], [80]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> model = NaiveBayes(privacy=mu.Clear()).fit(ages, smokers)  # bounds and classes are read off the data
    >>> print(model.predict([[22], [78]]).tolist(), model.guarantees_["reader"].epsilon)
    ['no', 'yes'] inf
    """

    unit: ClassVar[str] = "row"
    rows_per_person: ClassVar[int] = 1

    def noises(self, weights: Sequence[float], of: Any = None) -> list[None]:
        return [None for _ in weights]

    def plan(self, statistic: Statistic, noise: None = None) -> Plan:
        return Plan(statistic)


@dataclass(frozen=True)
class Central(Privacy):
    """Noise at the curator: those who read the model learn at most epsilon (and delta) about one person.

    relation: "add/remove" hides whether somebody is in the data; "replace" hides what they hold. unit, rows_per_person:
    as in `Plan`; a person's further rows are not read.

    >>> import murmure as mu
    >>> from murmure.learn import NaiveBayes
    >>> schema = mu.Schema({"age": mu.Integers(0, 100), "smoker": mu.Categories(["no", "yes"])})
    >>> rows = {"age": [20, 25, 30, 70, 75, 80] * 300, "smoker": ["no", "no", "no", "yes", "yes", "yes"] * 300}
    >>> model = NaiveBayes(schema, target="smoker", privacy=mu.Central(epsilon=1.0), rng=mu.Random.seeded(7)).fit(rows)
    >>> print(model.predict({"age": [22, 78]}).tolist())
    ['no', 'yes']
    >>> print(model.guarantees_["reader"])
    epsilon = 1, delta = 0
      protects: the record of one person (add/remove: somebody is in the data or not)
      computed by: discrete Laplace: closed form, rounding of the tables counted; 2 answers add up (a
        formula of the probabilities)
      public: the 2 answers 'no', 'yes' of column 'smoker'; the noise and its integers
    """

    epsilon: float
    delta: float = 0.0
    relation: Relation = "add/remove"
    unit: str = "row"
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Central", self.epsilon))
        if isinstance(self.delta, bool) or not isinstance(self.delta, int | float) or not 0 <= self.delta < 1:
            raise InvalidParameter(
                "Central.delta must be at least 0 and below 1, got {got}.",
                hint="0 is pure epsilon; 1e-6 is usual for a thousand people, and should stay far below 1 / people",
                got=shorten(self.delta),
            )

    @property
    def pure(self) -> bool:
        return self.delta == 0

    @property
    def rho(self) -> float:
        """What there is to spend of zero-concentrated privacy, for delta > 0."""
        from murmure.core.zcdp import rho_from_epsilon

        return rho_from_epsilon(self.epsilon, self.delta)

    @property
    def cost(self) -> Cost:
        """All of it, in the ledger's currencies."""
        if self.pure:
            return Cost(self.epsilon, float_up(Fraction(self.epsilon) ** 2 / 2))
        return Cost(float("inf"), self.rho)

    def noises(self, weights: Sequence[float], of: Any = None) -> list[Any]:
        """Noise for each of several plans; together they cost at most what was asked for.

        of: one of these noises that was not used yet: together they then cost at most what it would have.
        """
        if self.pure:
            whole = self.epsilon if of is None else of.epsilon
            return [load("DiscreteLaplace")(epsilon=e) for e in split_budget(whole, weights)]
        whole = self.rho if of is None else of.rho
        return [load("DiscreteGaussian")(rho=r) for r in split_budget(whole, weights)]

    def plan(self, statistic: Statistic, noise: Any = None) -> Plan:
        """The question, with this noise; or with all of the budget."""
        noise = self.noises([1.0])[0] if noise is None else noise
        return Plan(
            statistic,
            curator=noise,
            relation=self.relation,
            unit=self.unit,
            rows_per_person=self.rows_per_person,
        )


@dataclass(frozen=True)
class Local(Privacy):
    """Every row is randomised before anybody learns from it.

    mechanism: how, as a name for all columns or a mapping from columns to names; None: the learner's own choice.
    debias: learn from unbiased sums that the mechanism's law gives, instead of from the randomised rows as they are.

    >>> import murmure as mu
    >>> from murmure.learn import NaiveBayes
    >>> schema = mu.Schema({"age": mu.Integers(0, 100), "smoker": mu.Categories(["no", "yes"])})
    >>> rows = {"age": [20, 25, 30, 70, 75, 80] * 300, "smoker": ["no", "no", "no", "yes", "yes", "yes"] * 300}
    >>> model = NaiveBayes(schema, target="smoker", privacy=mu.Local(epsilon=4.0), rng=mu.Random.seeded(7)).fit(rows)
    >>> print(model.predict({"age": [22, 78]}).tolist())
    ['no', 'yes']
    >>> print(model.guarantees_["collector"])
    epsilon = 4, delta = 0
      protects: the record of one person (replace: what somebody holds is exchanged for anything else)
      computed by: worst case over which columns were drawn
      public: the 16 answers 0 to 15 of column 'smoker and age'; the mechanism and its integers; who
        takes part
      witness, the report that tells most: the report (smoker and age: 15) is 54.6 times likelier from
        smoker and age 15 than from 0
    """

    epsilon: float
    mechanism: Any = None
    debias: bool = True

    unit: ClassVar[str] = "row"
    rows_per_person: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon("Local", self.epsilon))


@dataclass(frozen=True)
class Secure(Privacy):
    """Between parties: sums over everybody's rows by pairwise masks, and nobody sees a row or a subtotal.

    dropouts, colluders, coordinator, rows: as in `PairwiseMasks`. With coordinator="lying" its totals are not trusted
    either, so models of several rounds are refused. The number of parties is the length of the list of tables. Without
    epsilon the sums are exact, and have no differential privacy. epsilon, delta, relation, unit, rows_per_person: as in
    `Central`; each party then adds its share of the noise, and nobody knows all of it. In one process, exact sums must
    keep the rules of a study: at most one sum for every three rows, and no condition that fewer than minimum_cell rows
    may fulfil, by public facts. rows_are_public=True sets both aside.

    >>> import murmure as mu
    >>> from murmure import econometrics
    >>> schema = mu.Schema({"age": mu.Integers(0, 100), "stay": mu.Integers(0, 30)})
    >>> wards = [
    ...     {"age": [20, 40, 60] * 5, "stay": [1, 4, 4] * 5},
    ...     {"age": [30, 50] * 5, "stay": [3, 2] * 5},
    ...     {"age": [70, 90] * 5, "stay": [6, 9] * 5},
    ... ]
    >>> fit = econometrics.ols("stay ~ age", wards, schema=schema, privacy=mu.Secure())
    >>> print(fit.params.round(4).tolist())
    [-1.0, 0.1]
    >>> print(*fit.how.lines(), sep="\\n")
    REHEARSAL IN ONE PROCESS: whoever ran this held every row, and nothing was hidden from them. What is said about parties below holds once each of them runs on its own (murmure study).
    Obtained by masked sums between 3 parties: 35 rows, 7 sums in 1 round, the longest of 17 bits.
    The coordinator and every party see the sums over all parties, and what follows from these; 1 party that colludes with the coordinator, the sums over the others. Where these are few rows, or two parties, single ones may follow. More is told only if more than 1 party collude.
    The sums are exact: no differential privacy.
    """  # noqa: E501

    dropouts: int | None = None
    colluders: int = 1
    coordinator: Literal["curious", "lying"] = "curious"
    rows: int = 1 << 24
    epsilon: float | None = None
    delta: float = 0.0
    relation: Relation = "add/remove"
    unit: str = "row"
    rows_per_person: int = 1
    parties: int | None = None
    # What is asked does not depend on these two, so they are not part of the name that a ledger gives to a question.
    rows_are_public: bool = field(default=False, repr=False)
    minimum_cell: int = field(default=MINIMUM_CELL, repr=False)

    def __post_init__(self) -> None:
        _ = self.noise  # a wrong epsilon or delta is refused now
        check_minimum_cell("Secure", self.minimum_cell)
        if self.epsilon is None and self.delta:
            raise InvalidParameter("Secure.delta is given without epsilon.", hint="Secure(epsilon=1.0, delta=1e-6)")
        if self.parties is not None:
            _ = self.sharing

    @property
    def noise(self) -> Central | None:
        """What the noise in shares protects; None: the sums are exact."""
        if self.epsilon is None:
            return None
        return Central(self.epsilon, self.delta, self.relation, self.unit, self.rows_per_person)

    @property
    def sharing(self) -> Any:
        """The parties slot of every plan."""
        if self.parties is None:
            raise InvalidParameter(
                "Secure was not told how many parties there are.",
                hint="pass a list of tables, one for each party; or Secure(parties=5)",
            )
        masks = load("PairwiseMasks")
        return masks(self.parties, self.dropouts, self.colluders, self.coordinator, self.rows)

    def for_parties(self, parties: int) -> Secure:
        """The same, for this number of parties."""
        if self.parties not in (None, parties):
            raise InvalidParameter(
                "Secure.parties is {parties}, but there are {parties_2} tables.",
                parties=self.parties,
                parties_2=parties,
            )
        return replace(self, parties=parties)

    def noises(self, weights: Sequence[float], of: Any = None) -> list[Any]:
        return [None for _ in weights] if self.noise is None else self.noise.noises(weights, of)

    def plan(self, statistic: Statistic, noise: Any = None) -> Plan:
        if self.noise is None:
            return Plan(statistic, parties=self.sharing)
        return replace(self.noise.plan(statistic, noise), parties=self.sharing)


AnyPrivacy = Clear | Central | Local | Secure  # all that there are, for those who tell them apart


def rules_of(privacy: Privacy, model: Any = None) -> DisclosureRules:
    """The rules that exact sums between parties in one process must keep; `model`: what asks for them."""
    if not isinstance(privacy, Secure):
        return DisclosureRules()
    return DisclosureRules(privacy.rows_are_public, privacy.minimum_cell, privacy.epsilon, model)


def check_privacy(owner: object, privacy: Any) -> AnyPrivacy:
    if not isinstance(privacy, AnyPrivacy):
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidParameter(
            "{name}.privacy must be Clear(), Central(epsilon), Secure() or Local(epsilon), got {got}.",
            hint="privacy=mu.Central(epsilon=1.0), or mu.Secure() with a list of tables",
            name=name,
            got=shorten(privacy),
        )
    return privacy


def noise_in(privacy: Privacy) -> Central | None:
    """What noise on the sums protects, at the curator or in shares; None: there is none."""
    return privacy if isinstance(privacy, Central) else privacy.noise if isinstance(privacy, Secure) else None


def guarantees_of(plans: Sequence[Plan], privacy: Privacy) -> dict[str, Certificate]:
    """What each observer learns about one person from the answers to all of these plans: costs add up."""
    first = dict(plans[0].guarantees())
    noise = noise_in(privacy)
    if noise is None:
        return first
    spent = sequential([plan.bound.cost for plan in plans])
    method = plans[0].bound.method
    if len(plans) > 1:
        method = Phrase("{method}; {answers} answers add up", method=method, answers=len(plans))
    if noise.pure:
        epsilon = spent.epsilon
    else:
        from murmure.core.zcdp import epsilon_from_rho

        method = Phrase("{method}; rho = {rho:.6g} in all (zero-concentrated)", method=method, rho=spent.rho)
        epsilon = epsilon_from_rho(spent.rho, noise.delta)
        if spent.rho <= noise.rho:  # rho is rounded down, epsilon up: the way there and back would add a last bit
            epsilon = min(epsilon, noise.epsilon)
    return {
        observer: certificate
        if math.isinf(certificate.epsilon)  # the curator sees every row
        else replace(certificate, epsilon=epsilon, delta=noise.delta, method=method, asked=noise.epsilon, witness=None)
        for observer, certificate in first.items()
    }
