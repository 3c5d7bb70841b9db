"""Re-identification over repeated surveys: match what the reports say about a person with the records of all people.

    RID-ACC = the share of people who are among the k best matches of their reports;    guessing reaches k / n.

A target with score s, G people with a higher score and E people with the same (the target is one of them) is among the
best k with chance min(1, max(0, (k - G) / E)): ties in random order, in expectation. Two scores:
    equal attributes   one guess for each report; the number of guesses that a record agrees with (Arcolezi, Gambs,
                       Couchot, Palamidessi, PVLDB 16(5), 2023)
    exact posterior    the likelihood of all reports given the record, read from the law: no score that looks at one
                       person's reports at a time does better (matching everybody at once can)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.codes_of_people import codes_of_people
from murmure.attacks.base.draws import shuffled, some_of
from murmure.attacks.base.repetitions import check_count, repeat
from murmure.attacks.base.success import repeated_share
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.survey_rules.fake_data import fake_profiles, found_by_likelihood
from murmure.attacks.person.survey_rules.matching import Candidates, Profiles, found
from murmure.attacks.person.survey_rules.sampled import only_known, sampled_profiles
from murmure.attacks.person.survey_rules.surveys import Surveys, attribute_range, reported_columns
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Floats, Ints
from murmure.local.base.oracle_choice import SHARE_ORACLES
from murmure.local.rsfd import FAKES, RSFD, Calibrate
from murmure.local.smp import SMP

Metric = Literal["uniform", "non-uniform"]
Knowledge = Literal["full", "partial"]
Score = Literal["equal attributes", "exact posterior"]
SCORES: tuple[Score, ...] = ("equal attributes", "exact posterior")
MAX_SURVEYS = 8  # a profile has 2**surveys patterns
NAMES = {"smp": SHARE_ORACLES, "rsfd": FAKES}


def reidentification(
    people: Any,
    schema: Schema,
    epsilon: float | Sequence[float] = (1.0, 5.0, 10.0),
    *,
    solution: Literal["smp", "rsfd"] = "smp",
    oracle: str = "GRR",
    surveys: int | Sequence[Sequence[str]] = 5,
    metric: Metric = "uniform",
    knowledge: Knowledge = "full",
    scores: Sequence[Score] = SCORES,
    top: Sequence[int] = (1, 5, 10),
    targets: int | None = None,
    calibrate: Calibrate = "paper",
    axis: Literal["surveys", "epsilon"] = "surveys",
    repetitions: int = 20,
    rng: Random | None = None,
) -> AttackResult:
    """How many of these people can be found again from their reports to several surveys?

    people: a table of the schema's columns (a frame, a file, several files), one row for each person. The attacker
    knows it: all columns (knowledge="full") or a random set of them ("partial": at least half of them, and not all).
    Each survey asks about a random set of columns; a person reports one (solution="smp"), or one real and the others
    invented ("rsfd", at the epsilon of `calibrate`).
    metric: "uniform", nobody reports a column twice; "non-uniform", a column may come again and its report is repeated.
    surveys: how many there are, each about a random set of columns; or the columns of each.
    targets: how many people are looked for, drawn at random; None: everybody. axis: what curves run over.

    >>> import numpy as np
    >>> import murmure as mu
    >>> from murmure.attacks import reidentification
    >>> schema = mu.Schema({name: mu.Categories(8) for name in "abcdef"})
    >>> draw = np.random.default_rng(7)
    >>> people = {name: draw.integers(0, 8, 500).tolist() for name in "abcdef"}
    >>> result = reidentification(people, schema, 6.0, surveys=4, top=[1], repetitions=3, rng=mu.Random.seeded(7))
    >>> for row in result.rows:
    ...     print(row.attacker, row.at, round(row.value, 3), row.baseline)
    equal attributes 1.0 0.016 0.002
    equal attributes 2.0 0.122 0.002
    equal attributes 3.0 0.608 0.002
    equal attributes 4.0 0.892 0.002
    exact posterior 1.0 0.016 0.002
    exact posterior 2.0 0.122 0.002
    exact posterior 3.0 0.608 0.002
    exact posterior 4.0 0.892 0.002
    """
    epsilons = [positive_epsilon("reidentification", e) for e in np.atleast_1d(np.asarray(epsilon, object)).tolist()]
    settings = {"solution": solution, "metric": metric, "knowledge": knowledge, "calibrate": calibrate, "axis": axis}
    for name, given in settings.items():
        _one_of(name, given, CHOICES[name])
    _one_of("oracle", oracle, NAMES[solution])
    for score in scores:
        _one_of("scores", score, SCORES)
    if not isinstance(schema, Schema):
        raise InvalidParameter("reidentification: schema must be a Schema, got {got}.", got=shorten(schema))
    codes = np.stack([column.astype(np.int64) for column in codes_of_people(schema, people)], axis=1)
    n, d = codes.shape
    planned = None if isinstance(surveys, int) else _planned(surveys, schema)
    count = _check_surveys(surveys if planned is None else len(planned), d, metric, solution)
    best = sorted({check_count("top", k) for k in top})
    if d < 2 or n < 2:
        raise InvalidParameter(
            "re-identification needs at least two people and two columns, got {people:,} and {column_names}.",
            people=n,
            column_names=d,
        )
    if targets is not None and not check_count("targets", targets) <= n:
        raise InvalidParameter(
            "there are {people:,} people, and targets is {targets:,}.", people=n, targets=targets, hint="leave it out"
        )
    rng = random_or_secure(rng, "reidentification")
    attack = _Attack(
        codes, schema, epsilons, solution, oracle, planned or count, metric, knowledge, scores, best, targets, calibrate
    )
    measured = np.stack(repeat(attack.run, repetitions, rng, Phrase("repeating the surveys")))
    rows = []
    for i, score in enumerate(scores):
        for k, at_most in enumerate(best):
            for e, value in enumerate(epsilons):
                for s in range(count):
                    found_shares = measured[:, e, i, s, k]
                    place: dict[str, Any] = {"epsilon": value, "surveys": s + 1, "top": at_most}
                    at = float(place.pop(axis))
                    rows.append(repeated_share(WORDS[score], found_shares.tolist(), min(1.0, at_most / n), at, **place))
    return AttackResult(
        name="identities",
        title=Phrase("Re-identification over {surveys} surveys: {solution}[{oracle}], {people:,} people",
                     surveys=count, solution=TITLES[solution], oracle=oracle, people=n),
        threat=_threat(solution, knowledge, d),
        measure=Phrase("share of people found among the k best matches"),
        rows=tuple(rows),
        axis=Phrase("surveys") if axis == "surveys" else Phrase("epsilon"),
        notes=(METRICS[metric] if solution == "smp" else FAKE_NOTE,),
        details={
            "people": n, "columns": d, "surveys": count, "solution": solution, "oracle": oracle, "metric": metric,
            "knowledge": knowledge, "targets": n if targets is None else targets,
        },
    )  # fmt: skip


CHOICES: dict[str, tuple[str, ...]] = {
    "solution": ("smp", "rsfd"),
    "metric": ("uniform", "non-uniform"),
    "knowledge": ("full", "partial"),
    "calibrate": ("record", "attribute", "paper"),
    "axis": ("surveys", "epsilon"),
}
WORDS = {"equal attributes": Phrase("equal attributes"), "exact posterior": Phrase("exact posterior")}
TITLES = {"smp": "SMP", "rsfd": "RS+FD"}
METRICS = {
    "uniform": Phrase("Nobody reports a column twice (without replacement over surveys; the uniform metric)."),
    "non-uniform": Phrase(
        "A column may be drawn again; its first report is then sent again and tells nothing new (with replacement "
        "over surveys, memoised; the non-uniform metric)."
    ),
}
FAKE_NOTE = Phrase(
    "Every survey draws the real column afresh. Which one it is must be predicted first; the exact posterior needs no "
    "prediction."
)


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InvalidParameter(
            "reidentification: {name} must be one of {allowed}, got {got}.",
            name=name,
            allowed=", ".join(allowed),
            got=shorten(value),
        )


def _planned(surveys: Any, schema: Schema) -> Surveys:
    """The columns of each survey, by name."""
    columns = []
    for names in surveys if isinstance(surveys, list | tuple) else [surveys]:
        listed = list(names) if isinstance(names, list | tuple) else []
        unknown = [name for name in listed if name not in schema.private]
        if not listed or unknown or len(set(listed)) < len(listed):
            raise InvalidParameter(
                "reidentification: surveys must be a whole number, or for each survey the names of its columns, got "
                "{got}.",
                hint='surveys=5, or surveys=[["age", "sex"], ["sex", "region"]]',
                got=shorten(names),
            )
        columns.append(np.array([schema.private.index(name) for name in listed]))
    return Surveys(tuple(columns))


def _check_surveys(surveys: Any, d: int, metric: Metric, solution: str) -> int:
    check_count("surveys", surveys)
    if surveys > MAX_SURVEYS:
        raise InvalidParameter(
            "reidentification takes at most {most} surveys, got {got}.", most=MAX_SURVEYS, got=surveys
        )
    if solution == "smp" and metric == "uniform" and surveys > d:
        raise InvalidParameter(
            "{surveys} surveys over {column_names} columns: in the uniform metric nobody reports a column twice.",
            hint='fewer surveys, or metric="non-uniform"',
            surveys=surveys,
            column_names=d,
        )
    return int(surveys)


def _threat(solution: str, knowledge: Knowledge, d: int) -> ThreatModel:
    low, high = attribute_range(d)
    if knowledge == "full":
        knows = Phrase("all {columns} columns of every person's record, and the law of the reports", columns=d)
    else:
        knows = Phrase(
            "{low} to {high} of the {columns} columns of every person's record, and the law of the reports",
            low=low, high=high, columns=d,
        )  # fmt: skip
    if solution == "smp":
        sees = Phrase("one report a survey from each person, which column it is about, and that the reports belong "
                      "together")  # fmt: skip
    else:
        sees = Phrase("one report a survey from each person, in which one column is real and the others are invented, "
                      "and that the reports belong together")  # fmt: skip
    return ThreatModel(sees, knows, Phrase("whose reports these are"))


class _Attack:
    """One experiment: surveys drawn once, reports drawn for each epsilon."""

    def __init__(
        self, codes: Ints, schema: Schema, epsilons: Sequence[float], solution: str, oracle: str,
        surveys: int | Surveys,
        metric: Metric, knowledge: Knowledge, scores: Sequence[Score], top: Sequence[int], targets: int | None,
        calibrate: Calibrate,
    ) -> None:  # fmt: skip
        self.codes, self.schema, self.epsilons, self.solution, self.oracle = codes, schema, epsilons, solution, oracle
        self.surveys, self.again, self.partial, self.scores = (
            surveys,
            metric == "non-uniform",
            knowledge == "partial",
            scores,
        )
        self.top, self.targets, self.calibrate = top, targets, calibrate
        self.candidates = Candidates(codes, tuple(schema[name].size for name in schema.private))

    def run(self, rng: Random) -> Floats:
        """(epsilons, scores, surveys, top)."""
        n, d = self.codes.shape
        drawn = rng.child(0)
        surveys = self.surveys if isinstance(self.surveys, Surveys) else Surveys.draw(drawn, self.surveys, d)
        known = np.sort(some_of(drawn, d, *attribute_range(d))) if self.partial else np.arange(d)
        targets = np.arange(n) if self.targets is None else np.sort(shuffled(drawn, n)[: self.targets])
        column = reported_columns(surveys, n, d, self.again, drawn)
        attack = self._sampled if self.solution == "smp" else self._fake
        each = [attack(e, surveys, column, known, targets, rng.child(1, i)) for i, e in enumerate(self.epsilons)]
        return np.stack(each)

    def _sampled(
        self, epsilon: float, surveys: Surveys, column: Ints, known: Ints, targets: Ints, rng: Random
    ) -> Floats:
        mechanism = SMP(self.schema, epsilon, oracle=(self.oracle,) * self.codes.shape[1])
        channels = [part.channel for part in mechanism.parts]
        both = sampled_profiles(channels, self.codes[targets], column[targets], rng)
        return np.stack([self._matched(only_known(both[SCORES.index(s)], known), targets) for s in self.scores])

    def _fake(self, epsilon: float, surveys: Surveys, column: Ints, known: Ints, targets: Ints, rng: Random) -> Floats:
        names = self.schema.private
        mechanisms = [
            RSFD(self._part([names[j] for j in asked]), epsilon, self.oracle, self.calibrate)
            for asked in surveys.columns
        ]
        guessed, likelihoods = fake_profiles(mechanisms, surveys, self.codes, rng)
        out = []
        for score in self.scores:
            if score == "exact posterior":
                out.append(found_by_likelihood(likelihoods, self.codes, known, targets, self.top))
            else:
                some = Profiles(guessed.column[targets], _rows(guessed.value, targets), None, guessed.weight[targets])
                out.append(self._matched(only_known(some, known), targets))
        return np.stack(out)

    def _part(self, names: Sequence[str]) -> Schema:
        return Schema({name: self.schema[name] for name in names})

    def _matched(self, profiles: Profiles, targets: Ints) -> Floats:
        truth = profiles.agrees(self.codes[targets])
        return found(self.candidates.patterns(profiles), profiles, truth, self.top)


def _rows(value: Ints | None, rows: Ints) -> Ints | None:
    return None if value is None else value[rows]


def _example(**settings: Any) -> AttackResult:
    schema = Schema({"a": Categories(3), "b": Categories(4), "c": Categories(2), "d": Categories(5)})
    i = np.arange(60)
    people = {"a": i % 3, "b": (i // 3) % 4, "c": (i * 7 // 5) % 2, "d": (i * i) % 5}
    return reidentification(people, schema, surveys=2, top=[1, 3], repetitions=2, rng=Random.seeded(18), **settings)


EXAMPLES = (
    lambda: _example(epsilon=[1.0, 4.0]),
    lambda: _example(epsilon=4.0, oracle="OLH", metric="non-uniform", knowledge="partial"),
    lambda: _example(epsilon=4.0, solution="rsfd", targets=20, axis="epsilon"),
)
