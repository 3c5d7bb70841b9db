"""What people do with their hands is the law that is certified: every face of every device is gone through."""

from __future__ import annotations

import datetime
import decimal
import math
from decimal import Decimal
from fractions import Fraction

import pytest

import murmure as mu
from murmure.advise.poll.devices import (
    DECK_32,
    DECK_52,
    DEVICES,
    EXAMPLES,
    JANUARY_TO_MARCH,
    MONTHS,
    Device,
    device_named,
)
from murmure.core.errors import InvalidParameter

names = [f"{device.name}, {domain.size} answers" for device, domain in EXAMPLES]


def enumerated(device: Device, k: int) -> list[list[Fraction]]:
    """P[said | true], face by face, as somebody with the thing in hand would count it."""
    draws = device.draws(k)

    def follow(at: int, true: int, weight: Fraction, row: list[Fraction]) -> None:
        draw = draws[at]
        rule_of = {face: rule for rule in draw.rules for face in rule.on}
        assert len(rule_of) == sum(len(rule.on) for rule in draw.rules)  # no face has two rules
        for face, cases in draw.thing.faces:  # and each has one
            then, chance = rule_of[face].then, weight * Fraction(cases, sum(c for _, c in draw.thing.faces))
            if then == "next":
                follow(at + 1, true, chance, row)
            else:
                row[true if then == "truth" else then] += chance

    rows = []
    for true in range(k):
        row = [Fraction(0)] * k
        follow(0, true, Fraction(1), row)
        rows.append(row)
    return rows


@pytest.mark.parametrize(("device", "domain"), EXAMPLES, ids=names)
def test_the_faces_give_the_law(device: Device, domain: mu.Categories) -> None:
    """As fractions, up to the 2**-64 of a law in integers; what is left over by all lies is in the truth."""
    k, channel = domain.size, device.on(domain).channel
    for true, row in enumerate(enumerated(device, k)):
        assert sum(row) == 1
        for said, chance in enumerate(row):
            units = k - 1 if said == true else 1

            assert abs(channel.prob(true, said) - chance) <= Fraction(units, 2**64)


@pytest.mark.parametrize(("device", "domain"), EXAMPLES, ids=names)
def test_the_certificate_covers_the_faces(device: Device, domain: mu.Categories) -> None:
    """Never below what the exact fractions of the device give away, and not above by more than rounding."""
    rows = enumerated(device, domain.size)
    ratio = max(a[y] / b[y] for a in rows for b in rows for y in range(domain.size))
    certified = mu.certify(device.on(domain)).epsilon

    with decimal.localcontext(prec=60):
        assert Decimal(certified).exp() >= Decimal(ratio.numerator) / Decimal(ratio.denominator)
    assert math.isclose(certified, math.log(ratio), rel_tol=1e-12)


def test_decks_have_all_their_cards() -> None:
    assert (DECK_32.cases, DECK_52.cases) == (32, 52)
    assert len({face for face, _ in DECK_52.faces}) == 52
    assert {face for face, _ in DECK_32.faces} < {face for face, _ in DECK_52.faces}


def test_the_share_of_birthdays_is_that_of_the_calendar() -> None:
    """Every day of 400 years, after which the calendar repeats."""
    first, days = datetime.date(2000, 1, 1), 146_097
    months = [(first + datetime.timedelta(day)).month for day in range(days)]

    assert (first + datetime.timedelta(days)) == datetime.date(2400, 1, 1)
    assert dict(MONTHS.faces) == {str(m): months.count(m) for m in range(1, 13)}
    assert Fraction(sum(m <= 3 for m in months), days) == JANUARY_TO_MARCH


def test_names_differ_and_two_answers_have_every_kind() -> None:
    assert len({device.name for device in DEVICES}) == len(DEVICES)
    kinds = {type(device.on(mu.Categories(k))).__name__ for device in DEVICES for k in device.answers}

    assert kinds == {"Warner", "UnrelatedQuestion", "GRR"}


def test_unknown_devices_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="there is no device 'roulette'"):
        device_named("roulette", 2)
    with pytest.raises(InvalidParameter, match="two-coins does not work for 3 answers; wanted 2"):
        device_named("two-coins", 3)


def test_one_birthday_for_two_questions_is_warned_against() -> None:
    """Why the remark says one question only: the reports (yes, no) are impossible for somebody who holds (no, yes)."""
    device = next(device for device in DEVICES if device.name == "birthday")
    coin, birthday = device.draws(2)
    truth = coin.chance(next(rule for rule in coin.rules if rule.then == "truth"))

    def chance(reports: tuple[int, int], holds: tuple[int, int]) -> Fraction:
        return sum(
            birthday.chance(rule)
            * (truth * (reports[0] == holds[0]) + (1 - truth) * (reports[0] == rule.then))
            * (truth * (reports[1] == holds[1]) + (1 - truth) * (reports[1] == rule.then))
            for rule in birthday.rules
        )

    assert chance((1, 0), (0, 1)) == 0 < chance((1, 0), (0, 0))
    assert "One question only" in str(device.remark)
