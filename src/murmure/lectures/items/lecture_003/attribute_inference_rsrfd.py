"""The countermeasure: fakes that follow a prior (RS+RFD). Attacked with the prior, and as published, without it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.success import Success
from murmure.core.errors import Phrase, Plural
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.record_attacks.attack_figures import GUESSED, LABEL, Columns, band, flat
from murmure.lectures.record_attacks.attribute_runs import (
    PROFILES,
    TREE_EPSILONS,
    TREE_RUNS,
    exact_cell,
    found_by,
    noisy_priors,
    people_of,
    schema_of,
    tree_library,
    tree_successes,
)
from murmure.show.document import Block, Curves, Number, Paragraph, Table

DATA = "acs-employment"
UNIFORM, REALISTIC = "RS+FD[GRR]", "RS+RFD[GRR]"
SETTINGS: tuple[tuple[str, str, bool], ...] = (  # protocol, calibrate, whether the prior has no zeros
    (REALISTIC, "paper", False),
    (REALISTIC, "paper", True),
    (UNIFORM, "paper", False),
    (REALISTIC, "record", True),
    (UNIFORM, "record", False),
)


def measure(work: Work) -> Measured:
    epsilons = work.choose((1, 10), (1, 2, 3, 4, 6, 8, 10), tuple(range(1, 11)))
    runs = work.choose(1, 6, 20)
    keys = [
        {"data": DATA, "protocol": protocol, "epsilon": e, "calibrate": how, "repetitions": runs, "floor": floor}
        for (protocol, how, floor), e in itertools.product(SETTINGS, epsilons)
    ]
    cells = work.cells(exact_cell, keys)
    parts = {setting: cells[i * len(epsilons) : (i + 1) * len(epsilons)] for i, setting in enumerate(SETTINGS)}
    chance = 1 / len(schema_of(work, DATA))
    rows = Columns("protocol", "rule", "calibrate", "floor", "profiles", "epsilon", "certified", "share", "low", "high",
                   "runs")  # fmt: skip

    def shares(rule: str, setting: tuple[str, str, bool]) -> list[Success]:
        protocol, how, floor = setting
        out = found_by(rule, parts[setting], chance, epsilons)
        for cell, row in zip(parts[setting], out, strict=True):
            rows.add_success(row, protocol, rule, how, floor, None, row.at, cell["record"])
        return out

    known = shares("exact", SETTINGS[0])
    blind = shares("exact-uniform", SETTINGS[0])
    floored = shares("exact", SETTINGS[1])
    uniform = shares("exact", SETTINGS[2])
    honest = [shares("exact", setting) for setting in SETTINGS[3:]]
    trees = tree_successes(work, DATA, REALISTIC, chance)
    for name, by_profiles in zip(("", "-uniform"), trees, strict=True):
        for s, found in by_profiles.items():
            for row in found:
                rows.add_success(row, REALISTIC, f"{tree_library()}{name}", "paper", False, s, row.at, None)
    curves = (
        band(Phrase("RS+FD: uniform fakes"), uniform),
        band(Phrase("RS+RFD, prior used"), known),
        band(Phrase("RS+RFD, prior without zeros"), floored),
        band(Phrase("RS+RFD, fakes taken for uniform"), blind),
        *([band(Phrase("trees, prior used, 5N"), trees[0][5])] if trees[0] else []),
        flat(Phrase("guessing at random"), chance, epsilons),
    )
    first, last = known[0], known[-1]
    text = Phrase(
        "With the prior, the real attribute of {first:.1%} of people is found at epsilon {low:g} of the papers and of "
        "{last:.1%} at epsilon {high:g}. An attacker who takes fakes for uniform finds {blind:.1%} and "
        "{blind_last:.1%}. Guessing gives {chance:.1%}; means of {runs} runs.",
        first=first.value, low=epsilons[0], last=last.value, high=epsilons[-1], blind=blind[0].value,
        blind_last=blind[-1].value, chance=chance, runs=runs,
    )  # fmt: skip
    return Measured(
        text,
        rows.data,
        (Curves(Phrase("RS+RFD[GRR]: the real attribute is found"), curves, LABEL, GUESSED),),
        verdict(known, blind, chance),
        (*zeros(work, epsilons, known, floored), *tree_words(trees)),
        (honest_table(epsilons, *honest),),
    )


def verdict(known: list[Success], blind: list[Success], chance: float) -> str | None:
    """Why it differs: by what the attacker who uses the prior gains over the published one."""
    gain = max(one.value - other.value for one, other in zip(known, blind, strict=True))
    if gain < chance / 10:
        return None
    return Phrase(
        "The published attack takes fakes for uniform, although RS+RFD makes its prior public. Using it gains up to "
        "{gain:.1%} of all people. Only an attack that uses all that is public can show that a countermeasure works.",
        gain=gain,
    )


def zeros(work: Work, epsilons: Sequence[int], known: list[Success], floored: list[Success]) -> tuple[Block, ...]:
    """How many values the prior rules out, and what they give away."""
    people = people_of(work, DATA)
    priors = noisy_priors(people, False, work.rng("prior"))
    ruled_out = sum(int((np.array(prior) < 1e-9).sum()) for prior in priors)
    text = Phrase(
        "The priors of the papers are counts with noise, cut at 0. In one draw of them {zeros} of {values} values have "
        "no share. Such a value is never faked, so a report of it gives the real attribute away. If every value has at "
        "least a twentieth of an even share, {after:.1%} are found at epsilon {e:g} instead of {before:.1%}. Murmure "
        "refuses shares of 0, and priors that it makes of a release have this floor.",
        zeros=ruled_out,
        values=sum(map(len, priors)),
        before=known[0].value,
        after=floored[0].value,
        e=epsilons[0],
    )
    return (Paragraph(text),)


def tree_words(trees: list[dict[int, list[Success]]]) -> tuple[Block, ...]:
    if tree_library() is None:
        return (Paragraph(Phrase("Trees are left out: neither XGBoost nor scikit-learn is installed."), "note"),)
    if not trees[0]:
        return (Paragraph(Phrase("Trees are trained in the full run only."), "note"),)
    names = (Phrase("prior used"), Phrase("fakes taken for uniform"))
    rows = tuple(
        (Phrase("epsilon {e:g}, {how}", e=e, how=name), *(Number(found[s][i].value, "share", 2) for s in PROFILES))
        for i, e in enumerate(TREE_EPSILONS)
        for name, found in zip(names, trees, strict=True)
    )
    title = Plural(
        "Trees by number of profiles, {n} run each", "Trees by number of profiles, {n} runs each", n=TREE_RUNS
    )
    return (Table(title, (Phrase("epsilon"), *(Phrase("{s}N", s=s) for s in PROFILES)), rows),)


def honest_table(epsilons: Sequence[int], realistic: list[Success], uniform: list[Success]) -> Table:
    """At an epsilon that is certified for a whole record."""
    head = (Phrase("certified epsilon of a record"), Phrase("RS+RFD, prior without zeros"), Phrase("RS+FD"))
    rows: tuple[tuple[Any, ...], ...] = tuple(
        (Number(e, "plain"), Number(one.value, "share", 1), Number(other.value, "share", 1))
        for e, one, other in zip(epsilons, realistic, uniform, strict=True)
    )
    return Table(Phrase("The real attribute guessed at an epsilon that is kept"), head, rows)


ITEM = Item(
    Phrase("Attribute inference on RS+RFD"),
    Phrase("a countermeasure that is sometimes possible, and its results"),
    measure,
    claimed=Phrase("fakes drawn from released shares are realistic and cost no epsilon"),
    printed=Phrase("a figure without numbers: accuracy of XGBoost for 1N to 5N synthetic profiles, 20 runs"),
    needs=(DATA,),
    verdicts=(17,),
)
