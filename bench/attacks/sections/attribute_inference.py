"""Attribute inference on RS+FD and RS+RFD, with the settings of Arcolezi et al. (PVLDB 2023), no knowledge."""

import itertools
import statistics
from functools import cache

import numpy as np
from datasets import FILES, available, table

import murmure as mu
from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.success import repeated
from murmure.attacks.person.attribute_rules.attribute_words import threat_of
from murmure.attacks.person.attribute_rules.experiment import AttributeExperiment
from murmure.core.errors import Phrase

TITLE = "Which attribute is real?"
RSFD = ("RS+FD[GRR]", "RS+FD[SUE-z]", "RS+FD[OUE-z]", "RS+FD[SUE-r]", "RS+FD[OUE-r]")
RSRFD = ("RS+RFD[GRR]", "RS+RFD[SUE-r]", "RS+RFD[OUE-r]")
EPSILONS = tuple(range(1, 11))
TREE_EPSILONS, PROFILES = (1, 4, 10), (1, 5)
REPETITIONS = 20
SEED = 2023
NEVER = 1e-12  # the published priors hold shares of 0, which Murmure refuses: a fake that never occurs


def cells():
    """What is measured, cheapest first; the key of a cell names all of it."""
    tables = [name for name in FILES if available(name)]
    for name, protocol, epsilon in itertools.product(tables, RSFD + RSRFD, EPSILONS):
        yield {"table": name, "protocol": protocol, "epsilon": epsilon, "rule": "exact", "repetitions": REPETITIONS}
    for repetition, profiles in itertools.product(range(REPETITIONS), PROFILES):
        for name, protocol, epsilon in itertools.product(reversed(tables), RSFD + RSRFD, TREE_EPSILONS):
            yield {
                "table": name,
                "protocol": protocol,
                "epsilon": epsilon,
                "rule": "xgboost",
                "profiles": profiles,
                "repetition": repetition,
            }


def measure(cell):
    """The share guessed by each rule, repetition by repetition."""
    if cell["rule"] == "xgboost":
        return [run(cell, cell["repetition"], rules_of(cell["protocol"], "xgboost"), cell["profiles"])]
    rules = ("ceiling", *rules_of(cell["protocol"], "exact"))
    return [run(cell, i, rules, 1) for i in range(cell["repetitions"])]


def rules_of(protocol, rule):
    return (rule, f"{rule}-uniform") if protocol in RSRFD else (rule,)


def run(cell, repetition, rules, profiles):
    schema, codes = table(cell["table"])
    x = list(codes.values())
    rng = mu.Random.seeded(SEED).child(repetition)
    mechanism = build(schema, x, cell["protocol"], cell["epsilon"], repetition)
    experiment = AttributeExperiment(mechanism, x, "none", rules, profiles, 0)
    found = dict(experiment.run(rng).success)
    if "ceiling" in rules and "ceiling" not in found:
        found["ceiling"] = experiment.computed  # from the law: nothing is drawn
    return found


def build(schema, x, protocol, epsilon, repetition):
    oracle = protocol.partition("[")[2][:-1]
    if protocol in RSFD:
        return mu.RSFD(schema, epsilon, oracle=oracle, calibrate="paper")
    return mu.RSRFD(schema, epsilon, correct_priors(x, repetition), oracle=oracle, calibrate="paper")


def correct_priors(x, repetition):
    """Counts with Laplace noise of scale d / 0.1, rounded and cut at 0: the priors that the papers call correct."""
    noise = np.random.default_rng([SEED, repetition])
    out = []
    for codes in x:
        counts = np.rint(np.bincount(codes) + noise.laplace(scale=len(x) / 0.1, size=codes.max() + 1)).clip(0)
        shares = np.maximum(counts / counts.sum() if counts.sum() else counts, NEVER)
        out.append(tuple(shares / shares.sum()))
    return tuple(out)


# -- the page


def render(found, figures):
    parts = [
        "The settings of Arcolezi et al. (PVLDB 2023): nobody is known; shares are estimated from the reports, cut at "
        "0 and scaled; everybody's record is guessed. Per cent of people whose real attribute is guessed, mean over "
        f"{REPETITIONS} repetitions; guessing gives 100/d. *Epsilon* is the figure of the papers "
        '(`calibrate="paper"`) and not a guarantee: what is certified for a whole record is beside it.\n'
    ]
    for name in FILES:
        if not any(cell["table"] == name for cell, _ in found):
            continue
        _, codes = table(name)
        n, d = len(next(iter(codes.values()))), len(codes)
        parts.append(f"### {name}\n\n{n:,} people, d = {d}, guessing gives {100 / d:.2f}.\n")
        parts.append("The exact rule:\n\n" + exact_table(found, name, "exact"))
        parts.append(figure(found, name, figures))
        parts.append("If the attacker knew the true shares (the ceiling):\n\n" + exact_table(found, name, "ceiling"))
        parts.append(prior_table(found, name))
        parts.append(trees_table(found, name))
    return "\n".join(part for part in parts if part)


@cache
def certified(name, epsilon):
    schema, codes = table(name)
    return mu.certify(build(schema, list(codes.values()), "RS+FD[GRR]", epsilon, 0), "record").epsilon


def values(found, guesser, /, **wanted):
    return [
        one[guesser]
        for cell, measured in found
        if all(cell.get(key) == value for key, value in wanted.items())
        for one in measured
        if guesser in one
    ]


def mean(numbers, count=False):
    if not numbers:
        return "not run"
    text = f"{100 * statistics.mean(numbers):.2f}"
    return f"{text} ({len(numbers)})" if count else text


def lines(head, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def exact_table(found, name, rule):
    rows = [
        [
            str(epsilon),
            f"{certified(name, epsilon):.3f}",
            *(mean(values(found, rule, table=name, protocol=p, epsilon=epsilon, rule="exact")) for p in RSFD + RSRFD),
        ]
        for epsilon in EPSILONS
    ]
    return lines(["epsilon", "certified", *RSFD, *RSRFD], rows)


def prior_table(found, name):
    """RS+RFD with the prior known, beside the published attack, which takes fakes for uniform."""
    head = ["epsilon", *(f"{p} {what}" for p in RSRFD for what in ("prior used", "fakes taken for uniform"))]
    rows = [
        [
            str(epsilon),
            *(
                mean(values(found, rule, table=name, protocol=p, epsilon=epsilon, rule="exact"))
                for p in RSRFD
                for rule in ("exact", "exact-uniform")
            ),
        ]
        for epsilon in EPSILONS
    ]
    return "RS+RFD attacked with its prior, and as published:\n\n" + lines(head, rows)


def trees_table(found, name):
    head = ["protocol", "rule", *(f"epsilon {e}, s = {s}" for e in TREE_EPSILONS for s in PROFILES)]
    rows = []
    for protocol in RSFD + RSRFD:
        for exact, rule in zip(rules_of(protocol, "exact"), rules_of(protocol, "xgboost"), strict=True):
            cells_of = {"table": name, "protocol": protocol}
            rows.append(
                [
                    protocol,
                    exact,
                    *(
                        mean(values(found, exact, epsilon=e, rule="exact", **cells_of))
                        for e in TREE_EPSILONS
                        for _ in PROFILES
                    ),
                ]
            )
            rows.append(
                [
                    protocol,
                    rule,
                    *(
                        mean(values(found, rule, epsilon=e, rule="xgboost", profiles=s, **cells_of), count=True)
                        for e in TREE_EPSILONS
                        for s in PROFILES
                    ),
                ]
            )
    return (
        "XGBoost (depth 3, rate 0.1, 100 rounds) learns from s synthetic profiles for each person; how many "
        "repetitions in brackets:\n\n" + lines(head, rows)
    )


def figure(found, name, figures):
    rows = [
        repeated(protocol, numbers, 1 / len(table(name)[1]), at=epsilon)
        for protocol, epsilon in itertools.product(RSFD + RSRFD, EPSILONS)
        if len(numbers := values(found, "exact", table=name, protocol=protocol, epsilon=epsilon, rule="exact")) > 1
    ]
    if not rows:
        return ""
    title = Phrase("{table}: the exact rule", table=name)
    measure = Phrase("share of people whose real attribute is guessed")
    result = AttackResult("attributes", title, threat_of("none", 0), measure, tuple(rows), axis=Phrase("epsilon"))
    file = f"attack-attributes-{name.lower()}.svg"
    result.plot().figure.savefig(figures / file, bbox_inches="tight", metadata={"Date": None})
    return f"![{name}: share of people whose real attribute is guessed, by epsilon](figures/{file})\n"
