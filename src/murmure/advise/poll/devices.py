"""Real devices with which people randomise their own answers, as data: a new device is one entry of DEVICES.

A device is one draw or two. A draw is from a thing with faces (a coin, a die, a deck, a calendar, slips of paper), and
each face leads to one of three: the truth, a given answer, or the next draw. Steps in words, the probability tree and
the tests are made from these faces. `truth` and `mechanism` say which law of ours this is, in exact fractions; a test
goes through all faces and compares. Nothing else about a device is computed here: its epsilon is read off that law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from murmure.core.domain import Categories, Domain
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.local.grr import GRR
from murmure.local.unrelated import UnrelatedQuestion
from murmure.local.warner import Warner
from murmure.show.phrase import Several

MAX_ANSWERS = 20  # more answers than this do not fit a card, nor a bag of slips

Then = int | Literal["truth", "next"]  # an answer, by its number from 0; or what is true; or the next draw


# -- things that people own --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thing:
    """Its faces, each with how many equally likely cases it stands for."""

    faces: tuple[tuple[str, int], ...]

    @property
    def cases(self) -> int:
        return sum(cases for _, cases in self.faces)

    def count(self, faces: Sequence[str]) -> int:
        cases = dict(self.faces)
        return sum(cases[face] for face in faces)


def _each(*faces: str) -> tuple[tuple[str, int], ...]:
    return tuple((face, 1) for face in faces)


LOW_32, LOW_52, HIGH = ("7", "8", "9", "10"), tuple(map(str, range(2, 11))), ("J", "Q", "K", "A")
SUITS = ("clubs", "spades", "hearts", "diamonds")  # the first two are black
COIN = Thing(_each("heads", "tails"))
DIE = Thing(_each(*map(str, range(1, 7))))
DECK_32, DECK_52 = (
    Thing(_each(*(f"{rank} {suit}" for rank in (*low, *HIGH) for suit in SUITS))) for low in (LOW_32, LOW_52)
)
# The days of each month in 400 years, after which the Gregorian calendar repeats; 97 of them are leap years.
MONTHS = Thing(
    tuple(
        (str(month), 400 * days + (97 if month == 2 else 0))
        for month, days in enumerate((31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1)
    )
)
JANUARY_TO_MARCH = Fraction(MONTHS.count(("1", "2", "3")), MONTHS.cases)  # 36097/146097


# -- devices -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FaceRule:
    """What to do on some faces. event: these faces in words."""

    on: tuple[str, ...]
    event: str
    then: Then


@dataclass(frozen=True)
class DeviceDraw:
    """What to do, and then a rule for every face. answers_in_words: one sentence for all rules that name an answer."""

    do: str
    thing: Thing
    rules: tuple[FaceRule, ...]
    answers_in_words: str | None = None

    def chance(self, rule: FaceRule) -> Fraction:
        return Fraction(self.thing.count(rule.on), self.thing.cases)


@dataclass(frozen=True)
class Device:
    """A way to randomise by hand.

    answers: for how many answers it works. draws: what people do, for so many answers. truth: the probability of the
    truth, for so many. mechanism: the law, from the answers and that probability.
    """

    name: str
    title: str
    needs: Callable[[int], str]
    answers: tuple[int, ...]
    draws: Callable[[int], tuple[DeviceDraw, ...]]
    truth: Callable[[int], Fraction]
    mechanism: Callable[[Domain, Fraction], Any]
    after: str | None = None  # a last step, which changes nothing in the answer
    remark: str | None = None  # what must be known beside the faces

    def on(self, domain: Domain) -> Any:
        """The mechanism that people run when they follow the steps."""
        return self.mechanism(domain, self.truth(domain.size))


def _forced(domain: Domain, truth: Fraction) -> Any:
    """The truth, or one of all answers, each equally likely."""
    return Warner(domain, truth=truth) if domain.size == 2 else GRR(domain, truth=truth)


TRUTH_CARD = Phrase("A number card")
HEADS, TAILS = Phrase("Heads"), Phrase("Tails")


def _two_coins(k: int) -> tuple[DeviceDraw, ...]:
    first = (FaceRule(("heads",), HEADS, "truth"), FaceRule(("tails",), TAILS, "next"))
    second = (FaceRule(("heads",), HEADS, 1), FaceRule(("tails",), TAILS, 0))
    return (
        DeviceDraw(Phrase("Toss a coin."), COIN, first),
        DeviceDraw(Phrase("Toss the coin again."), COIN, second),
    )


def _faces(numbers: Sequence[int]) -> Phrase:
    return Phrase("The die shows {faces}", faces=Several([str(n) for n in numbers], Phrase(" or ")))


def _die(k: int, faces_each: int = 1) -> tuple[DeviceDraw, ...]:
    """The first faces each stand for an answer, the others for the truth."""
    shares = [range(1 + i * faces_each, 1 + (i + 1) * faces_each) for i in range(k)]
    rest = range(1 + k * faces_each, 7)
    rules = [FaceRule(tuple(map(str, share)), _faces(share), i) for i, share in enumerate(shares)]
    rules.append(FaceRule(tuple(map(str, rest)), _faces(rest), "truth"))
    return (DeviceDraw(Phrase("Throw a die."), DIE, tuple(rules)),)


def _birthday(k: int) -> tuple[DeviceDraw, ...]:
    spring, others = ("1", "2", "3"), tuple(map(str, range(4, 13)))
    first = (FaceRule(("heads",), HEADS, "truth"), FaceRule(("tails",), TAILS, "next"))
    second = (
        FaceRule(spring, Phrase("In January, February or March"), 1),
        FaceRule(others, Phrase("In another month"), 0),
    )
    return (
        DeviceDraw(Phrase("Toss a coin."), COIN, first),
        DeviceDraw(Phrase("Think of your mother's birthday. Do not say when it is."), MONTHS, second),
    )


def _cards(k: int, deck: Thing, low: tuple[str, ...]) -> tuple[DeviceDraw, ...]:
    """A number card: the truth. A picture or an ace: its colour, or its suit, says the answer."""
    black, red = SUITS[:2], SUITS[2:]
    groups = [black, red] if k == 2 else [(suit,) for suit in SUITS]
    words = (
        [Phrase("A black picture or ace"), Phrase("A red picture or ace")]
        if k == 2
        else [
            Phrase("A picture or ace of clubs"),
            Phrase("A picture or ace of spades"),
            Phrase("A picture or ace of hearts"),
            Phrase("A picture or ace of diamonds"),
        ]
    )
    number = tuple(f"{rank} {suit}" for rank in low for suit in SUITS)
    rules = [FaceRule(number, TRUTH_CARD, "truth")]
    for i, (suits, event) in enumerate(zip(groups, words, strict=True)):
        rules.append(FaceRule(tuple(f"{rank} {suit}" for rank in HIGH for suit in suits), event, i))
    do = Phrase("Shuffle the cards and draw one.")
    return (DeviceDraw(do, deck, tuple(rules)),)


def _slips(k: int, blank: int) -> tuple[DeviceDraw, ...]:
    """A slip for each answer, and so many that ask for the truth."""
    answers = tuple(FaceRule((str(i + 1),), Phrase("The slip of answer {number}", number=i + 1), i) for i in range(k))
    truth = FaceRule(("blank",), Phrase("A blank slip"), "truth")
    thing = Thing((("blank", blank), *_each(*(str(i + 1) for i in range(k)))))
    return (
        DeviceDraw(
            Phrase("Shake the bag and draw a slip."),
            thing,
            (truth, *answers),
            Phrase("A slip with an answer on it: say that answer, whatever is true."),
        ),
    )


def _slips_device(blank: int) -> Device:
    return Device(
        f"slips-{blank}",
        Plural("a bag of slips, {n} of them blank", "a bag of slips, {n} of them blank", n=blank),
        lambda k: Phrase(
            "{slips} of paper of the same size, folded, in a bag: one for each answer, with the answer written on it, "
            "and {blank}",
            slips=Plural("{n} slip", "{n} slips", n=k + blank),
            blank=Plural("{n} that is blank", "{n} that are blank", n=blank),
        ),
        tuple(range(2, MAX_ANSWERS + 1)),
        partial(_slips, blank=blank),
        lambda k: Fraction(blank, blank + k),
        _forced,
        after=Phrase("Put the slip back into the bag."),
    )


def _constant(value: Any) -> Callable[[int], Any]:
    return lambda k: value


DEVICES: tuple[Device, ...] = (
    Device(
        "two-coins",
        Phrase("two coins"),
        _constant(Phrase("a coin, tossed once or twice")),
        (2,),
        _two_coins,
        _constant(Fraction(1, 2)),
        _forced,
    ),
    Device(
        "die",
        Phrase("one die"),
        _constant(Phrase("a die, thrown once")),
        (2, 3, 4, 5),
        _die,
        lambda k: Fraction(6 - k, 6),
        _forced,
    ),
    Device(
        "die-cautious",
        Phrase("one die, more cautious"),
        _constant(Phrase("a die, thrown once")),
        (2,),
        partial(_die, faces_each=2),
        _constant(Fraction(1, 3)),
        _forced,
    ),
    Device(
        "birthday",
        Phrase("a coin and a birthday"),
        _constant(Phrase("a coin, and the birthday of somebody whom the interviewer does not know: one's mother")),
        (2,),
        _birthday,
        _constant(Fraction(1, 2)),
        lambda domain, truth: UnrelatedQuestion(domain, truth=truth, innocuous=JANUARY_TO_MARCH),
        remark=Phrase(
            "Assumed: {share} of all mothers were born in January, February or March ({percent:.2f}%), the share of "
            "these days in 400 years of the calendar. It is a public constant, not an estimate. Where "
            "the true share differs by a percentage point, the estimated share does too; where it is smaller, epsilon "
            "is larger. One question only: a birthday stays the same, so two answers by the same one can rule out what "
            "is true, whatever epsilon says.",
            share=str(JANUARY_TO_MARCH),
            percent=float(100 * JANUARY_TO_MARCH),
        ),
    ),
    Device(
        "cards-32",
        Phrase("a deck of 32 cards"),
        _constant(Phrase("a deck of 32 cards: 7 to ace in four suits")),
        (2, 4),
        partial(_cards, deck=DECK_32, low=LOW_32),
        _constant(Fraction(1, 2)),
        _forced,
        after=Phrase("Put the card back."),
    ),
    Device(
        "cards-52",
        Phrase("a deck of 52 cards"),
        _constant(Phrase("a deck of 52 cards, without jokers")),
        (2, 4),
        partial(_cards, deck=DECK_52, low=LOW_52),
        _constant(Fraction(9, 13)),
        _forced,
        after=Phrase("Put the card back."),
    ),
    *(_slips_device(blank) for blank in (1, 2, 4, 9)),
)
NAMES = tuple(device.name for device in DEVICES)


def device_named(name: str, answers: int) -> Device:
    """The device of this name, if it works for so many answers."""
    found = next((device for device in DEVICES if device.name == str(name).lower()), None)
    if found is None:
        raise InvalidParameter(
            "there is no device {name}.",
            hint="the devices are {names}",
            name=shorten(name),
            names=", ".join(NAMES),
        )
    if answers not in found.answers:
        raise InvalidParameter(
            "the device {name} does not work for {answers} answers; wanted {wanted}.",
            hint="devices for {answers} answers: {others}",
            name=found.name,
            answers=answers,
            wanted=Several([str(n) for n in found.answers], Phrase(" or ")),
            others=", ".join(device.name for device in DEVICES if answers in device.answers) or Phrase("none"),
        )
    return found


EXAMPLES = tuple((device, Categories(k)) for device in DEVICES for k in device.answers)
