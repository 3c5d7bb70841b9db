"""The page of a release with noise at the curator: what a reader must see, and what would be false there."""

from __future__ import annotations

import html
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.run.report.pages import flat, read, report_html, untranslated

import murmure as mu
from murmure.catalogue import load
from murmure.run.report.certificate_words import max_certainty
from murmure.run.report.guarantee_section import _moved
from murmure.show.cells import written
from murmure.show.chart import padded, scale_of, window
from murmure.show.document import IntervalRow, Intervals
from murmure.show.language import Language
from murmure.statistics.mode import Chosen

EVIL = "<script>alert('x')</script> & \"quoted\""
N = 1003
SCHEMA = mu.Schema(
    {
        "age": mu.Integers(0, 100),
        "bmi": mu.Interval(15, 45, cells=300),
        "region": mu.Categories(["north", "south", "west"]),
        "smoker": mu.Categories(["no", "yes"]),
        EVIL: mu.Categories([EVIL, "b"]),
    }
)
LAPLACE = mu.DiscreteLaplace(epsilon=1.0)
# what is true of answers that were randomised at the person, and of nothing here
FALSE = (
    *("randomised before it leaves", "randomisée avant de partir", "whispers", "murmure ;", "against the collector"),
    *("qui collecte", " reports ", "most telling", "only the mechanism is random", "How computed: enumerated"),
    *("Nothing was randomised", "Whatever is sent", "Quoi qu’on envoie"),
)


def rows(n: int = N) -> dict[str, Any]:
    g = np.random.default_rng(0)
    return {
        "age": g.integers(0, 101, n),
        "bmi": g.uniform(15, 45, n),
        "region": g.choice(["north", "south", "west"], n),
        "smoker": g.choice(["no", "yes"], n),
        EVIL: g.choice([EVIL, "b"], n),
        "patient": np.arange(n) // 2,
    }


def made(statistic: Any, noise: Any = LAPLACE, data: Any = None, seed: int = 3, **how: Any) -> tuple[Any, mu.Release]:
    plan = mu.Plan(statistic, curator=noise, **how)
    return plan, mu.run(plan, rows() if data is None else data, rng=mu.Random.seeded(seed))


def said(page: str) -> tuple[str, str]:
    """The text of both languages; every sentence that would be false is absent."""
    reading = read(page)
    english, french = flat(reading.text["en"]), flat(reading.text["fr"])
    for words in FALSE:
        assert words not in english and words not in french, words
    return english, french


QUESTIONS = {
    "count": mu.Count(SCHEMA["age"]),
    "labels": mu.Count(SCHEMA["region"]),
    "sum": mu.Sum(SCHEMA["age"]),
    "mean": mu.Mean(SCHEMA["bmi"]),
    "variance": mu.Variance(SCHEMA["age"]),
    "histogram": mu.Histogram(SCHEMA["region"]),
    "table": mu.Pair(SCHEMA, "region", "smoker"),
    "marginals": mu.Marginals(SCHEMA),
    "quantile": mu.Quantile(SCHEMA["age"], q=(0.25, 0.5)),
    "group": mu.GroupBy(mu.Mean(SCHEMA["age"]), SCHEMA["region"]),
    "groups": mu.GroupBy(mu.Histogram(SCHEMA["smoker"]), SCHEMA["region"]),
    "where": mu.Where(mu.Mean(SCHEMA["age"]), SCHEMA["region"], is_in=("north",)),
    "between": mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["bmi"], between=(18.0, 30.0)),
}


@pytest.mark.parametrize("known", [True, False], ids=["plan", "no plan"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_makes_a_true_page(name: str, known: bool) -> None:
    """With the plan and without: about so many, epsilon for whom, both observers, the digest; nothing false; no n."""
    plan, release = made(QUESTIONS[name])
    page = report_html(release, plan=plan if known else None)
    english, french = said(page)

    assert "<script" not in page and "de une" not in french
    about = f"about {release.estimate.n:,}"
    assert f"{about} people" in english
    assert f"environ {release.estimate.n:,} personnes".replace(",", " ") in french
    assert english.split(" Only noisy sums leave")[0].endswith(f"{about} people")  # the title
    assert release.estimate.n != N, "choose another seed: this number is not noisy"
    assert "1,003" not in english and "1003" not in page  # seeds are fixed, so this cannot fail by chance
    for part in (
        "Seeded experiment: whoever knows the seed takes the noise off again. Never for real people.",
        "epsilon of this release 1",
        "A curator sees every row and adds them up exactly; discrete Laplace noise ( DiscreteLaplace ) is added",
        "Intervals count the noise",
        "whoever reads this 1 Asked whether one row is in the data, someone who thought both equally likely cannot",
        "become surer than 73.2 in 100 of either",
        "the curator no limit Sees every row as it is",
        "It cost epsilon = 1, delta = 0 (add/remove: somebody is in the data or not), for one row",
        "This page knows of no ledger",
        release.plan,
    ):
        assert part in english, part
    for part in (
        "Expérience à graine",
        "Un curateur voit chaque ligne et en fait la somme exacte",
        "seules des sommes bruitées sortent",
        "du bruit",
        "73,2 chances sur 100",
        "le curateur sans limite",
        "ajout-retrait",
    ):
        assert part in french, part
    assert ("What one row can change, at most" in english) == known


NUMBER, LABEL = mu.Integers(0, 9), mu.Categories(["a", "b"])
DROPPED, OTHERS_DROPPED = (mu.Column(domain, outside="drop") for domain in (NUMBER, LABEL))
TO_BOUND = "a number out of bounds is moved to the bound"
NO_NUMBER = "a row whose number is missing or unreadable is left out, unless the schema names a value for it"
COUNTS_NOWHERE = "a label that is not in the schema counts nowhere"


@pytest.mark.parametrize(
    ("columns", "rules"),
    [
        ({"age": NUMBER, "job": LABEL}, [TO_BOUND, NO_NUMBER, COUNTS_NOWHERE]),
        ({"age": NUMBER, "rooms": NUMBER}, [TO_BOUND, NO_NUMBER]),
        ({"job": LABEL}, [COUNTS_NOWHERE]),
        ({"job": OTHERS_DROPPED}, ["a row with a label that is not in the schema is left out"]),
        (
            {"job": OTHERS_DROPPED, "town": LABEL},
            [COUNTS_NOWHERE, "a row with a label of “job” that is not in the schema is left out"],
        ),
        ({"age": DROPPED, "job": LABEL}, ["a row with a number out of bounds is left out", NO_NUMBER, COUNTS_NOWHERE]),
        (
            {"age": NUMBER, "rooms": DROPPED},
            [TO_BOUND, "a row with a number of “rooms” out of bounds is left out", NO_NUMBER],
        ),
        (
            {"age": mu.Column(NUMBER, missing="constant", missing_value=0)},
            [TO_BOUND, "a missing or unreadable number counts as the schema says"],
        ),
    ],
)
def test_a_page_tells_how_a_curator_reads_every_cell(columns: dict[str, Any], rules: list[str]) -> None:
    """Only what can happen in some column of the schema; a column is named if another one has another rule."""
    schema = mu.Schema(columns)
    answers = {"age": [1, 2], "rooms": [1, 2], "job": ["a", "b"], "town": ["a", "b"]}
    plan, release = made(mu.Marginals(schema), data={name: answers[name] * 50 for name in columns})
    (told,) = re.findall(r"Every row is read, whatever it holds: ([^.]*)\.", said(report_html(release, plan=plan))[0])

    assert told.split("; ") == rules


def test_counts_are_counts() -> None:
    """Whole numbers of people, on a scale that starts at zero, and no share; ends of intervals are rounded outward."""
    plan, release = made(QUESTIONS["count"] and mu.GroupBy(QUESTIONS["count"], SCHEMA["region"]))
    english, _ = said(report_html(release, plan=plan, target="superpopulation"))
    figures = english.split("What the crowd says")[1].split("Intervals count")[0]

    assert "%" not in figures.replace("95%", "") and "." not in figures
    for label, count, (low, high) in zip(
        release.estimate.labels, release.estimate.mean, release.estimate.interval(0.95, "superpopulation"), strict=True
    ):
        assert f"{label} {count:.0f} {math.floor(low)} to {math.ceil(high)}" in figures
    assert "the error of sampling" in english and "a superpopulation" in english


def test_noise_sampling_and_grid_are_named() -> None:
    """Of numbers on a grid the rounding is in the interval, and the page says how large it is; of others nothing."""
    plan, release = made(QUESTIONS["mean"])
    english, french = said(report_html(release, plan=plan))

    assert (
        "Intervals count the noise and the rounding to the grid (at most 0.05). They speak of these people" in english
    )
    assert "no error of sampling is in them. Computed by Fieller (every ratio" in english
    assert "et l’arrondi à la grille (au plus 0,05)" in french and "la méthode de Fieller" in french
    plan, release = made(mu.Mean(SCHEMA["age"]))
    assert "grid (" not in said(report_html(release, plan=plan))[0]


def test_what_one_person_can_change() -> None:
    """The declared moves of every block, as the plan has them; rows of one person and the relation are in them."""
    plan, release = made(mu.Mean(SCHEMA["age"]), unit="patient", rows_per_person=2, relation="replace")
    english, french = said(report_html(release, plan=plan))
    moves = plan.bound.sensitivities()

    assert len(moves) == 3 and moves[0] == 4  # those who have a value, and those who have none
    for name, places, moved in zip(("how many", "sum", "sum of squares"), (2, 1, 1), moves, strict=True):
        assert f"{name} {places} {moved:,} " in english, name
    for nom, places, moved in zip(("effectif", "somme", "somme des carrés"), (2, 1, 1), moves, strict=True):
        assert f"{nom} {places} {moved:,} ".replace(",", " ") in french
    assert "What one person can change, at most" in english and "one person moves it by" in english
    assert "protected unit one person with at most 2 rows" in english
    assert "(replace: what somebody holds is exchanged for anything else; how many rows there are is public)" in english
    assert "column patient tells people apart; of one person 2 rows are read, and others are left out" in english
    assert "Asked to tell between two things that one person may hold" in english
    assert "two rows" not in english and f"about {release.estimate.n} rows" in english  # several rows of a person
    without = said(report_html(release))[0]  # the certificate knows the unit too
    assert "protected unit one person with at most 2 rows" in without


@pytest.mark.parametrize(
    "squared", [1, 2, 3, 4, 50, 99, 10_000, 10_001, 100_000_019_800_001, 2**50 + 1, 2**80, 2**81, 2**122 - 1, 3**70]
)
def test_a_euclidean_length_is_never_shown_too_short(squared: int) -> None:
    """A whole one as it is; others at most a hundredth too long, and beyond 13 digits at most 1."""
    shown = flat(written(_moved(squared, "l2"), Language("en"))).replace(",", "")

    length, step = Fraction(shown), Fraction(1, 100) if squared < 10**26 else 1
    assert length**2 == squared or (length - step) ** 2 < squared < length**2
    assert ("." in shown) == (math.isqrt(squared) ** 2 != squared < 10**26)


def test_what_one_person_can_change_in_euclidean_length() -> None:
    """The roots of what the plan has: with two who change places, sqrt(2) rounded up."""
    plan, release = made(mu.Histogram(SCHEMA["region"]), mu.DiscreteGaussian(rho=0.5), relation="replace")
    english, french = said(report_html(release, plan=plan))

    assert plan.bound.sensitivities() == (2,)
    assert "one row moves it by (Euclidean)" in english
    assert " 3 1.42 1.41 " in english and " 3 1,42 1,41 " in french  # the noise's is sqrt(2), to the nearest


def test_delta_is_a_bound_on_guesses() -> None:
    """With delta > 0 nobody may say "cannot become surer": what holds is how often a guess is right."""
    plan, release = made(QUESTIONS["histogram"], mu.DiscreteGaussian(epsilon=1.0, delta=1e-6))
    english, french = said(report_html(release, plan=plan))

    assert "cannot become surer" not in english and "ne peut être sûre" not in french
    assert (
        "Whoever guesses whether one row is in the data, from even odds, is right at most 73.2 times in 100" in english
    )
    assert "delta 10⁻⁶" in english and "delta = 10⁻⁶" in french and "e-06" not in english + french
    assert "(Euclidean)" in english
    assert max_certainty(1.0, 0.1) == 75.8 and max_certainty(1.0) == 73.2  # (e + 0.1) / (1 + e)
    rho = made(QUESTIONS["histogram"], mu.DiscreteGaussian(rho=0.1))[1]
    assert "rho = 0.1" in said(report_html(rho))[0]


def test_a_large_epsilon_promises_nothing() -> None:
    english, french = said(report_html(made(QUESTIONS["count"], mu.DiscreteLaplace(epsilon=9.0), seed=1)[1]))

    assert "can all but give a person away" in english and "presque trahir une personne" in french


def test_the_ledger_says_which_charge_and_what_is_left(tmp_path: Path) -> None:
    """The number of the charge and what is left; another plan's account and no account are refused."""
    ledger = mu.Ledger(tmp_path / "ledger.db")
    ledger.set_budget("patients <b>", epsilon=3.0)
    account = ledger.account("patients <b>")
    plan = mu.Plan(QUESTIONS["mean"], curator=LAPLACE)
    release = mu.run(plan, rows(), ledger=account)
    page = report_html(release, plan=plan, ledger=account)
    english, french = said(page)

    assert "Paid from the budget of patients <b> in the ledger, charge 2: epsilon 2 of 3 is left" in english
    assert "débit n° 2 : il reste epsilon 2 sur 3" in french and "epsilon left in the ledger 2 of 3" in english
    assert "no ledger" not in english and "Seeded" not in english and "randomness secure" in english
    assert "<b>patients &lt;b&gt;</b>" in page and str(tmp_path) not in page
    mu.run(plan, rows(), ledger=account)  # in memory: it cannot be known for the same data, and is paid again
    assert "in the ledger, charge 2: epsilon 1 of 3 is left" in said(report_html(release, ledger=account))[0]
    with pytest.raises(mu.MurmureError, match="no charge for plan"):
        report_html(made(QUESTIONS["sum"])[1], ledger=account)
    with pytest.raises(mu.MurmureError, match="ledger must be an account"):
        report_html(release, ledger=ledger)


def test_another_plan_is_refused() -> None:
    """The same noise on another question: the page would tell two stories."""
    release = made(QUESTIONS["mean"])[1]
    with pytest.raises(mu.MurmureError, match="this release answers plan"):
        report_html(release, plan=made(QUESTIONS["sum"])[0])


def test_a_choice_has_a_page() -> None:
    plan, release = made(mu.Mode(SCHEMA["region"]), mu.PermuteAndFlip(epsilon=1.0))
    english, french = said(report_html(release, plan=plan))

    assert isinstance(release.estimate, Chosen)
    assert f"chosen among 3 public candidates {release.estimate.label} No error bar" in english
    assert "choisi parmi 3 candidats publics" in french and "interval" not in english and "noisy sums" not in english
    assert "The count of any of the 3 candidates, by 1." in english and "replays the draw" in english
    assert said(report_html(release))[0].startswith("Commonest value of region")


def test_without_bars_the_page_says_why() -> None:
    """A sum that was cut after noise is biased: no interval, no key, and the reason in both languages."""
    plan, release = made(mu.Count(SCHEMA["age"]), mu.Geometric(epsilon=0.5, low=0, high=2000))
    english, french = said(report_html(release, plan=plan))

    assert "No error bar: its sums were cut to a public range" in english and "interval" not in english
    assert "Sans barre d’erreur : ses sommes ont été ramenées" in french
    assert "They are then cut to a public range." in english


def test_labels_are_never_markup() -> None:
    """Names of columns, groups and conditions hold a script: shown, not obeyed."""
    domain = SCHEMA[EVIL]
    for statistic in (
        mu.Histogram(domain),
        mu.GroupBy(mu.Count(SCHEMA["age"]), domain),
        mu.Where(mu.Count(SCHEMA["age"]), domain, is_in=(EVIL,)),
        mu.GroupBy(mu.Histogram(SCHEMA["smoker"]), domain),
    ):
        plan, release = made(statistic)
        page = report_html(release, plan=plan)
        reading = read(page)
        assert "<script" not in page and "script" not in reading.tags
        assert EVIL in reading.text["en"] and EVIL in reading.text["fr"]
    plan, release = made(mu.Mode(domain), mu.PermuteAndFlip(epsilon=1.0))
    assert "<script" not in report_html(release, plan=plan)


def test_shares_add_up_only_where_they_do_not() -> None:
    """Shares of noisy counts sum to one; those below zero have a fold with none."""
    few = {"region": ["north"] * 60 + ["south"] * 50}
    below = next(
        held
        for seed in range(20)
        if (held := made(QUESTIONS["histogram"], mu.DiscreteLaplace(epsilon=0.3), few, seed)[1]).estimate.mean.min() < 0
    )
    english, french = said(report_html(below))

    assert "4. Shares that add up" in english and "an estimate lies outside its interval" in english
    assert "hors de son intervalle" in french
    assert "Shares that add up" not in said(report_html(made(QUESTIONS["histogram"])[1]))[0]


def test_every_noise_has_french_words() -> None:
    """How costs were found and what is assumed: nothing of ours stays English."""
    for name in ("DiscreteLaplace", "DiscreteGaussian", "Skellam", "Staircase", "Geometric"):
        module = __import__(load(name).__module__, fromlist=["EXAMPLES"])
        for noise, blocks in module.EXAMPLES:
            assert untranslated(noise.bind(blocks).method) == [], noise
    for noise in (mu.PermuteAndFlip(epsilon=1.0), mu.Exponential(epsilon=1.0)):
        assert untranslated(mu.Plan(mu.Mode(SCHEMA["region"]), curator=noise).bound.method) == []
    plan = mu.Plan(QUESTIONS["count"], curator=LAPLACE, unit="patient", rows_per_person=2, relation="replace")
    reader = plan.guarantees()["reader"]
    for text in (reader.assumption, *reader.public):
        assert untranslated(text) == [], text


# -- pictures ----------------------------------------------------------------------------------------------------------


def test_an_interval_that_says_nothing_does_not_crush_the_others() -> None:
    """The picture shows those that say something; the wide one is cut, with arrows; its numbers stay."""
    data = {"age": [48, 52] * 500 + [50] * 3, "region": ["north", "south"] * 500 + ["west"] * 3}
    plan, release = made(QUESTIONS["group"], data=data)
    page = report_html(release, plan=plan)
    english, french = said(page)

    assert re.search(r"west too noisy 0(\.0)? to 100", english) and "west trop bruité" in french
    assert page.count('class="arrow"') == 4  # two ends, two languages
    assert "A bar that ends in an arrow goes on beyond the picture" in english and "terminée par une flèche" in french
    bars = [float(wide) for wide in re.findall(r'class="fill" x="[\d.]+%" y="3" width="([\d.]+)%"', page)]
    assert sorted(bars)[0] > 3 and max(bars) == 100  # per cent of the picture; on the whole range it would be 1
    assert "arrow" not in report_html(made(QUESTIONS["group"])[1]).split("</style>")[1]


def test_windows() -> None:
    """Far wider than a narrow one, and most of the picture: cut. Alike, or alone, or two of a kind: all is shown."""
    assert window([(1, 2), (2, 3), (0, 100)]) == (1, 3)
    assert window([(1, 2), (0, 100)]) == (1, 2)
    assert window([(1, 2), (2, 3), (0, 100), (0, 100)]) == (1, 3)
    assert window([(0, 10), (5, 20)]) is None and window([(0, 100)]) is None and window([]) is None
    assert window([(1, 2), (50, 51), (0, 100)]) is None  # the others fill half of it anyway
    assert padded((1, 3)) == (0, 4) and padded((-5, -4)) == (-5.5, -3.5) and padded(None) is None
    assert window([(1, 1), (1, 1), (0, 9)]) is None


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 7), (0, 11), (12, 845), (0, 1e6), (0, 0.4)])
def test_scales_of_counts(low: float, high: float) -> None:
    scale = scale_of(Intervals("", (IntervalRow("a", low), IntervalRow("b", high)), "count"))

    assert scale.ticks[0] == 0 and 2 <= len(scale.ticks) <= 6 and scale.high >= high and scale.low == min(low, 0)
    assert all(tick == round(tick) for tick in scale.ticks) and "e+" not in str(scale.labels(Language("en"))[0])


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    pq.write_table(pa.table({n: rows()[n] for n in ("age", "region")}), "people.parquet")
    Path("schema.toml").write_text(mu.Schema({n: SCHEMA[n] for n in ("age", "region")}).to_toml())
    return tmp_path


def call(*words: str) -> Any:
    ends = ("--schema", "schema.toml", "--epsilon", "1", "--budget", "3")
    from murmure.cli import main

    return CliRunner().invoke(main, ["query", words[0], "people.parquet", *words[1:], *ends])


def charges() -> int:
    path = Path("murmure-ledger.db")
    return len([e for e in mu.Ledger(path).history() if e.kind == "charge"]) if path.exists() else 0


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_query_is_written_as_page_and_picture(suffix: str, folder: Path) -> None:
    """Both files, with the charge on the page; asked again it is the same answer, at no cost, and the same charge."""
    words = ("mean", "--column", "age", "--by", "region", "--html", "page.html", "--plot", f"figure.{suffix}", "--json")
    result = call(*words)
    assert result.exit_code == 0, result.output
    held = json.loads(result.stdout)
    english, _ = said(Path("page.html").read_text(encoding="utf-8"))

    assert (held["html"], held["plot"]) == ("page.html", f"figure.{suffix}")
    assert "Mean of age by region" in english and "in the ledger, charge 2: epsilon 2 of 3 is left" in english
    assert Path(f"figure.{suffix}").stat().st_size > 1000
    again = call(*words)
    assert again.exit_code == 0 and charges() == 1
    assert "charge 2: epsilon 2 of 3 is left" in said(Path("page.html").read_text(encoding="utf-8"))[0]


def test_places_are_checked_before_anything_is_paid(folder: Path) -> None:
    """No folder, another file, a wrong name, a table that is read, a label to draw: refused, and nothing charged."""
    Path("notes.html").write_text("mine")
    for words in (
        ("count", "--html", "absent/page.html"),
        ("count", "--html", "notes.html"),
        ("count", "--html", "page.txt"),
        ("count", "--plot", "figure.gif"),
        ("count", "--plot", "people.parquet"),
        ("mode", "--column", "region", "--plot", "figure.png"),
    ):
        result = call(*words)
        assert result.exit_code == 2, (words, result.output)
        assert charges() == 0 and not Path("figure.png").exists()
    assert Path("notes.html").read_text() == "mine"


def test_an_answer_that_was_paid_is_shown_even_if_no_file_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk after the charge: the answer is on the terminal, nothing half-written is left, and it is an error."""

    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    result = call("count", "--html", "page.html")

    assert result.exit_code != 0 and "no space left" in result.output and "count" in result.output
    assert re.search(r"\b(99\d|1,0[01]\d)\b", result.output) and charges() == 1
    assert sorted(p.name for p in folder.iterdir() if "page" in p.name) == []


# -- without the plan --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "english", "french"),
    [
        ("marginals", "5 columns, ", "5 colonnes, "),
        ("group", "Mean of age by region, ", "Moyenne : age, par region, "),
        ("where", "Mean of age, where region is 'north', ", "Moyenne : age, où region vaut 'north', "),
        ("between", "Count, where bmi is from 18 to 30, ", "Effectif, où bmi est entre 18 et 30, "),
    ],
)
def test_without_a_plan_the_title_says_what_the_release_knows(name: str, english: str, french: str) -> None:
    """Columns are counted, and groups and conditions named, from the estimate and its own words."""
    release = made(QUESTIONS[name])[1]
    titles = [flat(html.unescape(text)) for text in re.findall("<h1>(.*?)</h1>", report_html(release))]

    assert titles[0].startswith(f"{english}about ") and titles[1].startswith(f"{french}environ ")


def test_a_histogram_of_numbers_keeps_their_order() -> None:
    """Ages stand as ages do, all in sight where they are all that was asked; among many columns the rest is folded."""
    release = made(mu.Histogram(SCHEMA["age"]))[1]
    page = report_html(release).split('<article lang="fr">')[0]
    shown = re.findall(r'<th scope="row" class="name">(\d+)</th>', page)

    assert shown == [str(age) for age in range(101)] and "largest first" not in page
    schema = mu.Schema({"age": mu.Integers(0, 40), "smoker": SCHEMA["smoker"]})
    several = report_html(made(mu.Marginals(schema))[1]).split('<article lang="fr">')[0]
    seen, folded = several.split("<caption>age")[1].split("<caption>smoker")[0].split("<details>")
    assert re.findall(r'class="name">(\d+)</th>', seen) == [str(age) for age in range(12)]
    assert "29 more, in order" in folded
    labels = mu.Categories([f"label {i}" for i in range(30)], column="c")
    plan = mu.Plan(mu.Histogram(labels), curator=LAPLACE)
    held = mu.run(plan, ["label 7"] * 90 + ["label 3"] * 40, rng=mu.Random.seeded(1))
    sorted_ = re.findall(r'class="name">(label \d+)</th>', report_html(held))
    assert sorted_[:2] == ["label 7", "label 3"], "labels have no order: the largest come first"


def test_what_is_public_is_said_in_french() -> None:
    """Every kind of domain, with its column."""
    french = Language("fr")
    public = mu.Schema({"age": mu.Column(mu.Integers(-4, 9), public=True)})
    said = {
        mu.Categories(3).public(): "les 3 réponses de 0 à 2",
        mu.Categories(["a; the b", "c"], column="k").public(): "les 2 réponses 'a; the b', 'c' de la colonne « k »",
        public.public(): "les nombres entiers de -4 à 9 de la colonne « age », publique, telle quelle",
        mu.Interval(0.5, 1e6, cells=10).public(): "les nombres de 0,5 à 1e+06 en 10 cases",
        SCHEMA.public(): (
            "les nombres entiers de 0 à 100 de la colonne « age » ; les nombres de 15 à 45 en 300 cases de la colonne "
            "« bmi » ; les 3 réponses 'north', 'south', 'west' de la colonne « region » ; "
        ),
    }
    for one, other in said.items():
        assert flat(french.say(one)).startswith(other)
