"""The width of the top step: the slide's gamma is not that of the library in its listing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.local.staircase import Gamma, gamma_of
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Panels

EPSILONS = (0.5, 1.0, 2.0, 4.0)
KINDS: tuple[Gamma, ...] = ("variance", "absolute")
NAMES = {"variance": Phrase("gamma of the slide"), "absolute": Phrase("gamma of the library")}


def moments(epsilon: float, gamma: float) -> tuple[float, float]:
    """E|z| and the variance of staircase noise of width one, step by step until e^-60."""
    b = math.exp(-epsilon)
    top = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    j = np.arange(math.ceil(60 / epsilon))
    edges = np.concatenate([[0.0], gamma + j, [gamma + len(j)]])
    height = top * b ** np.arange(len(edges) - 1)
    first, second = (2 * float(height @ np.diff(edges**power)) / power for power in (2, 3))
    return first, second


def library_gamma(epsilon: float) -> tuple[str, float] | None:
    """What the listing's library takes, where it is installed: its version and its gamma."""
    try:
        import diffprivlib  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    mechanism: Any = diffprivlib.mechanisms.Staircase(epsilon=epsilon, sensitivity=1)
    return str(diffprivlib.__version__), float(mechanism.gamma)


def measure(work: Work) -> Measured:
    grid = [float(e) for e in np.geomspace(0.05, 10, work.choose(5, 60, 60))]
    gammas = {kind: [gamma_of(math.exp(-e), kind) for e in grid] for kind in KINDS}
    ratios = {}
    for kind in KINDS:
        both = [moments(e, gamma) for e, gamma in zip(grid, gammas[kind], strict=True)]
        ratios[kind] = ([first * e for (first, _), e in zip(both, grid, strict=True)], [v for _, v in both])
    figure = Panels(
        Phrase("Two widths of the top step"),
        (
            panel(Phrase("Width of the top (half)"), grid, gammas, Phrase("gamma")),
            panel(
                Phrase("Variance, Laplace noise being 1"),
                grid,
                {kind: [v * e**2 / 2 for v, e in zip(ratios[kind][1], grid, strict=True)] for kind in KINDS},
                Phrase("relative variance"),
            ),
        ),
    )
    slide, library = (gamma_of(math.exp(-1), kind) for kind in KINDS)
    return Measured(
        Phrase(
            "At epsilon 1 the slide's gamma is {slide:.4f}, which has the least variance; the library's is "
            "{library:.4f}, which has the least E|noise|.",
            slide=slide,
            library=library,
        ),
        {"epsilon": grid, "gamma_slide": gammas["variance"], "gamma_library": gammas["absolute"]},
        (figure,),
        why=Phrase(
            "The listing leaves gamma to the library, whose default is 1/(1 + e^(epsilon/2)). So the experiment does "
            "not run the formula of the slide. Both are right, for two different errors."
        ),
        blocks=(errors(), Paragraph(library_answer())),
    )


def panel(title: str, grid: list[float], values: dict[Gamma, list[float]], y_label: str) -> Curves:
    curves = tuple(Curve(NAMES[kind], tuple(grid), tuple(values[kind])) for kind in KINDS)
    return Curves(title, curves, Phrase("epsilon"), y_label, log_x=True)


def errors() -> Table:
    rows = []
    for epsilon in EPSILONS:
        cells = [Number(value, "fixed", 4) for kind in KINDS for value in moments(epsilon, gamma(epsilon, kind))]
        rows.append((Number(epsilon, "plain"), *cells))
    head = (
        Phrase("epsilon"),
        Phrase("E|noise|, slide"),
        Phrase("variance, slide"),
        Phrase("E|noise|, library"),
        Phrase("variance, library"),
    )
    return Table(Phrase("Each is best at its own error (width one)"), head, tuple(rows))


def gamma(epsilon: float, kind: Gamma) -> float:
    return gamma_of(math.exp(-epsilon), kind)


def library_answer() -> Phrase:
    asked = library_gamma(1.0)
    if asked is None:
        return Phrase("diffprivlib is not installed here, so its gamma is that of its documentation.")
    version, value = asked
    return Phrase("diffprivlib {version}, asked for epsilon 1, answers {value:.4f}.", version=version, value=value)


ITEM = Item(
    Phrase("Two gammas"),
    Phrase("Continuous data, in steps: gamma; cleaning with the staircase"),
    measure,
    printed=Phrase("gamma = -b/(1 - b) + (b - 2b^2 + 2b^4 - b^5)^(1/3) / (2^(1/3) (1 - b)^2)"),
    verdicts=(7,),
)
