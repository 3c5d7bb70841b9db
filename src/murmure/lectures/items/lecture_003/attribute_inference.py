"""Which attribute of a record of RS+FD is real? The attack of the lecture on ACSEmployment."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import murmure as mu
from murmure.attacks import attribute_inference
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
    people_of,
    schema_of,
    tree_library,
    tree_successes,
)
from murmure.show.document import Block, Curves, Items, Number, Paragraph, Table
from murmure.show.figures import Figure

DATA, PROTOCOL = "acs-employment", "RS+FD[GRR]"


def measure(work: Work) -> Measured:
    epsilons = work.choose((1, 10), tuple(range(1, 11)), tuple(range(1, 11)))
    runs = work.choose(2, 20, 20)
    keys = [
        {"data": DATA, "protocol": PROTOCOL, "epsilon": e, "calibrate": how, "repetitions": runs}
        for how, e in itertools.product(("paper", "record"), epsilons)
    ]
    cells = work.cells(exact_cell, keys)
    paper, honest = cells[: len(epsilons)], cells[len(epsilons) :]
    chance = 1 / len(schema_of(work, DATA))
    exact, record = (found_by("exact", part, chance, epsilons) for part in (paper, honest))
    ceiling = found_by("ceiling", paper, chance, epsilons)
    trees = tree_successes(work, DATA, PROTOCOL, chance)[0]

    rows = Columns("rule", "calibrate", "profiles", "epsilon", "certified", "share", "low", "high", "runs")
    for how, rule, part, found in (
        ("paper", "exact", paper, exact),
        ("paper", "ceiling", paper, ceiling),
        ("record", "exact", honest, record),
    ):
        for cell, row in zip(part, found, strict=True):
            rows.add_success(row, rule, how, None, row.at, cell["record"])
    for profiles, found in trees.items():
        for row in found:
            rows.add_success(row, tree_library(), "paper", profiles, row.at, paper[epsilons.index(row.at)]["record"])
    last = exact[-1]
    text = Phrase(
        "At epsilon {first:g} of the papers the exact rule names the real attribute of {low:.1%} of people, at epsilon "
        "{last:g} of {high:.1%} (means of {runs} runs). Guessing gives {chance:.1%}.",
        first=epsilons[0], low=exact[0].value, last=epsilons[-1], high=last.value, runs=runs, chance=chance,
    )  # fmt: skip
    why = Phrase(
        "The lecture trains XGBoost on synthetic profiles. The law of a record is public, so Bayes' rule with the "
        "estimated shares names an attribute without training, and the number of profiles plays no part. The epsilon "
        "of the papers is not what a record costs: {label:g} there is {certified:.2f} when certified.",
        label=epsilons[0],
        certified=paper[0]["record"],
    )
    return Measured(
        text,
        rows.data,
        figures(epsilons, exact, ceiling, trees, chance),
        why,
        (*steps(work), *tree_words(work, exact, trees)),
        (guarantees(epsilons, paper, exact, record),),
    )


def figures(
    epsilons: Sequence[int],
    exact: list[Success],
    ceiling: list[Success],
    trees: dict[int, list[Success]],
    chance: float,
) -> tuple[Figure, ...]:
    by_trees = [band(Phrase("trees, {s}N profiles", s=s), trees[s]) for s in (1, 5) if s in trees]
    curves = (
        band(Phrase("exact rule"), exact),
        band(Phrase("exact rule, true shares known"), ceiling),
        *by_trees,
        flat(Phrase("guessing at random"), chance, epsilons),
    )
    first = Curves(Phrase("RS+FD[GRR]: the real attribute is found"), curves, LABEL, GUESSED)
    if not trees:
        return (first,)
    by_profiles = tuple(
        band(Phrase("trees, epsilon {e}", e=e), [replace(trees[s][i], at=s) for s in PROFILES])
        for i, e in enumerate(TREE_EPSILONS)
    )
    rule = tuple(
        flat(Phrase("exact rule, epsilon {e}", e=row.at), row.value, PROFILES)
        for row in exact
        if row.at in TREE_EPSILONS
    )
    title = Phrase("Trees by number of synthetic profiles")
    return first, Curves(title, (*by_profiles, *rule), Phrase("synthetic profiles for each person"), GUESSED)


def steps(work: Work) -> tuple[Block, ...]:
    """The attack step by step, and what the attacker infers at epsilon 4."""
    lines = (
        Phrase("1. The plan is public: attributes, their cardinalities, the randomiser, its estimator."),
        Phrase("2. The estimator gives the shares of every attribute from the records themselves."),
        Phrase("3. Synthetic profiles are drawn from these shares, as many as 1 to 5 times the people."),
        Phrase("4. RS+FD is replayed on them, which says for each profile which attribute was real."),
        Phrase("5. Trees learn from the replay. The exact rule skips steps 3 to 5: it reads the law."),
    )
    mechanism = mu.RSFD(schema_of(work, DATA), 4.0, oracle="GRR", calibrate="paper")
    result = attribute_inference(
        mechanism, people_of(work, DATA), attackers=["exact"], repetitions=1, rng=work.rng("steps")
    )
    tables = [block for block in result.blocks if isinstance(block, Table)]
    return (Items(lines), tables[-1])


def tree_words(work: Work, exact: list[Success], trees: dict[int, list[Success]]) -> tuple[Block, ...]:
    """What trees reach beside the exact rule."""
    if tree_library() is None:
        return (Paragraph(Phrase("Trees are left out: neither XGBoost nor scikit-learn is installed."), "note"),)
    if not trees:
        return (Paragraph(Phrase("Trees are trained in the full run only."), "note"),)
    at = {row.at: row.value for row in exact}
    differences = [at[row.at] - row.value for found in trees.values() for row in found]
    rows = tuple(
        (Number(e, "plain"), Number(at[e], "share", 2), *(Number(trees[s][i].value, "share", 2) for s in PROFILES))
        for i, e in enumerate(TREE_EPSILONS)
    )
    head = (Phrase("epsilon"), Phrase("exact rule"), *(Phrase("{s}N", s=s) for s in PROFILES))
    title = Plural(
        "Trees by number of profiles, {n} run each", "Trees by number of profiles, {n} runs each", n=TREE_RUNS
    )
    words = Phrase(
        "Trees are {least:+.1%} to {most:+.1%} behind the exact rule (a negative figure: ahead of it).",
        least=min(differences),
        most=max(differences),
    )
    return (Table(title, head, rows), Paragraph(words))


def guarantees(epsilons: Sequence[int], paper: list[Any], exact: list[Success], record: list[Success]) -> Table:
    """What the papers' epsilon costs, and how the attack does at an epsilon that is kept."""
    head = (
        Phrase("epsilon"),
        Phrase("certified for a record, as published"),
        Phrase("certified for one attribute, as published"),
        Phrase("guessed, as published"),
        Phrase("guessed at this epsilon for a record"),
    )
    rows = tuple(
        (
            Number(e, "plain"),
            Number(cell["record"], "fixed", 3),
            Number(cell["attribute"], "fixed", 3),
            Number(one.value, "share", 1),
            Number(other.value, "share", 1),
        )
        for e, cell, one, other in zip(epsilons, paper, exact, record, strict=True)
    )
    return Table(Phrase("The epsilon of the papers, and one that is kept"), head, rows)


ITEM = Item(
    Phrase("Attribute inference on RS+FD"),
    Phrase("the attack with minimal knowledge, and its results on RS+FD"),
    measure,
    claimed=Phrase("fake values are uniform, so machine learning can infer which attribute is real"),
    printed=Phrase("a figure without numbers: accuracy of XGBoost for 1N to 5N synthetic profiles, 20 runs"),
    needs=(DATA,),
    verdicts=(16,),
)
