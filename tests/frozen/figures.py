"""What is frozen of each kind of example: from its persisted JSON to the figures that must not change.

Every function here takes what a data file keeps of an example, and loads the example from that. So an example that is
no longer listed, or whose class has another name by now, is still run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.frozen import reach
from tests.frozen.compare import numbers_in, plain, sha256
from tests.frozen.rows import cut, frame_of

import murmure as mu
from murmure import catalogue, learn

ENGINES = {"memory, one thread": {"threads": 1}, "memory, three threads": {"threads": 3}}
PEOPLE = 120
PARTIES = 5
NOISY = 40.0  # epsilon of a seeded release: figures that can be read
REFUSED = "refused"


def tried(work: Callable[[], Any]) -> Any:
    """What the work returns, or the word that it was refused: a refusal is frozen too, its sentence is not."""
    try:
        return work()
    except mu.MurmureError:
        return REFUSED


# -- answers -----------------------------------------------------------------------------------------------------------


def estimate_figures(estimate: Any) -> Any:
    """The public face of an estimate, or the numbers in order of what only the package itself reads."""
    if isinstance(estimate, mu.Estimates):
        return {name: estimate_figures(one) for name, one in estimate.items()}
    if not isinstance(estimate, mu.Estimate):
        return {"numbers": plain(numbers_in(estimate))}
    out = {"labels": list(map(str, estimate.labels)), "mean": estimate.mean, "n": estimate.n, "unit": estimate.unit}
    out["variance"] = tried(lambda: estimate.variance("superpopulation"))
    out["interval"] = tried(lambda: estimate.interval(0.9))
    return plain(out)


def certificate_figures(certificate: Any) -> dict[str, Any]:
    return {"epsilon": plain(certificate.epsilon), "delta": plain(certificate.delta), "relation": certificate.relation}


def release_figures(release: Any) -> dict[str, Any]:
    seen = {who: certificate_figures(one) for who, one in release.guarantees.items()}
    return {"estimate": estimate_figures(release.estimate), "guarantees": seen}


def plan_figures(plan: Any) -> dict[str, Any]:
    """The digest and a hash of the text; the text is read again and must be the same plan."""
    text = plan.to_json()
    again = mu.Plan.from_json(text)
    assert again.to_json() == text and again.digest == plan.digest, "a plan is not what its own JSON says"
    return {"digest": plan.digest, "text": sha256(text)}


def total_figures(plan: Any, frame: Any, engine: Any, seed: int) -> dict[str, Any]:
    total = reach.total_of_plan(plan, frame, engine, mu.Random.seeded(seed))
    return {"n": int(total.n), "sum": plain(list(map(int, total.sum)))}


def in_memory(work: Callable[[Any], Any]) -> Any:
    """The same figures on every engine in memory; one that differs is named."""
    found = {name: work(mu.Memory(**how)) for name, how in ENGINES.items()}
    first = found[next(iter(ENGINES))]
    odd = [name for name, figures in found.items() if figures != first]
    assert not odd, f"other figures on: {', '.join(odd)}"
    return first


# -- plans -------------------------------------------------------------------------------------------------------------


def plan_text(kept: Mapping[str, Any]) -> dict[str, Any]:
    """A plan that tests/vectors keeps as text."""
    plan = mu.Plan.from_json(kept["text"])
    return {**plan_figures(plan), "as it was written": plan.to_json() == kept["text"]}


def sharing(kept: Mapping[str, Any]) -> dict[str, Any]:
    """How parties share a sum: in a plan, which says what they must have."""
    question = mu.Histogram(mu.Categories(["no", "yes"]))
    plan = mu.Plan(question, parties=reach.part_from_dict(kept["part"], catalogue.SHARINGS))
    return {"plan": plan_figures(plan), "guarantees": {k: certificate_figures(v) for k, v in plan.guarantees().items()}}


# -- the person --------------------------------------------------------------------------------------------------------


def questions_of(mechanism: Any) -> dict[str, Any]:
    """The plans that ask this mechanism what it can answer."""
    records = isinstance(mechanism.domain, mu.Schema)
    asked = {"Marginals": mu.Marginals} if records else {"Histogram": mu.Histogram, "Mean": mu.Mean}
    found = {name: tried(lambda ask=ask: ask(mechanism.domain)) for name, ask in asked.items()}
    plans = {
        name: tried(lambda statistic=statistic: mu.Plan(statistic, person=mechanism))
        for name, statistic in found.items()
        if statistic is not REFUSED
    }
    return {name: plan for name, plan in plans.items() if plan is not REFUSED}


def mechanism(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Law, certificates, and for each question: plan, seeded reports, tally, estimate."""
    held = loaded_mechanism(kept)
    units = ("record", "attribute") if isinstance(held.domain, mu.Schema) else ("record",)
    out: dict[str, Any] = {
        "law": sha256(plain(reach.integers_of(reach.law_of_mechanism(held))())),
        "certificates": {unit: certificate_figures(mu.certify(held, unit)) for unit in units},
    }
    frame = frame_of(held.domain.to_dict(), PEOPLE)
    plans = questions_of(held)
    out["questions"] = {name: _answered(plan, frame) for name, plan in plans.items()}
    if not plans:  # no unbiased estimate: its reports are added up, and read without bars
        reports = held.report(_one_column(frame), mu.Random.seeded(11))
        tally = held.tally(reports)
        out["reports"], out["tally"] = plain(reports), plain(tally)
        out["em"] = tried(lambda: plain(mu.em(held, tally).mean))
    return out


def loaded_mechanism(kept: Mapping[str, Any]) -> Any:
    return reach.part_from_dict(kept["part"], {**catalogue.MECHANISMS, **catalogue.RECORDS})


def _one_column(frame: Any) -> Any:
    return next(iter(frame.values())) if isinstance(frame, dict) and len(frame) == 1 else frame


def _answered(plan: Any, frame: Any) -> dict[str, Any]:
    reports = plan.report(
        frame if isinstance(plan.statistic.domain, mu.Schema) else _one_column(frame), mu.Random.seeded(11)
    )
    tally = plan.tally(reports)
    out = {
        "plan": plan_figures(plan),
        "reports": reports_figures(reports),
        "tally": {"n": int(tally.n), "sum": plain(tally.sum)},
        "release of reports": release_figures(plan.estimate(reports)),
    }
    out["total"] = in_memory(lambda engine: total_figures(plan, frame, engine, 12))
    out["run"] = release_figures(mu.run(plan, frame, mu.Memory(threads=3), rng=mu.Random.seeded(12)))
    return out


def reports_figures(reports: Any) -> dict[str, Any]:
    """Every array of the file that reports are saved in."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.npz"
        reports.save(path)
        assert len(mu.Reports.load(path)) == len(reports)
        with np.load(path, allow_pickle=False) as held:
            return {name: plain(held[name]) for name in sorted(held.files)}


# -- the curator and the parties ---------------------------------------------------------------------------------------


def plans_of(question: Any) -> dict[str, Any]:
    """A question in the clear, with noise at the curator, and between parties, as far as it can be asked so."""
    slots: dict[str, Callable[[], Any]] = {
        "clear": lambda: mu.Plan(question),
        "curator": lambda: mu.Plan(question, curator=mu.DiscreteLaplace(NOISY)),
        "curator, replace": lambda: mu.Plan(question, curator=mu.DiscreteLaplace(1.0), relation="replace"),
        "curator, chosen": lambda: mu.Plan(question, curator=mu.Exponential(NOISY)),
        "parties": lambda: mu.Plan(question, parties=mu.PairwiseMasks(PARTIES, dropouts=0, rows=1000)),
        "parties with noise": lambda: mu.Plan(
            question, parties=mu.PairwiseMasks(PARTIES, dropouts=0, rows=1000), curator=mu.DiscreteLaplace(NOISY)
        ),
    }
    return {name: tried(make) for name, make in slots.items()}


def loaded_statistic(kept: Mapping[str, Any]) -> Any:
    return reach.part_from_dict(kept["part"], catalogue.QUESTIONS)


def statistic(kept: Mapping[str, Any]) -> dict[str, Any]:
    """For each place of noise: the plan, the exact integers, and the seeded release."""
    question = loaded_statistic(kept)
    frame = frame_of(question.domain.to_dict(), PEOPLE)
    out: dict[str, Any] = {}
    for name, plan in plans_of(question).items():
        if plan is REFUSED:
            out[name] = REFUSED
            continue
        out[name] = {"plan": plan_figures(plan)}
        if name.startswith("parties"):
            out[name] |= {"run": tried(lambda plan=plan: _between_parties(plan, frame))}
            continue
        out[name]["total"] = tried(lambda plan=plan: in_memory(lambda engine: total_figures(plan, frame, engine, 13)))
        out[name]["run"] = tried(
            lambda plan=plan: release_figures(mu.run(plan, frame, mu.Memory(threads=3), rng=mu.Random.seeded(13)))
        )
    return out


def _between_parties(plan: Any, frame: Any) -> dict[str, Any]:
    rng = mu.Random.seeded(14)
    return release_figures(mu.run(plan, cut(frame, PARTIES), rng=rng, rows_are_public=True))


def noise(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Bound to its own blocks or scores: the integers of its law. On public questions: plan and seeded release."""
    held = reach.part_from_dict(kept["part"], catalogue.NOISES)
    out: dict[str, Any] = {}
    for relation in ("add/remove", "replace"):
        out[relation] = tried(lambda relation=relation: _bound(held, kept, relation))
    region, age = mu.Categories(["A", "B", "C"]), mu.Integers(0, 90)
    asked = {
        "Histogram": mu.Histogram(region), "Mean": mu.Mean(age), "Count": mu.Count(region), "Mode": mu.Mode(region),
        "Quantile": mu.Quantile(age), "Sum": mu.Sum(age),
    }  # fmt: skip
    for name, question in asked.items():
        plan = tried(lambda question=question: mu.Plan(question, curator=held))
        out[name] = REFUSED if plan is REFUSED else _released(plan)
    return out


def _bound(held: Any, kept: Mapping[str, Any], relation: str) -> dict[str, Any]:
    if "blocks" in kept:
        bound = reach.bind_noise(held)(tuple(reach.NoiseBlock(**block) for block in kept["blocks"]), relation)
    else:
        bound = reach.bind_choice(held)(*kept["scores"], relation)
    cost = plain(list(reach.costs_of_bound(bound)))
    return {"law": plain(reach.integers_of(bound)()), "cost": cost}


def _released(plan: Any) -> dict[str, Any]:
    frame = frame_of(plan.statistic.domain.to_dict(), PEOPLE)
    run = in_memory(lambda engine: release_figures(mu.run(plan, frame, engine, rng=mu.Random.seeded(15))))
    return {"plan": plan_figures(plan), "run": run}


# -- models ------------------------------------------------------------------------------------------------------------


def loaded_model(kept: Mapping[str, Any]) -> Any:
    return reach.model_from_dict(kept["model"])


def result_figures(result: Any) -> Any:
    """Keys, numbers and single words of a result; not how it was obtained, which is told in sentences."""
    held = dict(result.to_dict())
    held.pop("how", None)
    facts = dict(held.get("facts", {}))
    for name in ("Parties", "Rounds", "parties", "rounds"):
        facts.pop(name, None)
    if "facts" in held:
        held["facts"] = facts
    return words_and_numbers(held)


def words_and_numbers(value: Any) -> Any:
    """JSON without its sentences: a text of several words is left out, its key stays."""
    if isinstance(value, Mapping):
        return plain({key: words_and_numbers(part) for key, part in value.items()})
    if isinstance(value, list | tuple):
        return plain([words_and_numbers(part) for part in value])
    if isinstance(value, str):
        return value if is_word(value) else "..."
    return plain(value)


def is_word(text: str) -> bool:
    """A label, a digest, a number: no spaces, no path, no time, no ending of a sentence."""
    short = len(text) <= 64 and text.isprintable()
    return short and not any(c in text for c in " \t\n/\\") and not text.endswith(".") and text.count(":") < 2


def model(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The digest, and the fit: one table on one thread, several on three, between parties, with seeded noise."""
    held, rows = loaded_model(kept), kept["rows"]
    parts = cut(rows, PARTIES)
    out: dict[str, Any] = {"digest": reach.digest_of_model(held), "rounds": reach.most_rounds(held)}
    alone = tried(lambda: result_figures(reach.fit_model(held, rows, engine=mu.Memory(threads=1))))
    apart = tried(lambda: result_figures(reach.fit_model(held, parts, engine=mu.Memory(threads=3))))
    masked = mu.Secure(dropouts=0, rows_are_public=True)
    secure = tried(lambda: result_figures(reach.fit_model(held, parts, privacy=masked)))
    assert secure == apart, "masked sums give other figures than the same tables in the clear"
    out["tables of parties"] = apart
    out["one table"] = "as the tables of parties" if alone == apart else alone
    if reach.reason_against_noise(held) is None:
        out["central"] = tried(
            lambda: result_figures(reach.fit_model(held, rows, privacy=mu.Central(1e6), rng=mu.Random.seeded(5)))
        )
    return out


def study(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The digest, and a hash of the text, which is read and written again."""
    held = mu.Study.from_json(kept["text"])
    text = held.to_json()
    return {"digest": held.digest.hex(), "text": sha256(_text(text)), "as it was written": _text(text) == kept["text"]}


def _text(text: Any) -> str:
    return text.decode() if isinstance(text, bytes) else str(text)


# -- learners ----------------------------------------------------------------------------------------------------------


def learner(kept: Mapping[str, Any]) -> dict[str, Any]:
    """What it learned, from its public attributes; what it predicts; and that it comes back from its file."""
    held = kept["learner"]
    schema = mu.Schema.from_dict(held["schema"])
    privacy = getattr(mu, kept["privacy"]["type"])(**{k: v for k, v in kept["privacy"].items() if k != "type"})
    given = {name: value for name, value in held.items() if name not in ("type", "schema")}
    make = getattr(learn, held["type"])
    frame = frame_of(held["schema"], PEOPLE)
    data: Any = cut(frame, PARTIES) if kept["privacy"]["type"] == "Secure" else frame

    def fitted(engine: Any) -> Any:
        one = make(schema=schema, privacy=privacy, engine=engine, rng=mu.Random.seeded(21), **given)
        one.fit(data)
        return {"learned": learned(one), "predicted": tried(lambda: plain(list(one.predict(frame))))}

    return tried(lambda: in_memory(fitted))  # type: ignore[no-any-return]


def learned(one: Any) -> dict[str, Any]:
    """Attributes that end in an underscore, as scikit-learn has them; sentences and inner objects are left out."""
    out = {}
    for name in sorted(vars(one)):
        if name.endswith("_") and not name.startswith("_"):
            try:
                out[name] = words_and_numbers(_simple(getattr(one, name)))
            except TypeError:
                continue
    return out


def _simple(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


KINDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "plans": plan_text,
    "sharings": sharing,
    "mechanisms": mechanism,
    "noises": noise,
    "statistics": statistic,
    "models": model,
    "studies": study,
    "learners": learner,
}
