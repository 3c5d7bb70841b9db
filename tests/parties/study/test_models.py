"""Models in a study: what is asked next follows from released sums alone, for everybody alike, and never beyond what
was agreed."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

import murmure as mu
from murmure import catalogue
from murmure.core.errors import InvalidParameter, OutsideDomain
from murmure.core.types import Model
from murmure.econometrics import model as models
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.formula import read_formula
from murmure.econometrics.errors import Collinear, FitFailed, NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.models.cox import Cox
from murmure.econometrics.models.describe import Describe
from murmure.econometrics.models.ecdf import ECDF
from murmure.econometrics.models.fixed_effects import FixedEffects
from murmure.econometrics.models.ols import OLS
from murmure.econometrics.models.quantiles import Quantiles
from murmure.econometrics.models.t_test import TTest
from murmure.econometrics.results.provenance import How
from murmure.econometrics.results.result import ModelResult
from murmure.parties.party.local_sums import compute_local_sums, sums_for_plan
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import ForbiddenColumn, NoiseRequired, OtherRows, TooManySums
from murmure.parties.party.runner import rows_fingerprint
from murmure.parties.study.cohort_guard import exact_columns, sum_names, sum_request
from murmure.parties.study.costs import charges_of
from murmure.parties.study.document import Study
from murmure.parties.study.json_codec import FIELDS
from murmure.parties.study.questions import by_party
from murmure.run.masked_sum import party_sum
from murmure.secure.errors import BadMessage, CohortRefused
from murmure.secure.identity import Identity
from murmure.show.document import Table
from murmure.show.phrase import Phrase

IDENTITIES = [Identity.from_bytes(bytes([i]) * 32) for i in range(4)]
OFFICE = IDENTITIES[0].card("Registry")
CARDS = tuple(identity.card(f"Hospital {i}") for i, identity in enumerate(IDENTITIES[1:], 1))
MASKS = mu.PairwiseMasks(3, dropouts=0, rows=1000)
SCHEMA = mu.Schema({"stay": mu.Integers(0, 60), "age": mu.Integers(18, 99), "ward": mu.Categories(["A", "B"])})
ROWS = [
    {
        "stay": [(7 * i * i + 3 * i + k) % 41 for i in range(20)],
        "age": [18 + (i * 29 + 5 * k) % 80 for i in range(20)],
        "ward": ["AB"[(i * i + i // 3 + k) % 2] for i in range(20)],
    }
    for k in range(3)
]
REGRESSION = OLS(read_formula("stay ~ age + ward", SCHEMA))


# -- a model of several rounds, whose steps are easy to see ------------------------------------------------------------


@dataclass(frozen=True)
class Said(ModelResult):
    """How far rows lie from their mean, rounded."""

    about: int
    squares: Fraction
    how: How | None = None

    def tables(self) -> list[Table]:
        if self.squares < 0:
            raise ValueError("a sum of squares")
        return [Table("", ("", "value"), (("about", self.about), ("squares", self.squares)))]


@dataclass(frozen=True)
class Spread(Model):
    """First the mean; then the sum of squares around it, which nobody can ask before. fails: how it goes wrong."""

    noise_refusal: ClassVar[str | None] = "it is only for tests"
    domain: mu.Schema
    fails: str = ""

    @property
    def rounds(self) -> int:
        return 2 if self.fails != "too many rounds" else 1

    def in_words(self) -> Phrase:
        return Phrase("how far ages lie from their mean")

    def steps(self) -> Generator[Any, Any, Said]:
        first = yield mu.Sums(self.domain, ("1", "age"))
        about = round(first["age"] / first.n)
        if self.fails == "no variation":
            raise NoVariation("column 'age' is the same for everybody.", columns=["age"])
        if self.fails == "mistake":
            about //= 0
        if self.fails == "another column":
            yield mu.Sums(SCHEMA, ("stay",))
        if self.fails == "too many sums":
            yield mu.Sums(self.domain, tuple(f"age == {age}" for age in range(20, 30)))
        if self.fails == "refused":
            yield mu.Sums(self.domain, ("nothing",))
        second = yield mu.Sums(self.domain, (f"(age - {about}) ** 2",))
        return Said(about, second.sums[0] * (-1) ** (self.fails == "printing"))


AGES = mu.Schema({"age": mu.Integers(0, 127)})


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the model stood in the catalogue."""
    monkeypatch.setitem(catalogue.MODELS, "Spread", __name__)


def study_of(*models: Any, plans: tuple[mu.Plan, ...] = (), **terms: Any) -> Study:
    terms = {"least_rows": 20, "parties": MASKS} | terms
    return Study("Stay", "To see.", OFFICE, CARDS, plans, models=models, **terms)


def played(study: Study, rows: list[Any] = ROWS) -> list[list[int]]:
    """All rounds: what parties add up, as if there were no masks."""
    released: list[list[int]] = []
    while (plan := study.plan(len(released) + 1, released)) is not None:
        values = [party_sum(plan, one).values for one in rows]
        released.append([sum(column) for column in zip(*values, strict=True)])
    return released


def pooled(name: str) -> list[Any]:
    return [value for rows in ROWS for value in rows[name]]


# -- the document ------------------------------------------------------------------------------------------------------


def test_a_study_of_models_travels_whole() -> None:
    """JSON and back, signed and opened: the same study, the same digest. Models alone are a study."""
    study = study_of(REGRESSION)

    for again in (Study.from_json(study.to_json()), Study.open(study.signed(IDENTITIES[0]))):
        assert again == study and again.digest == study.digest and again.models == (REGRESSION,)
        assert again.sharing == MASKS
    assert pickle.loads(pickle.dumps(study)) == study == copy.deepcopy(study)
    other = study_of(OLS(read_formula("stay ~ age", SCHEMA)))
    assert other.digest != study.digest


def test_a_study_without_models_is_written_as_before() -> None:
    """No new key: digests that people compared stay what they were."""
    plain = Study("Stay", "To see.", OFFICE, CARDS, (mu.Plan(mu.Sums(SCHEMA, ("age",)), parties=MASKS),))

    assert set(json.loads(plain.to_json())) == FIELDS
    assert plain.digest.hex() == "51192c988f3cf6dfa46a63d75875e0b562ac2ea84b60f7aa1287688eec1728ed"  # of release 0.4
    with_key = json.loads(plain.to_json()) | {"models": [], "parties": None, "noises": []}
    with pytest.raises(BadMessage):
        Study.from_json(json.dumps(with_key))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"models": [{"type": "Popen", "args": ["ls"]}]}, "unknown model 'Popen'"),
        ({"models": [{"type": "OLS"}]}, "OLS is written with"),
        ({"models": 5}, "must be a list"),
        ({"noises": [None, None]}, "a noise or None for each model"),
        ({"noises": [{**vars(mu.Central(1.0)), "epsilon": -1}]}, "Central.epsilon"),
        ({"noises": [{"epsilon": 1.0}]}, "Central is written with"),
        ({"noises": [{"colour": "red"}]}, "Central is written with"),
        ({"parties": {"type": "Popen"}}, "unknown part"),
        ({"parties": None}, "unknown part"),
    ],
)
def test_a_document_with_other_models_is_refused(change: dict[str, Any], part: str) -> None:
    held = json.loads(study_of(REGRESSION).to_json()) | change

    with pytest.raises(BadMessage) as refusal:
        Study.from_json(json.dumps(held))
    assert part in str(refusal.value)


def test_a_study_asks_something() -> None:
    with pytest.raises(InvalidParameter, match="1 to 1000 plans"):
        study_of()
    with pytest.raises(InvalidParameter, match="must be a model"):
        study_of(mu.Sums(SCHEMA, ("age",)))
    with pytest.raises(InvalidParameter, match="contradicts the plans"):
        study_of(REGRESSION, plans=(mu.Plan(mu.Sums(SCHEMA, ("age",)), parties=mu.PairwiseMasks(3, dropouts=0)),))


# -- round after round -------------------------------------------------------------------------------------------------


def test_a_regression_is_that_of_the_pooled_rows() -> None:
    """One round; what the study makes of its sums is what the model says in the clear, figure by figure."""
    study = study_of(REGRESSION)
    (fit,) = study.outcome(played(study), present=3)
    clear = ask(REGRESSION, {name: pooled(name) for name in SCHEMA})

    assert fit.result.coefficients == clear.coefficients and fit.result.covariance == clear.covariance
    assert (study.rounds, fit.rounds, fit.over, fit.error) == (1, (1,), True, None)
    assert (fit.result.how.parties, fit.result.how.present, fit.result.how.rows) == (3, 3, 60)
    assert "masked sums between 3 parties" in fit.result.summary()


def test_plans_come_first_and_a_question_follows_from_the_sums(known: None) -> None:
    """A plan, a model of one round, and one whose second question holds the mean that the first released."""
    plan = mu.Plan(mu.Sums(SCHEMA, ("stay",)), parties=MASKS)
    study = study_of(REGRESSION, Spread(AGES), plans=(plan,), ratio=Fraction(1))
    released = played(study)
    turns = [study.turn(number, released) for number in (1, 2, 3, 4, 5)]

    assert study.rounds == 4 and len(released) == 4 and turns[4] is None
    assert [turn and (turn.round, turn.question) for turn in turns[:4]] == [(1, 1), (2, 2), (3, 3), (4, 3)]
    mean = round(Fraction(sum(pooled("age")), 60))
    assert turns[3] is not None and turns[3].plan.statistic.expressions == (f"(age - {mean}) ** 2",)
    _, spread = study.outcome(released)
    assert spread.result.squares == sum((age - mean) ** 2 for age in pooled("age")) and spread.rounds == (3, 4)


def test_what_is_asked_is_the_same_for_everybody(known: None) -> None:
    """Two copies of the document, one of which was asked about other sums before, come to the same session."""
    study = study_of(Spread(AGES))
    again = Study.open(study.signed(IDENTITIES[0]))
    released = played(study)
    other = [[60, 60, 2400], [60, 7]]

    assert again.plan(2, other[:1]) != study.plan(2, released)
    assert again.plan(2, released) == study.plan(2, released)
    assert again.plan(2, other).statistic.expressions == ("(age - 40) ** 2",)
    for _ in range(2):
        mine, theirs = (one.session(2, (0, 1, 2), released[:1]) for one in (study, again))
        assert mine.digest == theirs.digest and mine.query.hex() == study.plan(2, released).digest
    assert again.session(2, (0, 1, 2), other[:1]).digest != mine.digest
    assert again.outcome(released)[0].result == study.outcome(released)[0].result


def test_a_model_says_nothing_before_its_last_sum(known: None) -> None:
    """Whoever looks while it runs sees that it runs; sums that a later look brings change nothing that was seen."""
    study = study_of(Spread(AGES))
    released = played(study)

    for upto, over in ((2, True), (1, False), (0, False), (2, True)):
        (fit,) = study.outcome(released[:upto])
        assert fit.over is over
    with pytest.raises(InvalidParameter, match="depends on the sums of 1 rounds, got 0"):
        study.plan(2, [])
    with pytest.raises(InvalidParameter, match="rounds 1 to 2"):
        study.plan(4, released)


def examples() -> Iterator[Any]:
    """Of every model that a study may name."""
    for module in dict.fromkeys(catalogue.MODELS.values()):
        for number, example in enumerate(importlib.import_module(module).EXAMPLES):
            yield pytest.param(example, id=f"{type(example.model).__name__}-{number}")


@pytest.mark.parametrize("example", list(examples()))
def test_every_model_can_be_asked_in_a_study(example: Any) -> None:
    """It travels, is told in two languages, keeps to what was agreed, and says what it says in one process."""
    if by_party(example.model) is not None:  # products of what each party has: of four honest ones or more
        with pytest.raises(mu.MurmureError, match="at least 4 honest parties"):
            study_of(example.model, least_rows=10, ratio=Fraction(1000))
        return
    study = study_of(example.model, least_rows=10, ratio=Fraction(1000))
    assert len(study.in_words()) == len(study.in_words("fr"))
    again = Study.open(study.signed(IDENTITIES[0]))
    n = len(next(iter(example.rows.values())))
    parts = [{name: held[i * n // 3 : (i + 1) * n // 3] for name, held in example.rows.items()} for i in range(3)]
    (fit,) = study.outcome(played(again, parts), present=3)

    assert fit.error is None, fit.error
    rehearsed = ask(example.model, parts, privacy=mu.Secure(dropouts=0, rows=1000, rows_are_public=True)).to_dict()
    assert "whoever ran this held every row" in rehearsed["how"].pop("rehearsal")
    assert rehearsed["how"]["guarantees"].pop("whoever ran it")["epsilon"] == "inf"
    assert fit.result.to_dict() == rehearsed


# -- fits that fail ----------------------------------------------------------------------------------------------------


def test_collinear_columns_end_the_model_with_their_names() -> None:
    """Twice a column and the column: no unique solution, which everybody reads off the same sums."""
    schema = mu.Schema({"stay": mu.Integers(0, 60), "age": mu.Integers(18, 99), "twice": mu.Integers(36, 198)})
    study = study_of(OLS(read_formula("stay ~ age + twice", schema)), REGRESSION, ratio=Fraction(1))
    rows = [one | {"twice": [2 * age for age in one["age"]]} for one in ROWS]
    released = played(study, rows)
    first, second = study.outcome(released)

    assert isinstance(first.error, Collinear) and set(first.error.columns) == {"age", "twice"}
    assert first.result is None and first.rounds == (1,)
    assert len(released) == 2 and second.result.n == 60, "the next model is asked all the same"


@pytest.mark.parametrize(
    ("fails", "kind", "part", "rounds"),
    [
        ("no variation", NoVariation, "'age' is the same for everybody", 1),
        ("mistake", FitFailed, "could not continue (ZeroDivisionError", 1),
        ("printing", FitFailed, "could not continue (ValueError: 'a sum of squares')", 2),
        ("another column", FitFailed, "asks about 'stay', which was not agreed", 1),
        ("too many sums", FitFailed, "asks for 12 sums in all, but 4 were agreed", 1),
        ("too many rounds", FitFailed, "more than the 1 rounds that were agreed", 1),
        ("refused", InvalidParameter, "nothing", 1),
    ],
)
def test_whatever_goes_wrong_ends_alike_for_everybody(
    known: None, fails: str, kind: Any, part: str, rounds: int
) -> None:
    """No exception passes: the study is over, and the reason is what everybody computes."""
    study = study_of(Spread(AGES, fails))
    released = played(study)
    (fit,) = study.outcome(released)

    assert len(released) == rounds and study.plan(rounds + 1, released) is None
    assert isinstance(fit.error, kind) and part in str(fit.error) and fit.result is None
    (again,) = Study.open(study.signed(IDENTITIES[0])).outcome(released)
    assert str(again.error) == str(fit.error)


# -- what is agreed ----------------------------------------------------------------------------------------------------


def test_words_tell_the_model() -> None:
    """The formula, every column of the design, settings, rounds and sums, in two languages."""
    study = study_of(OLS(read_formula("stay ~ age + ward", SCHEMA), errors="HC1"))
    english, french = study.in_words(), study.in_words("fr")

    assert len(english) == len(french) and not set(english) & set(french)
    words, mots = "\n".join(english), "\n".join(french)
    for part in (
        "the asker writes this as “stay ~ age + ward”",
        "“1”, “age”, “ward == 'B'” (in the result it is called “ward[T.B]”)",
        "what they explain is “stay”",
        "errors = “HC1”",
        "at most 2 rounds",
        f"at most {study.exact_sums} sums in all",
        "follows from the totals of the rounds before it",
        "“ward” (one of “A” or “B”)",
        "In all, up to",
        "answer the first question answer all of them",
    ):
        assert part in words, part
    plain = words.replace('"', "")  # names are quoted inside of what is quoted
    assert "Question 1 of 1: OLS, “a least-squares regression of stay on a constant, age, ward == 'B'" in plain
    for part in (
        "Question 1 sur 1\u00a0: OLS, «\u202fune régression",
        "au plus 2 tours",
        "découle des totaux des tours précédents",
    ):
        assert part in mots, part
    assert "WARNING" not in words


def test_a_name_that_a_stranger_chose_closes_no_quotation_mark() -> None:
    """What a design calls its columns is data: it must not read like a sentence of ours."""
    names = ("Intercept", "age”. Nothing leaves your table. “", "b")
    lying = OLS(replace(REGRESSION.design, names=names))
    line = next(line for line in study_of(lying).in_words() if "its equations" in line)

    assert '“age” (in the result it is called “age". Nothing leaves your table. "”)' in line
    assert line.count("“") == line.count("”") == 5
    with pytest.raises(InvalidParameter, match="invisible characters"):
        study_of(OLS(replace(REGRESSION.design, names=("Intercept", "a\u202eb", "c"))))


def test_words_tell_expressions_and_not_what_the_asker_calls_them() -> None:
    """A design says that salaries are ages: the sentence that people read says salaries."""
    schema = mu.Schema({"stay": mu.Integers(0, 60), "age": mu.Integers(18, 99), "pay": mu.Integers(0, 9999)})
    design = Design(schema, "stay ~ age", "pay > 5000", "stay", ("Intercept", "age", "b"), ("1", "pay", "pay ** 2"))
    words, mots = (study_of(OLS(design), ratio=Fraction(9)).in_words(language) for language in ("en", "fr"))

    assert any(
        line.replace('"', "").endswith("regression of pay > 5000 on a constant, pay, pay ** 2”.") for line in words
    )
    assert any("“1”, “pay” (in the result it is called “age”), “pay ** 2” (in the res" in line for line in words)
    assert any("explain is “pay > 5000” (in the result it is called “stay”)" in line for line in words)
    assert any("«\u202fpay\u202f» (le résultat l’appelle «\u202fage\u202f»)" in line for line in mots)


def test_letters_that_are_read_as_others_are_refused_wherever_an_expression_stands() -> None:
    """Python reads full-width letters as plain ones; in a question at places, and in a design of a later round, too."""
    schema = mu.Schema({"age": mu.Integers(18, 99), "t": mu.Integers(1, 5), "e": mu.Integers(0, 1)})
    for design, time in ((Design(schema, "age", "", "", ("x",), ("\uff41ge",)), "t"), (None, "\uff54")):
        model = Cox(design or Design(schema, "age", "", "", ("age",), ("age",)), time, "e", rounds=3)
        with pytest.raises(InvalidParameter, match="look like others"):
            study_of(model, ratio=Fraction(1000))


# -- what is asked of each party ---------------------------------------------------------------------------------------


def test_words_say_what_products_of_own_totals_tell() -> None:
    """Errors by party and levels of parties: nobody is told that the totals of one organisation stay hidden."""
    design, five = REGRESSION.design, [Identity.from_bytes(bytes([9 + i]) * 32).card(f"H{i}") for i in range(5)]

    def asked(*models: Any) -> tuple[str, str]:
        masks = mu.PairwiseMasks(5, dropouts=0, rows=1000)
        study = Study("Stay", "To see.", OFFICE, tuple(five), (), 20, Fraction(9), models, masks)
        return "\n".join(study.in_words()), "\n".join(study.in_words("fr"))

    hidden = "nobody learns the totals of one organisation"
    caché = "personne n’apprend les totaux d’une seule organisation"
    words, mots = asked(OLS(design))
    assert hidden in words and caché in mots and "narrow down" not in words
    for model, said, dit in (
        (
            OLS(design, errors="cluster"),
            "Question 2 adds up products of each organisation’s own totals",
            "totaux propres",
        ),
        (
            FixedEffects(design),
            "Question 2 adds up products from which each organisation has taken out its",
            "retranché",
        ),
    ):
        words, mots = asked(OLS(design), model)
        assert said in words and "Anyone who knew those of all but two could work out both" in words
        assert dit in mots and "en déduire ceux des deux dernières" in mots
        assert hidden not in words and caché not in mots


def test_few_parties_are_not_asked_for_products_of_own_totals() -> None:
    """Four honest ones, of whom a party that colludes with nobody is none."""
    cluster = OLS(REGRESSION.design, errors="cluster")
    for model in (cluster, FixedEffects(REGRESSION.design)):
        for terms in ({}, {"parties": mu.PairwiseMasks(3, dropouts=0, colluders=0, rows=1000)}):
            with pytest.raises(mu.MurmureError, match="need at least 4 honest parties"):
                study_of(model, **terms)
        with pytest.raises(mu.MurmureError, match="need at least 4 honest parties, but there may be only 3"):
            ask(model, ROWS + ROWS[:1], privacy=mu.Secure(dropouts=0, colluders=0))


def test_a_coordinator_that_lies_chooses_no_question() -> None:
    """What a later round asks follows from totals that the coordinator tells: if it may lie, there is one round."""
    lying = mu.PairwiseMasks(3, dropouts=0, coordinator="lying", rows=1000)
    robust = OLS(REGRESSION.design, errors="HC1")

    assert study_of(REGRESSION, parties=lying).rounds == 1
    with pytest.raises(mu.MurmureError, match=r"up to 2 rounds.*could choose what is asked next") as refused:
        study_of(robust, parties=lying)
    assert "coordinator_may_lie = false" in str(refused.value)
    with pytest.raises(mu.MurmureError, match="could choose what is asked next"):
        ask(robust, ROWS, privacy=mu.Secure(coordinator="lying", dropouts=0))
    assert ask(REGRESSION, ROWS, privacy=mu.Secure(coordinator="lying", dropouts=0, rows_are_public=True)).n == 60


def test_no_row_stops_a_later_round() -> None:
    """False totals make the residual of whoever lies in ward B huge: who holds such a row answers like the others."""
    study = study_of(OLS(REGRESSION.design, errors="HC1"), parties=mu.PairwiseMasks(3, dropouts=0, rows=1 << 48))
    rows = [one | {"ward": ["A"] * 20} for one in ROWS[:2]] + [ROWS[2] | {"ward": ["A"] * 19 + ["B"]}]
    own = [compute_local_sums(study, one) for one in rows]
    first = study.plan(1)
    assert first is not None
    n, b = 1 << 49, (10, 0, 1 << 30)  # the coefficients that the coordinator wants
    gram = [[n, 54 * n, 1], [54 * n, (54**2 + 400) * n, 50], [1, 50, 1]]
    c = [sum(x * y for x, y in zip(row, b, strict=True)) for row in gram]
    whole = [[*row, v] for row, v in zip(gram, c, strict=True)] + [[*c, sum(map(int.__mul__, b, c)) + n]]
    sums = {first.statistic.figure[i][j]: whole[i][j] for i in range(4) for j in range(4)}
    forged = [n, *(sums[k] for k in range(first.statistic.width))]
    second = study.plan(2, [forged])
    assert second is not None

    vectors = [sums_for_plan(one, second).values for one in own]  # nobody refuses

    total = [sum(column) for column in zip(*vectors, strict=True)]
    assert [one[-1] for one in vectors] == [0, 0, 1], "the row is counted, behind the masks"
    (fit,) = study.outcome([forged, total])
    assert isinstance(fit.error, OutsideDomain) and "1 row adds more than 2**62" in str(fit.error)


def test_columns_of_later_rounds_are_read_before_anything_is_sent() -> None:
    """A value that does not fit stops its party at joining, and not in a round where all would see who stops."""
    schema = mu.Schema({"age": mu.Integers(18, 99), "stay": mu.Integers(0, 30)})
    study = study_of(Describe(schema, ("age", "stay"), apart=True), ratio=Fraction(9))
    first = study.plan(1)

    assert first is not None and first.step.columns == ("age",) and study.rounds == 2
    with pytest.raises(OutsideDomain, match="stay"):
        compute_local_sums(study, ROWS[0])  # stays of up to 40 days
    assert len(compute_local_sums(study, ROWS[0] | {"stay": [3] * 20})) == 1


def test_rows_that_change_between_two_rounds_are_noticed(known: None, tmp_path: Path) -> None:
    """The difference of two rounds would tell about who came, or left, in the meantime."""

    def write(ages: list[int]) -> None:
        file.write_text("age\n" + "".join(f"{age}\n" for age in ages))

    file, ages = tmp_path / "rows.csv", ROWS[0]["age"]
    study = study_of(Spread(AGES))
    plan = study.plan(2, played(study))
    assert plan is not None
    write(ages)
    own = compute_local_sums(study, file)
    before = sums_for_plan(own, plan).values
    write(ages[::-1])  # the same people
    assert sums_for_plan(own, plan).values == before
    for other in ([*ages, 97], ages[1:], [*ages[1:], ages[0] + 1]):
        write(other)
        with pytest.raises(OtherRows, match="have changed since the study began"):
            sums_for_plan(own, plan)
    write(ages)
    assert sums_for_plan(own, plan).values == before


def test_totals_that_no_rows_have_end_a_model_at_once() -> None:
    """Held against public bounds, for everybody alike: squares below 0, products beyond Cauchy, too many rows."""
    study = study_of(REGRESSION, ratio=Fraction(9))
    (true,) = played(study)
    statistic: Any = study.questions[0].plan.statistic
    squares = 1 + statistic.figure[1][1]  # of ages
    product = 1 + statistic.figure[1][3]

    def told(**changes: int) -> str:
        (fit,) = study.outcome([[changes.get(f"at{i}", v) for i, v in enumerate(true)]])
        assert isinstance(fit.error, FitFailed) and "no rows can have these totals" in str(fit.error), fit
        return str(fit.error)

    assert study.outcome([true])[0].error is None
    assert "where the study allows 60 to 3_000" in told(at0=59) and "3_000" in told(at0=3001)
    assert "outside the bounds of 60 rows" in told(**{f"at{squares}": -1})
    assert "outside the bounds" in told(**{f"at{squares}": 60 * 99 * 99 + 1})
    assert "larger than the sums of squares allow" in told(**{f"at{squares}": 1})
    assert "larger than the sums of squares allow" in told(**{f"at{product}": 60 * 99 * 60})
    counts = study_of(ECDF(AGES, "age"), ratio=Fraction(9))
    (true,) = played(counts)
    (fit,) = counts.outcome([[true[0], -1, true[1] + 1, *true[2:]]])
    assert "counts of rows are below 0" in str(fit.error)


def test_a_step_that_is_broken_off_is_taken_again(known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody presses Ctrl-C while the next question is worked out: the study is not over by that."""
    study = study_of(Spread(AGES))
    released = played(study_of(Spread(AGES)))
    assert study.turn(1) is not None
    with monkeypatch.context() as patch:
        patch.setattr(
            "murmure.parties.study.replay._check_agreed", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            study.turn(2, released)
    assert study.turn(2, released) is not None and study.turn(3, released) is None


# -- strangers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1e9999999", "-1E-99999999", "1e+9_999_999", "7" * 20_000, 1 << 2000])
def test_a_short_text_of_a_long_number_is_refused_at_once(number: Any) -> None:
    held = json.loads(study_of(TTest(AGES, "age")).to_json())
    held["models"][0]["mu"] = number

    with pytest.raises(BadMessage, match=r"too long|2001 bits"):
        Study.from_json(json.dumps(held))


def test_what_cannot_be_told_in_words_is_refused_where_a_study_is_read() -> None:
    held = json.loads(study_of(Quantiles(AGES, "age", ("1/2",)), ratio=Fraction(9)).to_json())
    held["models"][0]["shares"] = [{"type": "Fraction", "value": "1/2"}, "1/3"]

    with pytest.raises(BadMessage, match="cannot be described in words"):
        Study.from_json(json.dumps(held)).in_words()


def test_looking_at_a_study_takes_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are made one after the other, and none after they are too much."""
    several = [replace(REGRESSION, errors=kind) for kind in ("nonrobust", "HC0", "HC1", "HC3")]
    held = json.loads(study_of(*several, ratio=Fraction(9)).to_json())
    many = json.loads(study_of(REGRESSION).to_json())
    many["models"] = many["models"] * 101
    many["noises"] = many["noises"] * 101
    made: list[Any] = []
    read = models.model_from_dict
    monkeypatch.setattr(models, "model_from_dict", lambda held: (made.append(held), read(held))[1])
    monkeypatch.setattr("murmure.parties.study.model_checks.MAX_FIRST_WORDS", 50)

    with pytest.raises(BadMessage, match="take more than 50 words"):
        Study.from_json(json.dumps(held))
    assert len(made) == 3
    with pytest.raises(BadMessage, match="at most 100 models"):
        Study.from_json(json.dumps(many))
    assert len(made) == 3
    with pytest.raises(InvalidParameter, match="take more than 50 words"):
        study_of(*several, ratio=Fraction(9))


def test_the_most_that_a_model_may_ask_counts(known: None) -> None:
    """All rounds count, whether they will be needed or not; a model may say itself how much that is."""
    study = study_of(Spread(AGES))

    assert study.exact_sums == 2 * 2 and study.rounds_vary
    assert REGRESSION.rounds == 1 and study_of(REGRESSION).exact_sums > 8
    with pytest.raises(CohortRefused):
        study_of(REGRESSION, least_rows=5).check_ratio()

    class Wider(Spread):
        max_sums = 12  # ten in the second round, each of which counts once

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(catalogue.MODELS, "Wider", __name__)
        wider = study_of(Wider(AGES, "too many sums"))
        assert wider.exact_sums == 12
        assert len(played(wider)) == 2  # the ten sums were agreed; a third round was not


def test_guards_know_all_columns_of_a_model(known: None) -> None:
    """Own rules are checked against all that a model may read; a cohort is held against its columns."""
    study = study_of(Spread(AGES))
    released = played(study)
    lax = Policy(minimum_parties=3)

    lax.check(study)
    with pytest.raises(ForbiddenColumn, match="question 1"):
        Policy(minimum_parties=3, forbidden=("AGE",)).check(study)
    with pytest.raises(NoiseRequired):
        Policy(minimum_parties=3, require_noise=True).check(study)
    turns = [study.turn(number, released) for number in (1, 2)]
    first, second = (sum_request(study, turn) for turn in turns if turn is not None)
    assert first.questions == second.questions and set(second.columns) == {"age", "the number of rows"}
    assert second.sums == 2 and exact_columns(study) == {"age"}
    assert sum_names(study.questions[0]) != sum_names(study_of(REGRESSION).questions[0])


def test_own_sums_of_later_rounds_are_found_when_they_are_asked(known: None) -> None:
    """The first are known at joining, and by them the same rows are known again."""
    study = study_of(Spread(AGES))
    released = played(study)
    own = compute_local_sums(study, ROWS[0])
    plan = study.plan(2, released)
    assert plan is not None
    later = sums_for_plan(own, plan)

    assert len(own) == 1 and sums_for_plan(own, study.plan(1)) is own[0]
    assert later.values[0] == 20 and later.plan == plan
    mark = rows_fingerprint(IDENTITIES[1], study.digest, own)
    assert mark == rows_fingerprint(IDENTITIES[1], study.digest, compute_local_sums(study, ROWS[0]))
    assert mark != rows_fingerprint(IDENTITIES[1], study.digest, compute_local_sums(study, ROWS[1]))


# -- noise -------------------------------------------------------------------------------------------------------------


def test_noise_of_a_model_is_split_over_its_rounds() -> None:
    """On a coarse grid, in shares; what it costs is known beforehand, and hides rows."""
    study = study_of(REGRESSION, noises=(mu.Central(2.0),))
    plan = study.plan(1)
    assert plan is not None
    (charge,) = charges_of(study)

    assert plan.curator == mu.DiscreteLaplace(2.0) and plan.statistic.bits == 14 and plan.parties == MASKS
    assert charge.cost.epsilon <= 2.0 and study.hides_rows == (True,) and study.exact_sums == 0
    again = Study.open(study.signed(IDENTITIES[0]))
    assert again == study and again.noises == (mu.Central(2.0),)
    words = "\n".join(study.in_words())
    assert "share of random noise (DiscreteLaplace)" in words and "differential privacy for one row" in words
    assert study_of(REGRESSION, noises=(mu.Central(20.0),)).hides_rows == (False,)


def test_a_model_that_noise_cannot_protect(known: None) -> None:
    with pytest.raises(InvalidParameter, match="cannot be asked with noise: it is only for tests"):
        study_of(Spread(AGES), noises=(mu.Central(1.0),))
    with pytest.raises(InvalidParameter, match="must be a Central"):
        study_of(REGRESSION, noises=(1.0,))
    with pytest.raises(InvalidParameter, match="does not protect the same unit"):
        study_of(REGRESSION, REGRESSION, noises=(mu.Central(1.0), mu.Central(1.0, relation="replace")))


# -- more sums than rows -----------------------------------------------------------------------------------------------


def test_rows_that_are_public_may_be_asked_for_more_sums_than_there_are() -> None:
    """Said first, in both languages, and refused by a party that did not say so itself."""
    study = study_of(REGRESSION, least_rows=1, ratio=Fraction(100))
    study.check_ratio()

    assert study.in_words()[0].startswith("WARNING: more sums than rows")
    assert "can solve for single rows. Agree only if the rows are public" in study.in_words()[0]
    assert study.in_words("fr")[0].startswith("ATTENTION\u00a0: plus de sommes que de lignes")
    assert "N’acceptez que si les lignes sont publiques" in study.in_words("fr")[0]
    with pytest.raises(TooManySums) as refusal:
        Policy(minimum_parties=3, allow_more_sums=True).check(study)
    assert "--rows-are-public" in str(refusal.value.hint)
    Policy(minimum_parties=3, rows_are_public=True).check(study)
    with pytest.raises(InvalidParameter, match="at most 1000"):
        study_of(REGRESSION, ratio=Fraction(1001))


# -- study.toml --------------------------------------------------------------------------------------------------------

TOML = """
name = "Stay"
purpose = "To plan beds."
minimum_parties = 3
least_rows = 120
rows = 1000

[columns.stay]
type = "integers"
low = 0
high = 60

[columns.age]
type = "integers"
low = 18
high = 99

[columns.ward]
type = "categories"
values = ["A", "B"]

"""


def written(folder: Path, text: str) -> Study:
    (folder / "s.toml").write_text(TOML + text)
    return Study.from_toml(folder / "s.toml", CARDS, OFFICE)


def test_a_file_names_models(tmp_path: Path) -> None:
    """By a word, a formula and options; queries come first, and need not be there."""
    both = '[[queries]]\nsums = ["age"]\n[[models]]\nmodel = "ols"\nformula = "stay ~ age"\n'
    study = written(tmp_path, both + '[[models]]\nmodel = "OLS"\nformula = "stay ~ age + ward"\nerrors = "HC1"\n')

    assert len(study.plans) == 1 and len(study.models) == 2
    assert study.models[0] == OLS(read_formula("stay ~ age", SCHEMA))
    assert study.models[1] == OLS(read_formula("stay ~ age + ward", SCHEMA), "HC1")
    assert study.noises == (None, None)
    alone = written(tmp_path, '[[models]]\nmodel = "ols"\nformula = "stay ~ age"\n')
    assert alone.plans == () and alone.sharing == MASKS


def test_noise_of_the_file_is_shared_by_queries_and_models(tmp_path: Path) -> None:
    both = '[[queries]]\nsums = ["age"]\n[[models]]\nmodel = "ols"\nformula = "stay ~ age"\n'
    study = written(tmp_path, both + "[noise]\nepsilon = 1.0\n")
    own = written(tmp_path, both + 'noise = { law = "DiscreteGaussian", epsilon = 0.5, delta = 1e-6 }\n')

    assert study.plans[0].curator.epsilon == 0.5 and study.noises == (mu.Central(0.5),)
    assert own.plans[0].curator is None and own.noises == (mu.Central(0.5, 1e-6),)


@pytest.mark.parametrize(
    ("text", "part", "hint"),
    [
        ('model = "olz"\nformula = "stay ~ age"', "model 1: there is no model 'olz'", "did you mean ols?"),
        ('formula = "stay ~ age"', "model 1: model must name a model; it is left out", 'model = "ols"'),
        ('model = "ols"', "model 1: ols.formula must be text; it is left out", 'formula = "stay ~ age + ward"'),
        ('model = "ols"\nformula = "stay ~ aeg"', "model 1: formula 'stay ~ aeg'", "age"),
        ('model = "ols"\nformula = "stay ~ age"\nerorrs = "HC1"', "model 1: ols takes no 'erorrs'", "errors"),
        ('model = "ols"\nformula = "stay ~ age"\nerrors = "HC9"', "model 1: ols.errors must be one of", ""),
        ('model = "ols"\nformula = 5', "model 1: ols.formula must be text, got 5", ""),
        (
            'model = "ols"\nformula = "stay ~ age"\nnoise = { law = "Skellam", rho = 0.5 }',
            "model 1: a model takes DiscreteLaplace and epsilon",
            "DiscreteLaplace",
        ),
        ('model = "ols"\nformula = "stay ~ age"\nnoise = 3', "model 1, noise: noise must be a table", ""),
    ],
)
def test_a_wrong_file_names_the_model_and_the_key(tmp_path: Path, text: str, part: str, hint: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        written(tmp_path, f"[[models]]\n{text}\n")

    assert f"s.toml, {part}" in str(refusal.value) and str(refusal.value).count("s.toml") == 1
    assert hint in (refusal.value.hint or "")


def test_models_are_tables(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"models must be tables \[\[models\]\]"):
        written(tmp_path, "models = 5\n[[queries]]\nsums = ['age']\n".replace("models = 5\n", "") + "[models]\na = 1\n")
    with pytest.raises(InvalidParameter, match=r"queries must be tables"):
        written(tmp_path, "")
