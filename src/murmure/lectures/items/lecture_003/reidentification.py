"""Whose reports are these? Re-identification on Adult over five surveys."""

from __future__ import annotations

import itertools

import numpy as np

import murmure as mu
from murmure.attacks.base.success import Success
from murmure.core.errors import Phrase
from murmure.core.types import Floats
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.record_attacks.attack_figures import Columns, band, flat
from murmure.lectures.record_attacks.attribute_runs import schema_of, successes
from murmure.lectures.record_attacks.survey_runs import SURVEYS, published_surveys, survey_cell
from murmure.show.document import Curves, Number, Table
from murmure.show.figures import Panels

DATA = "adult"
FORMS = (("smp", "GRR"), ("smp", "SUE"), ("smp", "OUE"), ("smp", "OLH"), ("rsfd", "GRR"))
TOP = [1, 10]
NAMES = {"smp": "SMP", "rsfd": "RS+FD"}


def measure(work: Work) -> Measured:
    epsilons = [float(e) for e in work.choose((1, 10), (1, 3, 5, 7, 10), range(1, 11))]
    runs, targets = work.choose((1, 100), (6, 1000), (20, None))
    places = list(itertools.product(FORMS, range(runs)))
    keys = [
        {"data": DATA, "solution": solution, "oracle": oracle, "calibrate": "paper", "epsilons": epsilons, "top": TOP,
         "targets": targets, "repetition": r}
        for (solution, oracle), r in places
    ]  # fmt: skip
    cells = dict(zip(places, work.cells(survey_cell, keys), strict=True))
    # (runs, epsilons, surveys, top)
    measured = {form: np.array([cells[form, r] for r in range(runs)]) for form in FORMS}
    n = len(work.table(DATA))
    rows = Columns("solution", "oracle", "surveys", "top", "epsilon", "share", "low", "high", "runs")
    last: dict[tuple[str, str, int], list[Success]] = {}
    for (solution, oracle), values in measured.items():
        for s, (k, top) in itertools.product(range(SURVEYS), enumerate(TOP)):
            found = successes(values[:, :, s, k].T.tolist(), top / n, epsilons)
            for row in found:
                rows.add_success(row, NAMES[solution], oracle, s + 1, top, row.at)
            if s == SURVEYS - 1:
                last[solution, oracle, top] = found
    grr, oue, fake = (last[form][-1] for form in (("smp", "GRR", 1), ("smp", "OUE", 1), ("rsfd", "GRR", 1)))
    found_text = Phrase(
        "After five surveys at epsilon {e:g} of the papers, {grr:.2%} of the people looked for are the best match of "
        "their reports with SMP[GRR], {oue:.2%} with SMP[OUE], {fake:.2%} with RS+FD[GRR] (means of {runs} runs, each "
        "with {sought:,} of {n:,} people to find among all). Guessing finds {chance:.4%}.",
        e=epsilons[-1], grr=grr.value, oue=oue.value, fake=fake.value, n=n, runs=runs, chance=1 / n,
        sought=n if targets is None else min(targets, n),
    )  # fmt: skip
    return Measured(
        found_text,
        rows.data,
        (by_oracle(last, epsilons, n), by_survey(measured["smp", "GRR"], epsilons, n)),
        None,
        (found_table(last, epsilons),),
        (composed(work),),
    )


def by_oracle(last: dict[tuple[str, str, int], list[Success]], epsilons: list[float], n: int) -> Panels:
    """One panel for each k."""
    panels = []
    for top in TOP:
        curves = [band(_name(solution, oracle), last[solution, oracle, top]) for solution, oracle in FORMS]
        guessing = flat(Phrase("guessing at random"), top / n, epsilons)
        title = Phrase("among the {top} best matches", top=top) if top > 1 else Phrase("the best match")
        panels.append(Curves(title, (*curves, guessing), Phrase("epsilon of each survey"), FOUND))
    return Panels(Phrase("Found after five surveys"), tuple(panels))


def by_survey(values: Floats, epsilons: list[float], n: int) -> Curves:
    curves = [
        band(Phrase("{s} surveys", s=s), successes(values[:, :, s - 1, 0].T.tolist(), 1 / n, epsilons))
        for s in range(2, SURVEYS + 1)
    ]
    guessing = flat(Phrase("guessing at random"), 1 / n, epsilons)
    title = Phrase("SMP[GRR], the best match after two to five surveys")
    return Curves(title, (*curves, guessing), Phrase("epsilon of each survey"), FOUND, log=True)


FOUND = Phrase("share of people found")


def _name(solution: str, oracle: str) -> str:
    return f"{NAMES[solution]}[{oracle}]"


def found_table(last: dict[tuple[str, str, int], list[Success]], epsilons: list[float]) -> Table:
    head = (Phrase("protocol"), Phrase("best k"), *(Phrase("epsilon {e:g}", e=e) for e in epsilons))
    rows = tuple(
        (_name(solution, oracle), Number(top), *(Number(row.value, "share", 2) for row in found))
        for (solution, oracle, top), found in last.items()
    )
    return Table(Phrase("Found after five surveys"), head, rows, folded=True)


def composed(work: Work) -> Table:
    """Every survey is paid for: epsilons add up. The surveys are those of the first run, of five to nine attributes."""
    schema = schema_of(work, DATA)
    rows, smp, fake = [], 0.0, 0.0
    for s, names in enumerate(published_surveys(0, list(schema.private)), start=1):
        asked = mu.Schema({name: schema[name] for name in names})
        smp += mu.certify(mu.SMP(asked, 1.0, oracle="GRR")).epsilon
        fake += mu.certify(mu.RSFD(asked, 1.0, oracle="GRR", calibrate="paper")).epsilon
        rows.append((Number(s), Number(len(names)), Number(smp, "fixed", 3), Number(fake, "fixed", 3)))
    head = (
        Phrase("surveys"),
        Phrase("attributes of the last one"),
        Phrase("SMP at epsilon 1"),
        Phrase("RS+FD at epsilon 1 of the papers"),
    )
    return Table(Phrase("What is certified for a person after several surveys of epsilon 1"), head, tuple(rows))


ITEM = Item(
    Phrase("Re-identification over surveys"),
    Phrase("summary: utility against robustness; Arcolezi et al., PVLDB 2023"),
    measure,
    claimed=Phrase("robustness is measured by how often people are identified from their reports"),
    needs=(DATA,),
)
