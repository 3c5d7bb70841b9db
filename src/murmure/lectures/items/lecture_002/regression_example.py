"""Three points and a line, in fractions."""

from __future__ import annotations

from fractions import Fraction

from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.learn.linear import LinearRegression
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import POINTS, fits, squared_loss
from murmure.plan.privacy import Clear
from murmure.show.document import Curve, Curves, Paragraph, Table

PRINTED_COEFFICIENTS = ("3", "2.8", "0.6", "2.06", "-2.34", "1.25")
PRINTED_FITS = (Fraction(837, 2110), Fraction(1280, 4220), Fraction(4221, 4220))
PRINTED_WEIGHTS = (Fraction(-564, 1055), Fraction(393, 422))
MISPRINT = Fraction(3, 10)  # in the second row of X, where the point has 9/10
TENTHS = Schema({"x": Integers(-10, 10), "y": Integers(-10, 10)})


def measure(work: Work) -> Measured:
    loss = squared_loss(POINTS)
    weights = loss.argmin()
    values = fits(*weights)
    misprinted = squared_loss([(MISPRINT if i == 1 else x, y) for i, (x, y) in enumerate(POINTS)]).argmin()
    rows = {axis: [int(10 * point[j]) for point in POINTS] for j, axis in enumerate("xy")}
    line = LinearRegression(TENTHS, "y", Clear()).fit(rows)
    table = [
        (Phrase("f_D(w), its coefficients"), ", ".join(PRINTED_COEFFICIENTS), _coefficients(loss)),
        ("w0", str(PRINTED_WEIGHTS[0]), str(weights[0])),
        ("w1", str(PRINTED_WEIGHTS[1]), str(weights[1])),
        ("y1", "837/2110", _exactly(values[0])),
        ("y2", Phrase("{exact} = {value:g}", exact="1280/4220", value=0.306), _exactly(values[1])),
        ("y3", Phrase("{exact} = {value:g}", exact="4221/4220", value=-1.0002), _exactly(values[2])),
        (
            Phrase("minimum of f_D"),
            "2.36e-5",
            Phrase("{exact} = {value:.4e}", exact=str(loss(*weights)), value=float(loss(*weights))),
        ),
        (Phrase("second row of X"), "(1, 0.3)", Phrase("(1, {x:g})", x=float(POINTS[1][0]))),
    ]
    wrong = [printed != value for printed, value in zip(PRINTED_FITS, values, strict=True)]
    x = tuple(float(p) for p, _ in POINTS)
    ends = (-1.0, 1.0)

    def straight(w: tuple[Fraction, Fraction]) -> tuple[float, ...]:
        return tuple(float(w[0]) + float(w[1]) * end for end in ends)

    figure = Curves(
        Phrase("The line through three points"),
        (
            Curve(Phrase("least squares"), ends, straight(weights)),
            Curve(Phrase("with 0.3 as printed in X"), ends, straight(misprinted)),
            *(Curve(Phrase("a point"), (float(a),), (float(b),)) for a, b in POINTS),
        ),
        "x",
        "y",
    )
    told = Phrase(
        "w0 = {w0}, w1 = {w1}; fits {y1}, {y2} and {y3}; minimum {least}. Murmure's regression, in the clear: {a:.5f} "
        "and {b:.5f}",
        w0=str(weights[0]),
        w1=str(weights[1]),
        y1=str(values[0]),
        y2=str(values[1]),
        y3=str(values[2]),
        least=str(loss(*weights)),
        a=line.intercept_ / 10,
        b=float(line.coef_[0]),
    )
    return Measured(
        told,
        {"x": list(x), "y": [float(y) for _, y in POINTS], "fit": [float(v) for v in values]},
        (figure,),
        why=Phrase(
            "slips of the pen: the second fit is 1281/4220 = 0.3036 (1280 and 0.306 are printed), the third lost its "
            "sign, the second row of X holds 0.3 where the point has 0.9, and e has three entries, not two"
        )
        if any(wrong)
        else None,
        blocks=(
            Table(Phrase("Figure by figure"), ("", Phrase("printed"), Phrase("computed")), tuple(table)),
            Paragraph(
                Phrase(
                    "The printed w0 and w1 belong to 0.9. With 0.3 in the second row they would be {w0} = {a:.4f} and "
                    "{w1} = {b:.4f}.",
                    w0=str(misprinted[0]),
                    w1=str(misprinted[1]),
                    a=float(misprinted[0]),
                    b=float(misprinted[1]),
                )
            ),
        ),
    )


def _exactly(value: Fraction) -> Phrase:
    return Phrase("{exact} = {value:.4f}", exact=str(value), value=float(value))


def _coefficients(loss: object) -> str:
    names = ("w0w0", "w0w1", "w0", "w1w1", "w1", "constant")
    return ", ".join(f"{float(getattr(loss, name)):g}" for name in names)


ITEM = Item(
    Phrase("Three points and a line"),
    Phrase("the example of least squares"),
    measure,
    printed=Phrase("w = (-564/1055, 393/422); fits 837/2110, 1280/4220 and 4221/4220; minimum about 2.36e-5"),
    verdicts=(22,),
)
