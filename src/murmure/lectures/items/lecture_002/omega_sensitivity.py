"""Noise on the weights themselves: one person can move them without bound."""

from __future__ import annotations

from fractions import Fraction

from murmure import econometrics
from murmure.core.domain import Interval
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import squared_loss, true_sensitivity
from murmure.plan.privacy import Clear
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

OTHERS = 100  # people at (0, 0): with a hundred or a million of them the slopes are the same
Points = list[tuple[Fraction, Fraction]]


def neighbours(h: Fraction) -> tuple[Points, Points]:
    """The same people but for one, who is at (h, 1) or at (h, -1). All of it lies in the box from -1 to 1."""
    others = [(Fraction(0), Fraction(0))] * OTHERS
    return [*others, (h, Fraction(1))], [*others, (h, Fraction(-1))]


def measure(work: Work) -> Measured:
    steps = [Fraction(1, 2**j) for j in range(0, work.choose(4, 13, 21), 2)]
    omega, quadratic = [], []
    for h in steps:
        first, second = map(squared_loss, neighbours(h))
        w, v = first.argmin(), second.argmin()
        omega.append(float(sum(abs(a - b) for a, b in zip(w, v, strict=True))))
        quadratic.append(float(first.distance(second)))
    x = tuple(float(1 / h) for h in steps)
    bound = float(true_sensitivity(1, relation="replace"))
    figure = Curves(
        Phrase("How far one person moves the weights, and the coefficients of f_D"),
        (
            Curve(Phrase("weights (least squares)"), x, tuple(omega)),
            Curve(Phrase("coefficients of f_D"), x, tuple(quadratic)),
            Curve(Phrase("bound of the coefficients"), x, (bound,) * len(x)),
        ),
        Phrase("1 / h"),
        Phrase("change (sum of absolute values)"),
        log=True,
        log_x=True,
    )
    fitted = [slope(Fraction(1, 8), sign) for sign in (1, -1)]
    return Measured(
        Phrase(
            "{others} people at (0, 0) and one at (h, 1) or (h, -1): all within the bounds. The slopes are 1/h and "
            "-1/h. At h = {h:.2g} exchanging that one person moves the weights by {apart:,.0f}, and the coefficients "
            "of f_D by {bounded:.2f}; no row and no h moves these by more than {bound:.0f}",
            others=OTHERS,
            h=float(steps[-1]),
            apart=omega[-1],
            bounded=quadratic[-1],
            bound=bound,
        ),
        {"h": [float(h) for h in steps], "weights": omega, "coefficients": quadratic},
        (figure,),
        blocks=(
            Table(
                Phrase("Neighbouring tables"),
                ("h", Phrase("change of the weights"), Phrase("change of the coefficients")),
                tuple(
                    (str(h), Number(a, "fixed", 1), Number(b, "fixed", 3))
                    for h, a, b in zip(steps, omega, quadratic, strict=True)
                ),
                folded=True,
            ),
            Paragraph(
                Phrase(
                    "Murmure's own least squares, in the clear, at h = 1/8: slopes {up:.2f} and {down:.2f}. Noise of "
                    "any finite scale on the weights is too small for some h; noise on the coefficients is not, and "
                    "the weights that follow from noisy coefficients cost nothing more.",
                    up=fitted[0],
                    down=fitted[1],
                )
            ),
        ),
    )


def slope(h: Fraction, outcome: int) -> float:
    """By econometrics.ols, on a grid that holds 0, h and 1."""
    schema = Schema({"x": Interval(-1 - 1 / 1024, 1 + 1 / 1024, cells=1025), "y": Interval(-1.5, 1.5, cells=3)})
    rows = {"x": [0.0] * OTHERS + [float(h)], "y": [0.0] * OTHERS + [float(outcome)]}
    return float(econometrics.ols("y ~ x", rows, schema=schema, privacy=Clear()).params[1])


ITEM = Item(
    Phrase("Noise on the weights: no bounded sensitivity"),
    Phrase("what is noised?"),
    measure,
    claimed=Phrase("Laplace noise added to the weights: their sensitivity is not bounded"),
    verdicts=(33,),
)
