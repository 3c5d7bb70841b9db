"""What a room is told about itself, against computations of other kinds: enumeration, simulation, changed reports."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.collector.documents import CHEATED, HOURS, OFTEN, document
from tests.collector.service.rooms import room_from_tally, room_of

from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.service.room import Room
from murmure.collector.service.room_attack import RoomAttack
from murmure.collector.service.room_words import RoomWords, room_document
from murmure.core.types import Total
from murmure.show.text import text

TWO_COINS = math.log(3)
WAY = {
    "name": "way",
    "kind": "choice",
    "text": {"en": "How do you come?"},
    "options": ["foot", "bicycle", "bus", "car"],
}
YES_NO = document(CHEATED, epsilon=TWO_COINS)
FOUR = document(WAY, epsilon=1.0, mechanism="GRR")


def grr(k: int, epsilon: float) -> np.ndarray:
    """Rows: answers; columns: reports. From the formula, not from the integers."""
    other = 1 / (math.exp(epsilon) + k - 1)
    law = np.full((k, k), other)
    np.fill_diagonal(law, math.exp(epsilon) * other)
    return law


def smoothed(room: Room) -> np.ndarray:
    """Shares cut to 0..1, scaled to all n people, one more for each answer."""
    shares = np.clip(np.asarray(room.estimate.mean), 0, 1)
    counts = room.n * shares / shares.sum() + 1
    return counts / counts.sum()


def best_of_all_guesses(prior: np.ndarray, law: np.ndarray) -> float:
    """Every rule that names an answer for each report is tried."""
    k, reports = law.shape
    joint = prior[:, None] * law
    rules = itertools.product(range(k), repeat=reports)
    return max(math.fsum(joint[rule[y], y] for y in range(reports)) for rule in rules)


# -- the guess ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("survey", "n", "tally", "k", "epsilon"),
    [
        (YES_NO, 25, [12, 13], 2, TWO_COINS),
        (YES_NO, 25, [9, 16], 2, TWO_COINS),
        (YES_NO, 1, [0, 1], 2, TWO_COINS),
        (FOUR, 25, [4, 3, 11, 7], 4, 1.0),
        (FOUR, 2, [1, 1, 0, 0], 4, 1.0),
    ],
)
def test_no_rule_guesses_more_often(survey: Any, n: int, tally: list[int], k: int, epsilon: float) -> None:
    """The best of all k^k rules, where the shares are as estimated; without a report the largest share."""
    attack = RoomAttack(room_from_tally(survey, n, tally))
    prior = smoothed(attack.room)

    assert attack.guess == pytest.approx((100 * best_of_all_guesses(prior, grr(k, epsilon)), 100 * prior.max()))


def test_each_line_of_the_table_is_right_as_often_as_it_says() -> None:
    """Bayes, report by report; weighted by how often each report comes they add up to the guess of the room."""
    attack = RoomAttack(room_from_tally(FOUR, 25, [4, 3, 11, 7]))
    joint = smoothed(attack.room)[:, None] * grr(4, 1.0)

    assert [row.count for row in attack.guesses] == [4, 3, 11, 7]
    for y, row in enumerate(attack.guesses):
        assert row.guess == WAY["options"][int(joint[:, y].argmax())]
        assert row.right == pytest.approx(100 * joint[:, y].max() / joint[:, y].sum())
    assert attack.guess is not None
    total = sum(share * row.right for share, row in zip(joint.sum(axis=0), attack.guesses, strict=True))
    assert total == pytest.approx(attack.guess[0])


@pytest.mark.parametrize(("tally", "helps"), [([12, 13], True), ([9, 16], False), ([25, 0], False)])
def test_where_reports_do_not_help_the_page_says_so(tally: list[int], helps: bool) -> None:
    """Reports help where the best guess after one report is not the best guess after another."""
    room = room_from_tally(YES_NO, 25, tally)
    joint = smoothed(room)[:, None] * grr(2, TWO_COINS)
    words = RoomWords(room)

    assert (len(set(joint.argmax(axis=0))) > 1) == helps == words.attack.gains
    assert any("do not help" in sentence for sentence in words.guessing()) != helps


def marginal_law(p: np.ndarray, shown: float) -> np.ndarray:
    """A column that is shown with a chance, and else an empty report."""
    return np.hstack([shown * p, np.full((len(p), 1), 1 - shown)])


def test_of_records_a_report_that_shows_another_question_does_not_help() -> None:
    """SMP of two questions: half of the reports are about the first one."""
    survey = document(CHEATED, OFTEN, epsilon=1.0, mechanism="smp")
    answers = [{"cheated": "yes" if i % 2 else "no", "often": "once"} for i in range(40)]
    attack = RoomAttack(room_of(survey, answers))

    law = marginal_law(grr(2, 1.0), 0.5)
    assert attack.guess is not None
    assert attack.guess[0] == pytest.approx(100 * best_of_all_guesses(smoothed(attack.room), law))


def test_of_records_with_fakes_the_whole_report_is_read() -> None:
    """RS+FD: one question is real, the other's answer is drawn evenly; all six reports of a record are listed."""
    survey = document(CHEATED, OFTEN, epsilon=1.0, mechanism="rsfd-grr")
    answers = [{"cheated": "yes" if i % 2 else "no", "often": "once"} for i in range(60)]
    attack = RoomAttack(room_of(survey, answers, seed=3))
    estimate = attack.room.results.release.estimate  # type: ignore[union-attr]

    def prior(name: str) -> np.ndarray:
        shares = np.clip(np.asarray(estimate[name].mean), 0, 1)
        counts = attack.room.n * shares / shares.sum() + 1
        return counts / counts.sum()

    amplified = math.log(2 * (math.e - 1) + 1)  # what one of two questions may spend, since nobody knows which it is
    first, second = grr(2, amplified), grr(3, amplified)
    law = np.zeros((2, 6))
    for x, (y, z) in itertools.product(range(2), itertools.product(range(2), range(3))):
        other = prior("often") @ second[:, z]
        law[x, 3 * y + z] = 0.5 * first[x, y] / 3 + 0.5 * 0.5 * other
    assert attack.guess is not None
    assert attack.guess[0] == pytest.approx(100 * best_of_all_guesses(prior("cheated"), law))


# -- many reports ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("survey", "k", "epsilon"), [(YES_NO, 2, TWO_COINS), (FOUR, 4, 1.0)])
def test_averaging_by_simulation(survey: Any, k: int, epsilon: float) -> None:
    """Seed 5, 40,000 people each: within 5 standard deviations (failure below 1e-5 for another seed)."""
    rng, people, law = np.random.default_rng(5), 40_000, grr(k, epsilon)
    attack = RoomAttack(room_from_tally(survey, 25, [25] + [0] * (k - 1)))

    assert [row.times for row in attack.repeated] == [1, 5, 20]
    assert attack.chance == pytest.approx(100 / k)
    for row in attack.repeated:
        true = rng.integers(0, k, people)
        counts = np.array([rng.multinomial(row.times, law[x]) for x in true])
        guess = (counts + rng.random(counts.shape) / 2).argmax(axis=1)  # the commonest report, ties at random
        assert row.kept is None
        assert abs((guess == true).mean() - row.fresh / 100) < 5 * math.sqrt(0.25 / people)


@pytest.mark.parametrize(("survey", "k", "epsilon"), [(YES_NO, 2, TWO_COINS), (FOUR, 4, 1.0)])
def test_of_a_hundred_who_hold_an_answer_and_of_a_hundred_who_do_not(survey: Any, k: int, epsilon: float) -> None:
    """So many send a report that fits it: of two fair coins 75 and 25. The room and the builder say the same."""
    held, other = 100 * math.exp(epsilon) / (math.exp(epsilon) + k - 1), 100 / (math.exp(epsilon) + k - 1)
    room = room_from_tally(survey, 25, [25] + [0] * (k - 1))
    (advised,) = builder_advice(survey, epsilon=epsilon)["questions"].values()

    assert room.hundred == pytest.approx((held, other))
    assert advised["hundred"] == pytest.approx((held, other))


@pytest.mark.parametrize(
    ("questions", "answer", "title"),
    [
        ([CHEATED], "yes", "If everybody had answered several times"),
        ([CHEATED, OFTEN], {"cheated": "yes", "often": "once"}, "If everybody had sent several reports about this"),
    ],
)
def test_what_a_room_would_repeat_is_its_answer_or_one_report_of_several(
    questions: Any, answer: Any, title: str
) -> None:
    words = RoomWords(room_of(document(*questions, epsilon=2.0), [answer] * 30))

    assert words.repeated_title.startswith(title)
    assert any("assumed to be unrelated" in one for one in words.guessing()) == (len(questions) > 1)


def test_a_kept_first_draw_stops_averaging() -> None:
    """Waves: twenty reports from one kept draw, simulated bit by bit. Seed 6, 40,000 people, 5 standard deviations."""
    survey = document(OFTEN, waves=4, epsilon=1.0, epsilon_total=2.0)
    room = room_of(survey, ["once"] * 25)
    row = RoomAttack(room).repeated[-1]
    keep = math.exp(1.0) / (1 + math.exp(1.0))  # of a bit of the first draw: half of the total epsilon is for each bit
    whole = math.exp(0.5) / (1 + math.exp(0.5))  # of a bit of a report: half of a wave's
    noisy = 0.5 + (whole - 0.5) / (2 * keep - 1)  # P[report 1 | kept 1], so that both steps give `whole`
    rng, people, k = np.random.default_rng(6), 40_000, 3
    true = rng.integers(0, k, people)
    kept = np.where(np.eye(k, dtype=bool)[true], rng.random((people, k)) < keep, rng.random((people, k)) < 1 - keep)
    counts = rng.binomial(row.times, np.where(kept, noisy, 1 - noisy))
    guess = (counts + rng.random(counts.shape) / 2).argmax(axis=1)

    assert row.kept is not None and row.kept < row.fresh
    assert abs((guess == true).mean() - row.kept / 100) < 5 * math.sqrt(0.25 / people)


# -- forged reports ----------------------------------------------------------------------------------------------------


def figures_of(room: Room, tally: Any, n: int) -> np.ndarray:
    """The estimate of other reports to the same plan, not cut."""
    return np.asarray(room.results.plan.settle(Total(n, np.asarray(tally))).estimate.mean).reshape(-1)


def tally_of(room: Room) -> np.ndarray:
    assert room.results.total is not None
    return np.asarray(room.results.total.sum)


@pytest.mark.parametrize("mechanism", ["GRR", "OUE", "SubsetSelection", "HadamardResponse"])
def test_forged_reports_move_a_share_as_far_as_it_says(mechanism: str) -> None:
    """Three of 25 reports are changed into any report that can be sent, and the estimate is made again.

    It is compared with what these three would have added by answering honestly: their answers, on average.
    """
    survey = document(WAY, epsilon=1.0, mechanism=mechanism)
    room = room_of(survey, ["bus"] * 25)
    rest = tally_of(room_of(survey, ["bus"] * 22))
    before = figures_of(room, rest, 22)
    farthest = 0.0
    for report in room.part.channel.outcomes():
        forged = figures_of(room, rest + 3 * room.part.tally(np.asarray(report)[None]), 25)
        for answer in np.eye(4):
            farthest = max(farthest, float(np.abs(forged - (22 * before + 3 * answer) / 25).max()))

    attack = RoomAttack(room)
    assert attack.forgers == 3
    assert attack.forged == pytest.approx(min(1.0, farthest))
    assert attack.counts_for == pytest.approx(farthest * 25 / 3)


@pytest.mark.parametrize("mechanism", ["Piecewise", "Hybrid", "Duchi"])
def test_forged_reports_move_a_mean_as_far_as_it_says(mechanism: str) -> None:
    """The same with numbers; the farthest reports are the first or the last of the law, and some others are tried."""
    survey = document(HOURS, epsilon=1.0, mechanism=mechanism)
    room = room_of(survey, [12] * 25)
    rest = tally_of(room_of(survey, [12] * 22))
    before = figures_of(room, rest, 22)[0]
    outcomes = room.part.channel.outcomes()
    farthest = 0.0
    for report in {*outcomes[::500], *outcomes[:3], *outcomes[-3:]}:
        forged = figures_of(room, rest + 3 * room.part.tally(np.asarray(report)[None]), 25)[0]
        for answer in (0, 40):
            farthest = max(farthest, abs(forged - (22 * before + 3 * answer) / 25))

    said = RoomAttack(room).forged
    assert said is not None
    assert min(40.0, farthest) <= said <= 1.001 * farthest  # half a cell of the grid: 0.005 of 40


def test_a_room_of_two_has_two_forgers_at_most() -> None:
    """And no share moves by more than all of it."""
    attack = RoomAttack(room_from_tally(FOUR, 2, [1, 1, 0, 0]))

    assert (attack.forgers, attack.forged) == (2, 1.0)
    assert str(RoomWords(attack.room).forged_title) == "If 2 of you forge their reports"


# -- the estimate ------------------------------------------------------------------------------------------------------


def yes_reports_law(n: int, holders: int) -> np.ndarray:
    """How many of n reports say yes, if so many people hold it: two coins, added up person by person."""
    law = np.ones(1)
    for person in range(n):
        law = np.convolve(law, [0.25, 0.75] if person < holders else [0.75, 0.25])
    return law


@pytest.mark.parametrize("yes", range(26))
def test_the_large_interval_is_that_of_25_people(yes: int) -> None:
    """All shares under which 2.5% of rooms have so few, or so many, reports; where there is none, it says so."""
    room = room_from_tally(YES_NO, 25, [25 - yes, yes])
    laws = [yes_reports_law(25, holders) for holders in range(26)]
    tails = [min(law[: yes + 1].sum(), law[yes:].sum()) for law in laws]
    fitting = [holders / 25 for holders in range(26) if tails[holders] >= 0.025]
    figure = room.headline
    assert figure is not None

    if fitting:
        assert (figure.low, figure.high) == pytest.approx((fitting[0], fitting[-1]))
    assert figure.unlikely == (len(fitting) < 2)
    headline = str(RoomWords(room).headline)
    assert headline.startswith("near" if figure.unlikely else "between")


@pytest.mark.parametrize(
    ("survey", "answer", "holders", "others"),
    [
        (YES_NO, "yes", 75, 25),  # e^epsilon = 3
        (document(WAY, epsilon=TWO_COINS, mechanism="GRR"), "bus", 50, 100 / 6),
        (document(WAY, epsilon=TWO_COINS, mechanism="OUE"), "bus", 50, 25),
        (document(CHEATED, WAY, epsilon=TWO_COINS, mechanism="smp"), {"cheated": "yes", "way": "bus"}, 75, 25),
        (document(HOURS), 12, None, None),
    ],
)
def test_how_many_of_a_hundred_send_a_report_that_fits(
    survey: Any, answer: Any, holders: float | None, others: float | None
) -> None:
    """Of those who hold an answer and of those who do not, by the formulas; a number has no such figures."""
    room = room_of(survey, [answer] * 20)
    said = " ".join(map(str, RoomWords(room).reasons()))

    assert room.hundred == (None if holders is None else pytest.approx((holders, others)))
    assert (holders is not None) == (f"Of 100 people who hold an answer, about {holders} send" in said)


def test_an_estimate_beyond_what_is_possible_is_shown_with_a_reason() -> None:
    """Seven of 25 say yes where a quarter does by chance alone; three say so: fewer than chance."""
    inside, outside = (RoomWords(room_from_tally(YES_NO, 25, [25 - yes, yes])) for yes in (9, 4))

    assert "shown as" not in " ".join(map(str, inside.reasons()))
    assert "The reports alone give -18%, by chance: it is shown as 0%." in " ".join(map(str, outside.reasons()))


def test_several_answers_have_no_favourite() -> None:
    """The largest of several estimates is too large on average, so none is put first; all are in the survey's order."""
    words = RoomWords(room_from_tally(FOUR, 25, [4, 3, 11, 7]))

    assert words.headline is None and words.best is None
    assert [figure.label for figure in words.room.pictured] == WAY["options"]


def test_odds_are_never_rounded_down() -> None:
    """For every epsilon the factor that is shown is at least e^epsilon, and at most 1% above it."""
    for epsilon in (0.01, 0.1, 0.5, 1.0, TWO_COINS, 2.0, 3.3, 5.0, 8.0):
        survey = document(CHEATED, epsilon=epsilon)
        shown = float(f"{RoomAttack(room_from_tally(survey, 2, [1, 1])).odds:.4g}")
        assert math.exp(epsilon) * (1 - 1e-6) <= shown <= 1.01 * math.exp(epsilon)


KINDS = {
    "yes-no": (YES_NO, "yes"),
    "scale": (document(OFTEN), "once"),
    "number": (document(HOURS), 12),
    "large number": (document({**HOURS, "high": 5000}), 1200),
    "number first of several": (document(HOURS, CHEATED), {"hours": 7, "cheated": "no"}),
    "several": (document(CHEATED, OFTEN, HOURS), {"cheated": "no", "often": "often", "hours": 3}),
    "fakes": (document(CHEATED, OFTEN, mechanism="rsfd-oue-z"), {"cheated": "no", "often": "often"}),
    "fakes or not": (document(CHEATED, OFTEN, mechanism="adp-rsfd"), {"cheated": "no", "often": "once"}),
    "waves": (document(CHEATED, waves=3, epsilon_total=2.0), "yes"),
    "hashes": (document(WAY, mechanism="OLH"), "bus"),
}


@pytest.mark.parametrize("n", [1, 2, 25])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question_has_its_words(kind: str, n: int) -> None:
    """From the first report on, in both languages; no number is missing or infinite."""
    survey, answer = KINDS[kind]
    room = Room.of(room_of(survey, [answer] * n).results)
    assert room is not None or survey["questions"][1:], "nothing to see"
    shown = room_document(room or room_of(survey, [answer] * 25))  # a single report may be about another question

    for language in ("en", "fr"):
        words = text(shown, language)  # type: ignore[arg-type]
        assert "nan" not in words.lower().split() and "inf" not in words.lower().split() and "{" not in words
    assert "attacks its own reports" in text(shown, "en")


def test_large_numbers_are_said_in_full() -> None:
    """From the back of the room: between 220 and 3,050, not 3.05e+03."""
    survey, answer = KINDS["large number"]
    words = RoomWords(room_of(survey, [answer] * 60))
    ends = [str(words.value(value)) for value in words.room.range]
    said = [str(words.headline), str(words.best), str(words.forging()), *ends]

    assert ends == ["0", "5,000"] and not any("e+" in one for one in said)


def test_what_forgers_could_do_is_never_rounded_down() -> None:
    """Three of 200 move a share by 2.25 points: not "by up to 2"."""
    words = RoomWords(room_from_tally(YES_NO, 200, [98, 102]))

    assert words.attack.forged == pytest.approx(0.0225)
    assert "by up to 2.3 points on average" in str(words.forging())


def test_there_is_nothing_to_see_before_a_report_is_about_the_question() -> None:
    """Of two questions, SMP reports one: over 20 rooms of one person both happen (all alike: once in 2^19)."""
    survey, answer = KINDS["several"]
    rooms = [Room.of(room_of(survey, [answer], seed).results) for seed in range(20)]

    assert None in rooms and any(rooms)


@pytest.mark.parametrize(
    ("of_100", "said"), [(99.4, "99 in 100"), (99.6, "more than 99 in 100"), (100.0, "more than 99")]
)
def test_a_guess_is_never_said_to_be_certain(of_100: float, said: str) -> None:
    """At a large epsilon a report proves nothing all the same."""
    words = RoomWords(room_from_tally(YES_NO, 25, [12, 13]))

    assert str(words.rate(of_100)).startswith(said)
