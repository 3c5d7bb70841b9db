"""Utility against robustness: the variance of each solution beside what attacks make of it, on Adult."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.record_attacks.attack_figures import Columns
from murmure.lectures.record_attacks.attribute_runs import schema_of
from murmure.lectures.record_attacks.survey_runs import survey_cell
from murmure.lectures.record_attacks.trade_offs import HIDE_NOTHING, trade_off_cell
from murmure.show.document import Block, Number, Paragraph, Table
from murmure.show.figures import Panels, PointCloud, ScatterPlot

DATA = "adult"
FAKE = ("RS+FD[GRR]", "RS+FD[SUE-z]", "RS+FD[OUE-z]", "RS+FD[SUE-r]", "RS+FD[OUE-r]")
REALISTIC = ("RS+RFD[GRR]", "RS+RFD[OUE-r]")
SOLUTIONS = ("SPL", "SMP", "SMP[GRR]", *FAKE, *REALISTIC)
DRAWN = ("SMP", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[OUE-r]", "RS+RFD[GRR]", "SPL")  # as many as there are colours
HOW = {"record": Phrase("at equal certified epsilon"), "paper": Phrase("at the epsilon of the papers")}
SURVEYED = {"SMP[GRR]": ("smp", "GRR"), **{name: ("rsfd", name[6:-1]) for name in FAKE if name in DRAWN}}
Place = tuple[str, str, float]  # solution, calibrate, epsilon


def measure(work: Work) -> Measured:
    epsilons = work.choose((1.0,), (1.0, 4.0), (1.0, 4.0))
    runs, surveys, targets = work.choose((1, 1, 100), (2, 2, 2000), (20, 10, None))
    places = list(itertools.product(SOLUTIONS, HOW, epsilons))
    keys = [
        {"data": DATA, "solution": name, "epsilon": e, "calibrate": "record" if name in HIDE_NOTHING else how,
         "repetitions": runs}
        for name, how, e in places
    ]  # fmt: skip
    cells: dict[Place, Any] = dict(zip(places, once_each(work, trade_off_cell, keys), strict=True))
    found = identified(work, epsilons[-1], surveys, targets)
    chance = 1 / len(schema_of(work, DATA))
    rows = Columns("solution", "calibrate", "epsilon", "certified", "variance", "attribute_guessed", "person_found")
    for place in places:
        cell = cells[place]
        name, how, e = place
        rows.add(name, how, e, cell["certified"], cell["variance"], mean(cell["guessed"]), found.get(place))
    e = epsilons[0]
    smp, fake = cells["SMP", "record", e], cells["RS+FD[OUE-z]", "record", e]
    text = Phrase(
        "At certified epsilon {e:g}, the variance of RS+FD[OUE-z] is {ratio:.1f} times that of SMP. SMP says which "
        "attribute it reports; of RS+FD[OUE-z] it is guessed for {guessed:.1%} of people (mean over {runs} runs), "
        "where guessing blindly gives {chance:.1%}.",
        e=e,
        ratio=fake["variance"] / smp["variance"],
        guessed=mean(fake["guessed"]),
        chance=chance,
        runs=runs,
    )
    return Measured(
        text,
        rows.data,
        (by_attribute(cells, epsilons), by_person(cells, found, epsilons[-1])),
        why(cells, e),
        (Paragraph(claim(cells, e)), table(cells, found, epsilons)),
        broken(cells, e),
    )


def identified(work: Work, epsilon: float, surveys: int, targets: int | None) -> dict[Place, float]:
    """Top-10 re-identification after five surveys, where Murmure has that attack: SMP[GRR] and RS+FD."""
    places = list(itertools.product(SURVEYED, HOW, range(surveys)))
    keys = []
    for name, how, i in places:
        solution, oracle = SURVEYED[name]
        calibrate = how if solution == "rsfd" else "record"  # SMP costs what it says
        keys.append(
            {"data": DATA, "solution": solution, "oracle": oracle, "calibrate": calibrate, "epsilons": [epsilon],
             "top": [10], "targets": targets, "repetition": i}
        )  # fmt: skip
    out: dict[Place, list[float]] = {}
    for (name, how, _), cell in zip(places, once_each(work, survey_cell, keys), strict=True):
        out.setdefault((name, how, epsilon), []).append(cell[0][-1][0])
    return {place: mean(values) for place, values in out.items()}


def once_each(work: Work, cell: Any, keys: list[dict[str, Any]]) -> list[Any]:
    """The cells of keys of which some are the same."""
    different = {repr(key): key for key in keys}
    found = dict(zip(different, work.cells(cell, list(different.values())), strict=True))
    return [found[repr(key)] for key in keys]


def mean(values: list[float]) -> float:
    return float(np.mean(values))


def by_attribute(cells: dict[Place, Any], epsilons: tuple[float, ...]) -> Panels:
    """A panel for each way of stating epsilon, and each epsilon."""
    panels = [
        ScatterPlot(
            Phrase("epsilon {e:g}, {how}", e=e, how=words),
            tuple(
                PointCloud(name, (cells[name, how, e]["variance"],), (mean(cells[name, how, e]["guessed"]),))
                for name in DRAWN
            ),
            VARIANCE,
            Phrase("real attribute known or guessed"),
            x_limits=limits(cells),
            y_limits=(0.0, 1.05),
            log_x=True,
        )
        for e, (how, words) in itertools.product(epsilons, HOW.items())
    ]
    return Panels(Phrase("Utility against robustness: low and to the left is best"), tuple(panels))


def by_person(cells: dict[Place, Any], found: dict[Place, float], e: float) -> Panels:
    panels = [
        ScatterPlot(
            Phrase("epsilon {e:g}, {how}", e=e, how=words),
            tuple(PointCloud(name, (cells[name, how, e]["variance"],), (found[name, how, e],)) for name in SURVEYED),
            VARIANCE,
            Phrase("people found"),
            x_limits=limits(cells),
            y_limits=(min(found.values()) / 2, max(found.values()) * 2) if min(found.values()) > 0 else None,
            log=min(found.values()) > 0,
            log_x=True,
        )
        for how, words in HOW.items()
    ]
    return Panels(Phrase("The same with re-identification: ten best matches after five surveys"), tuple(panels))


VARIANCE = Phrase("mean variance of a share")


def limits(cells: dict[Place, Any]) -> tuple[float, float]:
    variances = [cell["variance"] for cell in cells.values()]
    return min(variances) / 2, max(variances) * 2


def why(cells: dict[Place, Any], e: float) -> str:
    """At an equal certified epsilon RS+FD is noisier than SMP: only the published epsilon makes it look otherwise."""
    smp = cells["SMP", "record", e]["variance"]
    best = {how: min(cells[name, how, e]["variance"] for name in FAKE) for how in HOW}
    certified = cells[FAKE[0], "paper", e]["certified"]
    fields: dict[str, Any] = {
        "e": e,
        "published": best["paper"] / smp,
        "kept": best["record"] / smp,
        "certified": certified,
    }
    if best["paper"] < smp < best["record"]:
        return Phrase(
            "At epsilon {e:g} of the papers RS+FD has less variance than SMP ({published:.2f} times), because its "
            "inner epsilon is amplified: a record then costs {certified:.2f}. At equal cost it has more ({kept:.1f} "
            "times), as it must: RS+FD is SMP with fakes added.",
            **fields,
        )
    return Phrase(
        "RS+FD has {published:.2f} times the variance of SMP at epsilon {e:g} of the papers, where a record costs "
        "{certified:.2f}, and {kept:.1f} times at equal cost.",
        **fields,
    )


def claim(cells: dict[Place, Any], e: float) -> str:
    """Whether, among solutions with fakes, the one with the least variance is the one that is attacked best."""
    names = (*FAKE, *REALISTIC)
    precise = min(names, key=lambda name: float(cells[name, "record", e]["variance"]))
    exposed = max(names, key=lambda name: mean(cells[name, "record", e]["guessed"]))
    if precise == exposed:
        return Phrase(
            "Among solutions with fakes at certified epsilon {e:g}, {name} has the least variance and is attacked most "
            "successfully: the lecture's balance of utility and robustness.",
            e=e,
            name=precise,
        )
    return Phrase(
        "Among solutions with fakes at certified epsilon {e:g}, {precise} has the least variance, but {exposed} is "
        "attacked most successfully: less utility does not always buy robustness.",
        e=e,
        precise=precise,
        exposed=exposed,
    )


def table(cells: dict[Place, Any], found: dict[Place, float], epsilons: tuple[float, ...]) -> Table:
    head = (
        Phrase("solution"),
        Phrase("epsilon"),
        Phrase("certified"),
        Phrase("variance (millionths)"),
        Phrase("real attribute"),
        Phrase("people found"),
    )
    rows = []
    for how, e, name in itertools.product(HOW, epsilons, SOLUTIONS):
        if how == "paper" and name in HIDE_NOTHING:
            continue  # the papers state the same epsilon for them
        cell, person = cells[name, how, e], found.get((name, how, e))
        label = Phrase("{name}, as published", name=name) if how == "paper" else name
        rows.append(
            (
                label,
                Number(e, "plain"),
                Number(cell["certified"], "fixed", 2),
                Number(1e6 * cell["variance"], "fixed", 1),
                Number(mean(cell["guessed"]), "share", 1),
                None if person is None else Number(person, "share", 2),
            )
        )
    return Table(Phrase("Variance, and success of two attacks"), head, tuple(rows))


def broken(cells: dict[Place, Any], e: float) -> tuple[Block, ...]:
    """Realistic fakes at a small epsilon: the lies of GRR give the real attribute away."""
    uniform, realistic = (mean(cells[name, "record", e]["guessed"]) for name in ("RS+FD[GRR]", "RS+RFD[GRR]"))
    text = (
        Phrase(
            "Realistic fakes can hide less. At certified epsilon {e:g} GRR mostly lies, and its lies are uniform: they "
            "are conspicuous among realistic fakes. The real attribute is guessed for {realistic:.1%} of people with "
            "RS+RFD[GRR], for {uniform:.1%} with RS+FD[GRR].",
            e=e, realistic=realistic, uniform=uniform,
        )
        if realistic > uniform
        else Phrase(
            "Realistic fakes hide more here: at certified epsilon {e:g} the real attribute is guessed for "
            "{realistic:.1%} of people with RS+RFD[GRR], for {uniform:.1%} with RS+FD[GRR].",
            e=e, realistic=realistic, uniform=uniform,
        )
    )  # fmt: skip
    return (Paragraph(text),)


ITEM = Item(
    Phrase("Utility against robustness"),
    Phrase("summary: reduced variance against accuracy of re-identification"),
    measure,
    claimed=Phrase("a solution with less variance is easier to attack"),
    needs=(DATA,),
    verdicts=(16,),
)
