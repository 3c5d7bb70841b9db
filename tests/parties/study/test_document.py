"""A study is one signed document: what it says is what is run, and whoever changes a word of it is found out."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import murmure as mu
from murmure.core import errors
from murmure.core.errors import InvalidParameter
from murmure.parties.study.document import Study
from murmure.secure import errors as refusals
from murmure.secure.errors import BadMessage, CohortRefused, ForgedMessage
from murmure.secure.identity import Card, Identity
from murmure.secure.sharing import PairwiseMasks

IDENTITIES = [Identity.from_bytes(bytes([i]) * 32) for i in range(6)]
COORDINATOR = IDENTITIES[0].card("Registry")
CARDS = tuple(identity.card(f"Hospital {i}") for i, identity in enumerate(IDENTITIES[1:], 1))
BASE = """name = "Length of stay"
purpose = "How stay depends on age."
colluders = 1
minimum_parties = 4
rows = 100000
least_rows = 20
[columns.age]
type = "integers"
low = 0
high = 120
[columns.stay]
type = "integers"
low = 0
high = 60
[columns.ward]
type = "categories"
values = ["A", "B"]
[[queries]]
sums = ["age", "stay", "age * stay"]
"""
BAD: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "vectors" / "bad_studies.json").read_text("utf-8"))
SCHEMA = mu.Schema({"age": mu.Integers(0, 120), "stay": mu.Integers(0, 60)})


def study_of(folder: Path, text: str, cards: tuple[Card, ...] = CARDS) -> Study:
    (folder / "study.toml").write_text(text, "utf-8")
    return Study.from_toml(folder / "study.toml", cards, COORDINATOR)


def asked(*expressions: str, curator: Any = None, **terms: Any) -> mu.Plan:
    return mu.Plan(mu.Sums(SCHEMA, expressions), parties=PairwiseMasks(5, **terms), curator=curator)


def small(*plans: mu.Plan, **terms: Any) -> Study:
    return Study("Stay", "To see.", COORDINATOR, CARDS, plans or (asked("age", "stay"),), **terms)


# -- from a file -------------------------------------------------------------------------------------------------------


def test_a_file_says_what_is_asked(tmp_path: Path) -> None:
    """The terms, the columns and the sums of study.toml are those of the study."""
    study = study_of(tmp_path, BASE)

    assert (study.name, study.purpose) == ("Length of stay", "How stay depends on age.")
    assert study.sharing == PairwiseMasks(5, dropouts=1, colluders=1, rows=100000)
    assert (study.least_rows, study.ratio) == (20, Fraction(1, 3))
    assert study.plans[0].statistic.expressions == ("age", "stay", "age * stay")
    assert study.plans[0].statistic.domain.private == ("age", "stay")


def test_what_is_left_out_has_a_usual_value(tmp_path: Path) -> None:
    """A majority of survivors, one colluder, a coordinator who follows the rules, ten rows."""
    text = BASE.replace("colluders = 1\nminimum_parties = 4\nrows = 100000\nleast_rows = 20\n", "")
    study = study_of(tmp_path, text)

    assert study.sharing == PairwiseMasks(5)
    assert (study.least_rows, study.ratio) == (10, Fraction(1, 3))


def test_dropouts_may_be_said_instead_and_a_lying_coordinator_feared(tmp_path: Path) -> None:
    """dropouts = 1 is minimum_parties = 4."""
    text = BASE.replace("minimum_parties = 4", 'dropouts = 1\ncoordinator_may_lie = true\nratio = "1/5"')

    assert study_of(tmp_path, text).sharing == PairwiseMasks(5, dropouts=1, coordinator="lying", rows=100000)
    assert study_of(tmp_path, text).ratio == Fraction(1, 5)


def test_a_schema_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    """Its path counts from the study's file."""
    (tmp_path / "schema.toml").write_text(SCHEMA.to_toml(), "utf-8")
    text = 'name = "a"\npurpose = "b"\nschema = "schema.toml"\n[[queries]]\nsums = ["age"]\n'

    assert study_of(tmp_path, text).plans[0].statistic.domain["age"] == SCHEMA["age"]


def test_products_are_all_pairs(tmp_path: Path) -> None:
    """(1, age, stay) gives the six different products that a regression needs."""
    study = study_of(tmp_path, BASE.replace('sums = ["age", "stay", "age * stay"]', 'products = ["1", "age", "stay"]'))

    assert study.plans[0].statistic.expressions == ("1", "age", "stay", "age ** 2", "age * stay", "stay ** 2")


def test_products_of_expressions_are_put_in_parentheses(tmp_path: Path) -> None:
    """What is multiplied is the whole expression."""
    changed = """products = ["age - 60", "ward == 'A'", "stay"]"""
    study = study_of(tmp_path, BASE.replace('sums = ["age", "stay", "age * stay"]', changed))

    assert study.plans[0].statistic.expressions[:3] == (
        "(age - 60) ** 2",
        "(age - 60) * (ward == 'A')",
        "(age - 60) * stay",
    )


def test_any_statistic_can_be_asked_by_groups_and_for_some_rows(tmp_path: Path) -> None:
    """Statistics of the catalogue, with their own fields, `by` and `where`."""
    text = BASE.replace(
        'sums = ["age", "stay", "age * stay"]',
        """statistic = "Mean"
column = "stay"
by = "ward"
where = { column = "age", between = [18, 65] }
[[queries]]
statistic = "Quantile"
column = "age"
q = [0.25, 0.75]
[[queries]]
statistic = "Pair"
columns = ["ward", "stay"]
first = "ward"
second = "stay"
""",
    ).replace("least_rows = 20", "least_rows = 2000")
    study = study_of(tmp_path, text)
    ward = mu.Schema({"ward": mu.Categories(["A", "B"])})
    stay, age = mu.Integers(0, 60, "stay"), mu.Integers(0, 120, "age")

    assert study.plans[0].statistic == mu.GroupBy(mu.Where(mu.Mean(stay), age, between=(18, 65)), by=ward)
    assert study.plans[1].statistic == mu.Quantile(age, q=(0.25, 0.75))
    assert (study.plans[2].statistic.first, study.plans[2].statistic.second) == ("ward", "stay")


def test_noise_is_split_between_the_questions_that_take_it(tmp_path: Path) -> None:
    """[noise] is what all cost together; a question may have noise of its own, or none."""
    more = """
[[queries]]
sums = ["stay ** 2"]
[[queries]]
sums = ["age ** 2"]
noise = false
[[queries]]
sums = ["age ** 3"]
noise = { law = "DiscreteLaplace", epsilon = 0.25 }
[noise]
law = "DiscreteLaplace"
epsilon = 1.0
"""
    study = study_of(tmp_path, BASE + more)

    assert [plan.curator and plan.curator.epsilon for plan in study.plans] == [0.5, 0.5, None, 0.25]
    assert study.exact_sums == 2  # a square counts twice


REWORDED = {  # English that was improved since the vectors were frozen: files are refused for the same reasons
    'text stands in "quotes"': 'text is in "quotes"',
    "hold rows": "how many rows they hold",
    "ratio must lie above 0 and at most at 1000, got 1000.5": "ratio must be above 0 and at most 1000, got 1000.5",
    "ratio must lie above 0 and at most at 1000, got 0": "ratio must be above 0 and at most 1000, got 0",
    "both stand there": "both are given",
    "neither stands there": "neither is given",
    "column 'age': high is left out": "column 'age': high is missing",
    "query 1: one of sums, products and statistic is wanted; there is none": (
        "query 1: exactly one of sums, products and statistic is needed; there is none"
    ),
    "query 1: one of sums, products and statistic is wanted; there are sums and statistic": (
        "query 1: exactly one of sums, products and statistic is needed; there are sums and statistic"
    ),
    "query 1: column and columns stand there both": "query 1: column and columns are both given",
    "leaves with nobody": "is never passed on",
}


@pytest.mark.parametrize("vector", BAD, ids=[vector["name"] for vector in BAD])
def test_a_wrong_file_is_refused_with_a_way_out(vector: dict[str, Any], tmp_path: Path) -> None:
    """Which file, what is wrong, what was wanted, what was got, and what to do about it."""
    text = BASE
    for old, new in vector["replace"]:
        assert old in text
        text = text.replace(old, new)
    kind = getattr(errors, vector["error"], None) or getattr(refusals, vector["error"])

    with pytest.raises(kind) as refusal:
        study_of(tmp_path, text)

    assert REWORDED.get(vector["part"], vector["part"]) in str(refusal.value)
    assert REWORDED.get(vector["hint"], vector["hint"]) in (refusal.value.hint or "")
    if vector["part"] and "cannot read" not in vector["part"] and "read off" not in vector["part"]:
        assert str(refusal.value).startswith("study.toml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """So is one that is no text."""
    with pytest.raises(InvalidParameter, match="cannot read"):
        Study.from_toml(tmp_path / "none.toml", CARDS, COORDINATOR)
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match="not UTF-8"):
        Study.from_toml(tmp_path / "study.toml", CARDS, COORDINATOR)


def test_the_roster_is_checked_against_the_file(tmp_path: Path) -> None:
    """The same card twice, and the coordinator among the parties."""
    with pytest.raises(InvalidParameter, match="name of 'Hospital 1' appears twice"):
        study_of(tmp_path, BASE, (*CARDS[:4], CARDS[0]))
    with pytest.raises(InvalidParameter, match=r"key of .* appears twice"):
        study_of(tmp_path, BASE, (*CARDS[:4], IDENTITIES[0].card("Another")))
    with pytest.raises(InvalidParameter, match="there are 2 parties"):
        study_of(tmp_path, BASE, CARDS[:2])


# -- the document ------------------------------------------------------------------------------------------------------


def test_a_signed_study_is_opened_as_it_was_written() -> None:
    """Signing and JSON lose nothing; the digest is 32 bytes and the same."""
    study = small(asked("age", "stay"), asked("age * stay", curator=mu.DiscreteLaplace(1.0)))

    assert Study.open(study.signed(IDENTITIES[0])) == study
    assert Study.from_json(study.to_json()) == study
    assert len(study.digest) == 32 and Study.from_json(study.to_json()).digest == study.digest


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Stays"},
        {"purpose": "To sell."},
        {"coordinator": IDENTITIES[5].card("Registry"), "roster": (*CARDS[:4], IDENTITIES[0].card("Hospital 5"))},
        {"roster": (CARDS[1], CARDS[0], *CARDS[2:])},
        {"plans": (asked("age", "stay", colluders=2),)},
        {"plans": (asked("age"),)},
        {"least_rows": 11},
        {"ratio": Fraction(1, 4)},
    ],
    ids=lambda other: next(iter(other)),
)
def test_every_word_is_in_the_digest(other: dict[str, Any]) -> None:
    """Whatever differs, the digest does, and so do all keys and signatures of the sessions."""
    held = {"name": "Stay", "purpose": "To see.", "coordinator": COORDINATOR, "roster": CARDS}
    changed = Study(**(held | {"plans": (asked("age", "stay"),)} | other))

    assert changed.digest != small().digest
    assert changed.session(1, range(5)).digest != small().session(1, range(5)).digest


@pytest.mark.parametrize("field", ["name", "purpose", "least_rows", "ratio", "roster", "plans"])
def test_a_changed_word_breaks_the_signature(field: str) -> None:
    """Whoever changes the document on its way is found out."""
    held = json.loads(small(asked("age"), asked("stay")).signed(IDENTITIES[0]))
    other = {"name": "Stays", "purpose": "To sell.", "least_rows": 1, "ratio": "1/1"}
    held["study"][field] = other.get(field) or held["study"][field][::-1]

    with pytest.raises(ForgedMessage, match="not signed by Registry"):
        Study.open(json.dumps(held).encode())


def test_somebody_elses_signature_is_refused() -> None:
    """Only the coordinator signs; a study that names another coordinator is another study."""
    with pytest.raises(InvalidParameter, match="takes the identity of its coordinator"):
        small().signed(IDENTITIES[1])
    held = json.loads(small().signed(IDENTITIES[0]))
    held["study"]["coordinator"] = IDENTITIES[5].card("Registry").to_dict()
    with pytest.raises(ForgedMessage):
        Study.open(json.dumps(held).encode())


def resigned(change: dict[str, Any]) -> bytes:
    """A study that its coordinator signed although it is wrong."""
    from murmure.parties.study.document import SIGNATURE_PREFIX
    from murmure.parties.study.json_codec import study_digest

    held = small()._dict | change
    return json.dumps(
        {"study": held, "signature": IDENTITIES[0].sign(SIGNATURE_PREFIX + study_digest(held)).hex()}
    ).encode()


def about_column(name: Any) -> dict[str, Any]:
    """A plan whose domain has this for a column."""
    held: dict[str, Any] = json.loads(mu.Plan(mu.Mean(SCHEMA["age"]), parties=PairwiseMasks(5)).to_json())
    held["statistic"]["domain"]["column"] = name
    return held


def about_label(label: str) -> dict[str, Any]:
    """A plan with this among its labels."""
    ward = mu.Categories(["A", "B"], "ward")
    held: dict[str, Any] = json.loads(mu.Plan(mu.Histogram(ward), parties=PairwiseMasks(5)).to_json())
    held["statistic"]["domain"]["values"] = ["A", label]
    return held


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"murmure_study": 2}, "version 2; this software reads version 1"),
        ({"murmure_study": True}, "version True"),
        ({"colour": "red"}, "unknown or missing fields: ['colour']"),
        ({"name": 5}, "Study.name must be"),
        ({"purpose": "\u202esdrawkcab"}, "Study.purpose must be"),
        ({"roster": 3}, "roster must be a list"),
        ({"roster": [card.to_dict() for card in CARDS[:4]]}, "has 4 parties, but the plans are made for 5"),
        ({"roster": [card.to_dict() for card in CARDS[:4]] * 2}, "appears twice"),
        ({"roster": ["Hospital 1"]}, "this is not a card"),
        ({"plans": []}, "must be 1 to 1000 plans"),
        ({"plans": [5]}, "not a plan"),
        ({"plans": [json.loads(mu.Plan(mu.Sums(SCHEMA, ("age",))).to_json())]}, "must be a Plan between parties"),
        ({"least_rows": 0}, "least_rows must be"),
        ({"least_rows": 1.5}, "least_rows must be"),
        ({"ratio": "2001/2"}, "ratio must be"),
        ({"ratio": 0.3}, "ratio must be a fraction"),
        ({"ratio": "2/6"}, "not written in the form that this software writes"),
        ({"purpose": "To see." + " " * 150 + "All totals are noisy."}, "single blanks"),
        ({"roster": [card.to_dict() for card in (*CARDS[:4], IDENTITIES[5].card("HOSPITAL 1"))]}, "looks like another"),
        ({"plans": [about_label("\ud800")]}, "one of its fields is not valid"),
        *(({"plans": [about_column(name)]}, "") for name in (7, 1.5, True, [1], {"a": 1}, "\ud800", "a\u3164")),
    ],
)
def test_a_wrong_document_is_refused_even_if_it_is_signed(change: dict[str, Any], part: str) -> None:
    """Other versions, unknown fields, and whatever a coordinator may not ask."""
    with pytest.raises(BadMessage) as refusal:
        Study.open(resigned(change))

    assert part in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"study": 1, "signature": ""}',
        b'{"study": NaN, "signature": "00"}',
        b"[" * 100_000,
        b'{"study": {"murmure_study": 1}, "signature": 5}',
        b"\xff\xfe",
        b" " * (1 << 24) + b"{} ",
    ],
    ids=range(11),
)
def test_what_is_no_study_is_refused(text: bytes) -> None:
    """Whatever comes over the network, the error is one of ours."""
    with pytest.raises(BadMessage):
        Study.open(text)
    with pytest.raises(BadMessage):
        Study.from_json(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    """Whoever reads the first of two purposes would approve another study than the software, which takes the last."""
    signed = small().signed(IDENTITIES[0])
    twice = signed.replace(b'"purpose":', b'"purpose":"Something else.","purpose":')

    assert json.loads(twice) == json.loads(signed)
    with pytest.raises(BadMessage, match="the same key twice"):
        Study.open(twice)


def test_a_session_is_that_of_a_round() -> None:
    """Bound to the study, its plan, its roster; rounds are counted from 1."""
    study = small(asked("age"), asked("stay"))
    session = study.session(2, (0, 1, 3))

    assert (session.study, session.round, session.members) == (study.digest, 2, (0, 1, 3))
    assert session.query.hex() == study.plans[1].digest
    assert session.encoder == study.encoder(2) == study.plans[1].encoder
    for round in (0, 3, True):
        with pytest.raises(InvalidParameter, match="rounds 1 to 2"):
            study.session(round, (0, 1, 2))


def test_the_plans_of_a_study_are_shared_alike() -> None:
    """One roster, one set of terms, no question twice."""
    with pytest.raises(InvalidParameter, match="shared differently from question 1"):
        small(asked("age"), asked("stay", colluders=2))
    with pytest.raises(InvalidParameter, match="question 2 is question 1 again"):
        small(asked("age"), asked("age"))
    with pytest.raises(InvalidParameter, match="made for 5"):
        Study("a", "b", COORDINATOR, CARDS[:4], (asked("age"),))


def test_questions_that_words_could_not_tell_are_refused() -> None:
    """Rows that are randomised one by one, and a column without a name."""
    sharing, domain = PairwiseMasks(5), mu.Categories(["A", "B"])
    with pytest.raises(InvalidParameter, match="does not name the column"):
        small(mu.Plan(mu.Histogram(domain), parties=sharing))
    named = mu.Categories(["A", "B"], "ward")
    with pytest.raises(InvalidParameter, match="randomises rows at the person"):
        small(mu.Plan(mu.Histogram(named), person=mu.GRR(named, 1.0), parties=sharing))


def test_an_expression_is_read_as_it_looks() -> None:
    """Python takes a long s for an s: the words would show a column that is not the one that is read."""
    with pytest.raises(InvalidParameter, match="contains letters that look like others"):
        small(asked("\u017ftay"))
    schema = mu.Schema({"\u017ftay": mu.Integers(0, 9)})
    small(mu.Plan(mu.Sums(schema, ("`\u017ftay`",)), parties=PairwiseMasks(5)))


def test_noise_protects_alike_in_all_questions() -> None:
    """Costs of different promises do not add up to one."""
    noise = mu.DiscreteLaplace(1.0)
    replaced = mu.Plan(mu.Sums(SCHEMA, ("age",)), None, PairwiseMasks(5), noise, relation="replace")
    with pytest.raises(InvalidParameter, match="does not protect the same unit"):
        small(asked("stay", curator=noise), replaced)


# -- the ratio ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, True, 1.5, 101, "10"])
def test_the_fewest_rows_of_a_party_are_at_most_the_most_that_it_may_have(rows: Any) -> None:
    plan = asked("stay", rows=100)
    with pytest.raises(InvalidParameter, match=r"least_rows must be a whole number from 1 to 100 \(the most rows"):
        small(plan, least_rows=rows)

    assert [small(plan, least_rows=good).least_rows for good in (1, 100)] == [1, 100]


def test_so_many_exact_sums_that_rows_could_be_solved_for_are_refused() -> None:
    """At most a third of the rows that are surely there: 4 parties with 10 rows each carry 13 sums, and not 14."""
    most = tuple(f"age > {k}" for k in range(13))

    small(asked(*most)).check_ratio()
    with pytest.raises(CohortRefused):
        small(asked(*most, "stay")).check_ratio()
    with pytest.raises(CohortRefused):
        small(asked(*most), asked("stay")).check_ratio()  # over all questions
    small(asked(*most), asked("stay"), least_rows=11).check_ratio()
    with pytest.raises(CohortRefused):
        small(asked(*most), ratio=Fraction(1, 4)).check_ratio()


WIDE = mu.Schema(
    {
        "age": mu.Integers(0, 99),
        "pay": mu.Integers(0, 99_999),
        "year": mu.Integers(1900, 2026),
        "change": mu.Integers(-50, 50),
        "dose": mu.Interval(0.5, 2.5, cells=8),
        "ward": mu.Categories(["A", "B", "C"]),
        "id": mu.Integers(10**15 - 100, 10**15 - 1),
    }
)
PACKED = "+".join(f"(age=={40 + j})*pay*1e{5 * j}" for j in range(20))  # five digits for every age


@pytest.mark.parametrize(
    ("expression", "counts"),
    [
        ("1", 1),
        ("age", 1),
        ("1000 * age", 1),  # zeros tell nothing
        ("dose", 1),
        ("age * pay", 1),
        ("year * change", 1),
        ("dose * change", 1),
        ("(ward == 'A') * pay", 1),
        ("18 <= age < 65", 1),
        ("age + pay + change", 1),
        ("age ** 2", 2),
        ("age ** 10", 10),
        ("age + 1000 * pay", 2),  # reads as two numbers
        (PACKED, 14),  # 333 bits, 24 in its columns
        (f"{PACKED} + id", 6),  # a column that is said to be wide: a word of 64 bits still counts
    ],
)
def test_a_sum_counts_by_what_it_can_carry(expression: str, counts: int) -> None:
    """As often as its range over one row needs the digits of its columns."""
    plan = mu.Plan(mu.Sums(WIDE, (expression,)), parties=PairwiseMasks(5, rows=1000))

    assert small(plan).exact_sums == counts


def test_many_rows_packed_into_one_sum_are_refused() -> None:
    """One exact sum of 20 times five digits holds the pay at twenty ages; five rows are no crowd for that."""
    plan = mu.Plan(mu.Sums(WIDE, (PACKED,)), parties=PairwiseMasks(5, dropouts=0, rows=1000))
    study = small(plan, least_rows=1)

    with pytest.raises(CohortRefused, match="14 exact sums over at least 5 rows"):
        study.check_ratio()
    line = next(line for line in study.in_words() if "the sum of" in line)
    assert "it takes 100 digits, more than its columns have, and counts as 14 sums" in line
    assert any("compte pour 14 sommes" in line for line in study.in_words("fr"))
    assert not any("digits" in line for line in small(asked("age", "age * stay")).in_words())


def test_sums_with_noise_do_not_count() -> None:
    """Their noise hides rows by itself."""
    exact = asked("age", "stay", "age > 5", "stay > 5")

    study = small(exact, asked("age", "stay", curator=mu.DiscreteLaplace(1.0)), least_rows=4)
    study.check_ratio()
    assert study.exact_sums == 4


def noisy(*epsilons: float) -> list[mu.Plan]:
    return [asked(f"age > {k}", curator=mu.DiscreteLaplace(epsilon)) for k, epsilon in enumerate(epsilons)]


@pytest.mark.parametrize(
    ("plans", "hides"),
    [
        (noisy(6.0), (True,)),
        (noisy(6.5), (False,)),
        (noisy(60.0, 1.0), (False, True)),  # what does not hide is exact, and takes nothing from the others
        (noisy(3.0, 3.0), (True, True)),
        (noisy(3.0, 3.5), (False, False)),  # together they tell
        ([asked("age", curator=mu.DiscreteGaussian(rho=0.2)), asked("age")], (True, False)),  # at the delta it is said
        ([asked("age", curator=mu.DiscreteGaussian(rho=2.0)), asked("age")], (False, False)),
    ],
)
def test_noise_that_hides_no_row_counts_as_none(plans: list[mu.Plan], hides: tuple[bool, ...]) -> None:
    """Above epsilon = 6, alone or together, sums are exact: for the ratio, for guards, and in words."""
    study = small(*plans)

    assert study.hides_rows == hides
    assert study.exact_sums == hides.count(False)
    if any(plan.curator and not hidden for plan, hidden in zip(plans, hides, strict=True)):
        assert any("as exact" in line for line in study.in_words())
    with pytest.raises(CohortRefused):
        big = mu.Plan(mu.Histogram(WIDE["age"]), parties=PairwiseMasks(5), curator=mu.DiscreteLaplace(60.0))
        small(big, least_rows=1).check_ratio()


# -- in words ----------------------------------------------------------------------------------------------------------


def test_a_party_reads_all_that_it_decides_by() -> None:
    """Who asks, why, which columns, each sum with its bounds, what leaves, who learns what, and that it is exact."""
    words = "\n".join(small(asked("age", "age * stay", "stay > 7", "1")).in_words())

    for part in (
        "“Registry” (here: the asker) asks 5 organisations",
        "“Hospital 1”, “Hospital 2”, “Hospital 3”, “Hospital 4” and “Hospital 5”",
        COORDINATOR.fingerprint,
        "“To see.”",
        "“age” (whole numbers from 0 to 120); “stay” (whole numbers from 0 to 60)",
        "the sum of “age”; one row adds from 0 to 120",
        "the sum of “age * stay”; one row adds from 0 to 7,200",
        "the number of rows that fulfil “stay > 7”",
        "- the number of rows\n",
        "* multiplies",
        "In all, 5 numbers leave you, and no row",
        "and one of the organisations put together all that they know",
        "who are at least 3",
        "before anything is unmasked, 4 of the 5 organisations have signed the same lists",
        "The totals are exact, without differential privacy",
        "there are 4 exact sums for at least 40 rows in all; at most 13 are allowed",
        "how many rows they have together (an exact sum too)",
        "compare their keys too",
        "your software checks only that they are possible",
        "at least 4 of the 5 organisations answer to the end",
        "at least 10 rows, and at most 4,294,967,296",
        "You may refuse",
    ):
        assert part in words, part
    assert "noise (" not in words and "answer the first question" not in words


def test_the_same_in_french() -> None:
    """Every sentence has its French counterpart, with French numbers."""
    study = small(asked("age", "0.5 * stay", colluders=0, coordinator="lying", dropouts=1), least_rows=2500)
    english, french = study.in_words("en"), study.in_words("fr")

    assert len(english) == len(french) and not set(english) & set(french)
    words = "\n".join(french)
    for part in (
        "«\u202fRegistry\u202f» (ici\u00a0: le demandeur) demande à 5 organisations",
        "la somme de «\u202f0.5 * stay\u202f»\u202f; une ligne ajoute de 0 à 30",
        "même si le demandeur enfreint les règles",
        "aucune organisation ne confie au demandeur",
        "exacts, sans confidentialité différentielle",
        "au moins 10\u202f000 lignes",
        "Vous pouvez refuser",
    ):
        assert part in words, part


def test_noise_is_explained_by_odds() -> None:
    """epsilon = 1 in all: from even odds to at most 73.2 in 100, for one row; what that rests on is said.

    add/remove hides whether a row is there; what it holds is hidden by "replace".
    """
    noise = mu.DiscreteLaplace(0.5)
    study = small(asked("age", curator=noise), asked("stay", curator=noise), asked("age ** 2"))
    words = "\n".join(study.in_words())

    assert "Question 1: every organisation adds its share of random noise (DiscreteLaplace)" in words
    assert "epsilon = 0.5" in words
    assert "The totals of question 3 are exact" in words
    assert "differential privacy for one row" in words and "whether it is in the data at all" in words
    assert "more often than 73.2 times in 100" in words
    assert "None of this holds for the exact totals" in words
    assert "at least 3 organisations answer to the end and add their share of the noise honestly" in words
    assert "73,2 fois sur 100" in "\n".join(study.in_words("fr"))
    replaced = mu.Plan(mu.Sums(SCHEMA, ("age",)), None, PairwiseMasks(5), noise, relation="replace")
    assert any("which of two contents it has" in line for line in small(replaced).in_words())
    weak = small(asked("age", curator=mu.DiscreteLaplace(8.0))).in_words()
    assert any("question 1 is too small to hide a row" in line for line in weak)
    assert not any("differential privacy" in line for line in weak)


def test_other_statistics_are_told_too() -> None:
    """Means, histograms, quantiles, groups and conditions, in both languages."""
    sharing = PairwiseMasks(5)
    ward, age = mu.Categories(["A", "B"], "ward"), mu.Column(mu.Integers(0, 9), missing="constant", missing_value=5)
    domain = mu.Schema({"age": age})["age"]
    statistics = (
        mu.Mean(domain),
        mu.Histogram(ward),
        mu.Quantile(domain),
        mu.GroupBy(mu.Sum(domain), by=ward),
        mu.Where(mu.Count(domain), ward, is_in=("A",)),
        mu.Where(mu.Variance(domain), domain, between=(2, 5)),
    )
    study = small(*(mu.Plan(statistic, parties=sharing) for statistic in statistics))
    english, french = ("\n".join(study.in_words(language)) for language in ("en", "fr"))

    for part in (
        "the mean of “age”",
        "“age” (whole numbers from 0 to 9; a missing value counts as “5”)",
        "each of the 2 values of “ward”",
        "separately for each value of “ward” (2 groups)",
        "only for rows where “ward” is “A”",
        "“age” lies between 2 and 5",
        "If one is missing later, the study ends",
    ):
        assert part in english, part
    assert "séparément pour chaque valeur" in french and "la moyenne de" in french


LABELS = [f"patient {i}" for i in range(61)]
TABLE = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        "region": mu.Column(mu.Categories(LABELS), missing="constant", missing_value="patient 7"),
        "code": mu.Categories(17),
        "age": mu.Integers(10**15 - 10, 10**15 - 1),
        "year": mu.Integers(1901, 2026),
        "dose": mu.Interval(0.12345678, 2.5, cells=77),
    }
)


def leaves(held: Any) -> list[Any]:
    """All that the asker chose: names, labels, numbers, expressions."""
    if isinstance(held, dict):
        return [leaf for key, value in held.items() if key not in ("type", "missing") for leaf in leaves(value)] + [
            *(held.get("columns") or {})
        ]
    return [leaf for one in held for leaf in leaves(one)] if isinstance(held, list | tuple) else [held]


@pytest.mark.parametrize(
    "statistic",
    [
        mu.Histogram(TABLE["region"]),
        mu.Mean(TABLE["dose"]),
        mu.Variance(TABLE["year"]),
        mu.Sum(TABLE["dose"]),
        mu.Count(TABLE["smoker"]),
        mu.Quantile(TABLE["year"], q=(0.125, 0.9)),
        mu.Pair(TABLE, first="region", second="code"),
        mu.Marginals(mu.Schema({name: TABLE.column_specs[name] for name in ("smoker", "code", "year")})),
        mu.Mode(TABLE["code"]),
        mu.Where(mu.Mean(TABLE["dose"]), TABLE["year"], between=(1950, 1999)),
        mu.GroupBy(mu.Where(mu.Sum(TABLE["dose"]), TABLE["region"], is_in=("patient 60",)), by=TABLE["code"]),
        mu.Sums(TABLE, ("dose * age", "(region == 'patient 3') * year", "code == 5")),
    ],
    ids=lambda statistic: type(statistic).__name__,
)
def test_words_tell_all_of_a_question(statistic: Any) -> None:
    """Every column, label, number and expression that stands in the plan's JSON stands in the words."""
    plan = mu.Plan(statistic, parties=PairwiseMasks(5, rows=1000))
    words = "\n".join(small(plan).in_words())

    held = [leaf for leaf in leaves(json.loads(plan.to_json())["statistic"]) if leaf is not None]
    assert len(held) > 1
    for leaf in held:
        said = leaf if isinstance(leaf, str) else f"{leaf:,}"
        assert said in words, leaf
    if type(statistic).__name__ == "Pair":
        assert "combinations of values of “region” and “code”" in words


@pytest.mark.parametrize("kind", ["Clusters", "ClassMoments", "ClassPairs", "Gram", "Taylor", "Gradient"])
def test_what_words_cannot_tell_is_refused(kind: str, tmp_path: Path) -> None:
    """Sums of learners carry numbers that the asker chose (centres, weights) and that no sentence would show."""
    from murmure.catalogue import load

    module = __import__(load(kind).__module__, fromlist=["EXAMPLES"])
    statistic = next(one for one in module.EXAMPLES if type(one).__name__ == kind)
    with pytest.raises(InvalidParameter, match=f"asks for {kind}, which cannot be described in plain words"):
        small(mu.Plan(statistic, parties=PairwiseMasks(5)))
    with pytest.raises(InvalidParameter, match=r"statistic must be one of .*Histogram"):
        study_of(tmp_path, BASE.replace('sums = ["age", "stay", "age * stay"]', f'statistic = "{kind}"'))
    grouped = mu.GroupBy(mu.Sums(SCHEMA, ("age",)), by=TABLE["smoker"])
    with pytest.raises(InvalidParameter, match="asks for GroupBy"):
        small(mu.Plan(grouped, parties=PairwiseMasks(5)))


def test_a_question_of_too_many_numbers_is_refused() -> None:
    """Whoever joins would have to hold them all."""
    with pytest.raises(InvalidParameter, match="more than 1_048_576"):
        small(mu.Plan(mu.Histogram(mu.Integers(0, 2 * 10**6, "age")), parties=PairwiseMasks(5)))


def test_what_a_sparse_graph_supposes_is_said() -> None:
    """Above thirty parties masks are shared in a ring; a complete graph supposes nothing of it."""
    cards = tuple(Identity.from_bytes(bytes([i, 1]) * 16).card(f"Hospital {i}") for i in range(100))
    for coordinator in ("curious", "lying"):
        sharing = PairwiseMasks(100, 5, 5, coordinator, graph="sparse")  # type: ignore[arg-type]
        study = Study("a", "b", COORDINATOR, cards, (mu.Plan(mu.Sums(SCHEMA, ("age",)), parties=sharing),))
        words, mots = "\n".join(study.in_words()), "\n".join(study.in_words("fr"))

        assert f"with {sharing.degree} others, drawn by lot" in words and "tirées au sort" in mots
        assert "below one in a million million" in words
        assert "more than 2**64 draws" in words and "2**64" in sharing.assumption
        assert "53 of the 100 organisations have signed the same lists" in words and "53 des 100 organisations" in mots
        assert (
            ("The study trusts it in this" in words) == ("confiance sur ce point" in mots) == (coordinator == "curious")
        )
    assert not any("drawn by lot" in line for line in small().in_words())


def test_a_column_that_is_read_in_two_ways_is_told_twice() -> None:
    """Two questions with different bounds for one column: no one of them stands for both."""
    other = mu.Plan(mu.Sums(mu.Schema({"age": mu.Integers(0, 9)}), ("age",)), parties=PairwiseMasks(5))
    words = "\n".join(small(asked("age"), other).in_words())

    assert "“age” (whole numbers from 0 to 120); “age” (whole numbers from 0 to 9)" in words


def test_nothing_that_is_quoted_can_speak_for_the_software() -> None:
    """Quotation marks inside are replaced, and labels with letters that cannot be printed are refused."""
    sly = "x\u301e is not read. Nothing leaves. “"

    def asks(label: str) -> Study:
        schema = mu.Schema({"ward": mu.Categories([label, "B"]), sly: mu.Integers(0, 1)})
        return small(mu.Plan(mu.Sums(schema, ("ward == 'B'", f"`{sly}`")), parties=PairwiseMasks(5)))

    words = "\n".join(asks("A").in_words())
    with pytest.raises(InvalidParameter):
        asks("A\x1b[2J")
    assert '“x" is not read. Nothing leaves. "”' in words


def test_another_language_is_refused() -> None:
    """There are two."""
    with pytest.raises(InvalidParameter, match='"en" and "fr"'):
        small().in_words("de")  # type: ignore[arg-type]


def test_words_say_that_numbers_of_rows_are_compared() -> None:
    """Where totals are exact, and only there; and that all is said of one study by itself."""
    plain, blurred = small(asked("age")), small(asked("age", curator=mu.DiscreteLaplace(1.0)))
    exact, noisy = (" ".join(one.in_words()) for one in (plain, blurred))
    assert "The number of rows comes with all exact totals" in exact and "said of this study by itself" in exact
    assert "The number of rows comes with" not in noisy and "of this study by itself" not in noisy
    assert "Le nombre de lignes accompagne tous les totaux exacts" in " ".join(plain.in_words("fr"))
