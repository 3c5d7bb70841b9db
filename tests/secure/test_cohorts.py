"""No combination of released cohorts tells about fewer parties than agreed; checked against brute force."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest

from murmure.core.errors import InvalidParameter
from murmure.secure.cohorts import Cohorts, check_ratio, isolated_parties
from murmure.secure.errors import CohortRefused


def names(numbers) -> frozenset[str]:
    return frozenset(f"party {i}" for i in numbers)


def rank(rows: list[list[Fraction]]) -> int:
    """Gauss in fractions, the textbook way."""
    rows, found = [row[:] for row in rows], 0
    for k in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][k]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][k] / rows[found][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def tells_about_few(cohorts: list[frozenset[str]], minimum: int) -> bool:
    """By definition, party by party: a combination that is zero outside T, for any T of fewer than `least` parties.

    One that is not zero everywhere exists exactly if dropping T's columns lowers the rank.
    """
    parties = sorted(frozenset().union(*cohorts))
    table = [[Fraction(party in cohort) for party in parties] for cohort in cohorts]
    full = rank(table)
    for size in range(1, minimum):
        for T in itertools.combinations(range(len(parties)), min(size, len(parties))):
            if rank([[x for j, x in enumerate(row) if j not in T] for row in table]) < full:
                return True
    return False


def small_combination(cohorts: list[frozenset[str]], minimum: int, largest: int) -> bool:
    """Literally: some combination with whole weights up to `largest` is confined to fewer than `least` parties."""
    parties = sorted(frozenset().union(*cohorts))
    table = np.array([[party in cohort for party in parties] for cohort in cohorts], int)
    weights = np.array(list(itertools.product(range(-largest, largest + 1), repeat=len(cohorts))))
    support = (weights @ table != 0).sum(axis=1)
    return bool(((support > 0) & (support < minimum)).any())


def test_the_guard_agrees_with_brute_force_on_random_cohorts():
    """600 families of up to 5 cohorts of up to 8 parties, least 1 to 4 (seeded); both answers occur often."""
    rng = np.random.default_rng(7)
    answers = []
    for _ in range(600):
        m, count, minimum = int(rng.integers(3, 9)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
        cohorts = [names(np.flatnonzero(rng.random(m) < rng.choice([0.5, 0.8]))) for _ in range(count)]
        if not frozenset().union(*cohorts):
            continue
        expected = tells_about_few(cohorts, minimum)
        few = isolated_parties(cohorts, minimum)
        assert (few is not None) == expected
        if few is not None:  # the fewest that there are
            assert 0 < len(few) < minimum and not tells_about_few(cohorts, len(few))
        answers.append(expected)
    assert 100 < sum(answers) < len(answers) - 100


def test_the_guard_agrees_with_brute_force_on_every_pair_and_triple_of_cohorts_of_four():
    """All families of 2 or 3 of the 15 cohorts of 4 parties; and with combinations written out."""
    every = [names(c) for size in range(1, 5) for c in itertools.combinations(range(4), size)]
    for cohorts in itertools.chain(itertools.combinations(every, 2), itertools.combinations(every, 3)):
        for minimum in (1, 2, 3):
            expected = tells_about_few(list(cohorts), minimum)
            assert (isolated_parties(cohorts, minimum) is not None) == expected
            assert small_combination(list(cohorts), minimum, 3) == expected


def test_a_retry_with_one_party_less_is_refused_and_named():
    held = Cohorts((names(range(10)),))
    with pytest.raises(CohortRefused, match="party 9"):
        held.check(names(range(9)))
    with pytest.raises(CohortRefused, match="2 alone"):
        held.check(names(range(8)))
    held.check(names(range(7)))
    held.check(names(range(10)))


def test_cohorts_that_differ_by_many_can_isolate_one_all_the_same():
    """{1,2,3} + {3,4,5} - {1,2,4,5} is twice party 3, though any two of them differ by three or more."""
    a, b, c = names([1, 2, 3]), names([3, 4, 5]), names([1, 2, 4, 5])
    held = Cohorts().including(a).including(b)
    held.check(names(range(1, 6)) | names(range(10, 20)))
    with pytest.raises(CohortRefused, match=r"1 alone \(party 3\)"):
        held.check(c)


def test_parties_that_are_always_together_protect_one_another():
    """Two halves of six: their differences are halves, and three is enough."""
    held = Cohorts((names(range(6)),))
    held.check(names(range(3)))
    held.including(names(range(3))).check(names(range(3, 6)))
    with pytest.raises(CohortRefused):
        Cohorts(held.released, minimum=4).check(names(range(3)))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_cohort_below_the_least_is_refused_at_once(size):
    with pytest.raises(CohortRefused):
        Cohorts().check(names(range(size)))


def test_the_first_cohort_and_the_same_again_are_free():
    held = Cohorts().including(names(range(3)))
    held.check(names(range(3)))
    assert held.including(names(range(3))) == held
    assert len(held.including(names(range(4))).released) == 2


def test_cohorts_apart_from_one_another_are_free():
    Cohorts((names(range(3)), names(range(3, 6)))).check(names(range(6, 9)))


def test_many_cohorts_of_many_parties_are_checked_in_time():
    """20 random halves of 1,000 parties and 30 nested ones of 300: about a second, not a search over subsets."""
    rng = np.random.default_rng(3)
    start = time.perf_counter()
    Cohorts(tuple(names(np.flatnonzero(rng.random(1000) < 0.5)) for _ in range(20))).check(names(range(1000)))
    Cohorts(tuple(names(range(10 * i + 10)) for i in range(29))).check(names(range(300)))
    with pytest.raises(CohortRefused):
        Cohorts(tuple(names(range(10 * i + 10)) for i in range(29))).check(names(range(289)))
    assert time.perf_counter() - start < 15


def test_as_many_sums_as_a_third_of_the_rows_and_no_more():
    check_ratio(33, 99)
    with pytest.raises(CohortRefused, match="at most 33 sums"):
        check_ratio(34, 99)
    check_ratio(99, 99, Fraction(1))
    check_ratio(0, 0)
    with pytest.raises(CohortRefused):
        check_ratio(1, 0)


@pytest.mark.parametrize(
    "wrong", [lambda: Cohorts((), 0), lambda: check_ratio(-1, 3), lambda: check_ratio(1, 3, Fraction(0))]
)
def test_what_is_no_guard_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        wrong()
