"""The lectures' mistakes fail the same certifier and the same checks that every real mechanism passes."""

import math

import pytest

import murmure as mu
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.intervals import check_coverage
from murmure.certify.checks.mechanisms import check_law
from murmure.certify.divergence import max_loss
from murmure.core.estimates import intervals
from murmure.lectures import mistakes

# math.md section 3: eps exact of the staircase redrawn until inside, for gamma1 (library) and gamma2 (lecture)
REDRAWN = {
    0.25: (0.361097, 0.363143),
    0.5: (0.699833, 0.706353),
    1.0: (1.331797, 1.348735),
    2.0: (2.489880, 2.519774),
    4.0: (4.623081, 4.648665),
    8.0: (8.683947, 8.690101),
}


@pytest.mark.parametrize("epsilon", REDRAWN)
def test_the_redrawn_staircase_spends_more_than_it_says(epsilon):
    """Redrawing divides by C(x), which depends on the secret: 1.3318 at epsilon 1 with the library's gamma."""
    for kind, expected in zip(("absolute", "variance"), REDRAWN[epsilon], strict=True):
        certificate = mu.certify(mistakes.redrawn_staircase(epsilon, kind, cells=128))

        assert certificate.epsilon == pytest.approx(expected, abs=1e-6)
        assert certificate.asked == epsilon < certificate.epsilon


def test_the_witness_is_an_end_against_the_middle():
    """The loss is attained by a report at one end, from somebody at that end against anybody gamma away from both."""
    lesson = mistakes.redrawn_staircase(1.0)
    x, other, y = max_loss(lesson.channel).witness
    cells = lesson.channel.inputs - 1

    ratio = lesson.channel.prob(x, y) / lesson.channel.prob(other, y)
    assert math.log(ratio) == pytest.approx(1.331797, abs=1e-6)
    assert x in (0, cells)
    assert 0.3775 * cells <= other <= (1 - 0.3775) * cells  # there C(x) is largest, and flat


def test_the_same_reports_clamped_cost_no_more_than_unclamped():
    """One draw and a function is post-processing: the certificate does not rise; redrawing is not of that form."""
    for epsilon in (0.5, 1.0, 2.0):
        plain = mu.certify(mistakes.unbounded_staircase(epsilon)).epsilon
        clamped = mu.certify(mistakes.clamped_staircase(epsilon)).epsilon
        redrawn = mu.certify(mistakes.redrawn_staircase(epsilon)).epsilon

        assert clamped <= plain < redrawn
        assert plain == pytest.approx(epsilon, abs=1e-9)


def test_the_density_as_printed_weighs_two():
    """Lecture 000 prints b^j for step j: the total mass is 2.00 at epsilon 1; with b^(j+1) it is exactly 1."""
    right = mistakes.StaircaseSteps(1.0, printed=False)
    check_law(mistakes.StepsLesson(right), list(right.outcomes()))

    printed = mistakes.StaircaseSteps(1.0, printed=True)
    with pytest.raises(CheckFailed, match=r"sums to 2\.00"):
        check_law(mistakes.StepsLesson(printed), list(printed.outcomes()))


@pytest.mark.parametrize(("mechanism", "worst"), [("GRR", "0.335"), ("OUE", "0.538")])
def test_var_star_is_not_an_error_bar(mechanism, worst):
    """fhat +- 1.96 sqrt(Var*) covers a share of one half in 33 % (GRR) or 54 % (OUE) of cases; the score bar passes."""
    supports = getattr(mu, mechanism)(mu.Categories(128), 4.0).supports
    p, q = float(supports.p), float(supports.q)
    check_coverage(intervals.score_fixed, 1000, p, q, [0.02, 0.1, 0.5])

    with pytest.raises(CheckFailed, match=r"covers the share 0\.02"):
        check_coverage(mistakes.var_star_bar, 1000, p, q, [0.02, 0.1, 0.5])
    with pytest.raises(CheckFailed, match=f"covers the share 0.5 in {worst}"):
        check_coverage(mistakes.var_star_bar, 1000, p, q, [0.5])


def test_the_listing_never_redraws():
    """`return` inside the loop: 68 % of an end value's reports leave the bounds at epsilon 1."""
    assert mistakes.share_outside_listing(1.0) == pytest.approx(0.684, abs=5e-4)


def test_a_lesson_cannot_be_used():
    """A lesson has no tally and no estimate, cannot be sampled, fills no plan and is no public name."""
    lesson = mistakes.redrawn_staircase(1.0)
    with pytest.raises(TypeError, match="lesson"):
        lesson.channel.draw(None, None)
    with pytest.raises(mu.MurmureError):
        mu.Plan(mu.Histogram(lesson.domain), person=lesson)

    assert not hasattr(lesson, "tally")
    assert not any(name in mu.catalogue.PUBLIC for name in vars(mistakes) if name[0].isupper() and "air" in name)
