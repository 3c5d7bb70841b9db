"""Attribute inference: the rule is Bayes' posterior, its success the sum over all records, and nothing beats it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import attribute_inference
from murmure.attacks.base.codes_of_people import codes_of_people
from murmure.attacks.person.attribute_rules.collection import Collection
from murmure.attacks.person.attribute_rules.estimated_shares import (
    cut_at_zero,
    shares_from_both,
    shares_from_known,
    shares_from_reports,
)
from murmure.attacks.person.attribute_rules.exact_success import exact_success
from murmure.attacks.person.attribute_rules.experiment import AttributeExperiment, protocol
from murmure.attacks.person.attribute_rules.guesses import share_guessed
from murmure.attacks.person.attribute_rules.trees import features, scores_by_trees, synthetic_profiles
from murmure.attacks.person.attribute_rules.uniform_fakes import with_uniform_fakes
from murmure.cli import main
from murmure.laws.bits import mass_of_set_bits, pack
from murmure.laws.records import Records
from murmure.local import rsfd

SCHEMA = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(4), "c": mu.Categories(3)})
PRIORS = ((0.7, 0.3), (0.4, 0.3, 0.1, 0.2), (0.2, 0.3, 0.5))
SHARES = [np.array([0.8, 0.2]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.6, 0.25, 0.15])]
MECHANISMS = [
    *(mu.RSFD(SCHEMA, 2.0, oracle=name, calibrate="paper") for name in rsfd.FAKES),
    mu.RSFD(SCHEMA, 2.0, oracle=("GRR", "OUE-z", "GRR"), weights=(3.0, 1.0, 2.0)),
    *(mu.RSRFD(SCHEMA, 2.0, PRIORS, oracle=name) for name in ("GRR", "SUE-r", "OUE-r")),
]
IDS = [f"{protocol(m)}{'' if m.weights is None else ' weighted'}" for m in MECHANISMS]
every = pytest.mark.parametrize("mechanism", MECHANISMS, ids=IDS)


def people(n: int, seed: int = 1, shares: Sequence[Any] = SHARES) -> list[Any]:
    g = np.random.default_rng(seed)
    return [g.choice(len(f), n, p=f) for f in shares]


def posterior(law: Any, y: Any, shares: Sequence[Any], j: int) -> Fraction:
    """s_j real_j(y_j) prod_{i != j} fake_i(y_i), from the chances of the law alone."""
    part = law.parts[j]
    real = sum(Fraction(float(f)) * part.real.prob(x, y[j]) for x, f in enumerate(shares[j]))
    others = math.prod((p.fake_prob(yi) for i, (p, yi) in enumerate(zip(law.parts, y, strict=True)) if i != j))
    return law.chances.prob(j) * real * others


def chances_of(law: Any, shares: Any) -> list[tuple[Any, Any]]:
    """For every attribute, the chance of each of its reports if it is real and if it is a fake."""
    out = []
    for part, f in zip(law.parts, shares, strict=True):
        reports = list(part.outcomes())
        real = [[float(part.real.prob(x, y)) for x in range(len(f))] for y in reports]
        out.append((np.array(real) @ f, np.array([float(part.fake_prob(y)) for y in reports])))
    return out


def brute_force(law: Any, shares: Any, rule: Any, believed: Any) -> float:
    """Over all records: the guess is drawn among the attributes with the largest posterior that the rule believes."""

    def joint(law: Any, shares: Any) -> Any:
        """P[j is real, y] of every record y, by attribute."""
        chances, out = chances_of(law, shares), []
        for j in range(len(chances)):
            mass = np.array([float(law.chances.prob(j))])
            for i, (real, fake) in enumerate(chances):
                mass = np.multiply.outer(mass, real if i == j else fake).reshape(-1)
            out.append(mass)
        return np.array(out)

    believes, happens = joint(rule, believed), joint(law, shares)
    best = believes >= believes.max(axis=0) * (1 - 1e-9)
    assert abs(happens.sum() - 1) < 1e-9
    return float((happens * best / best.sum(axis=0)).sum())


# -- the law -----------------------------------------------------------------------------------------------------------


@every
def test_remembering_the_tag_changes_no_report(mechanism: Any) -> None:
    x = people(3000)
    tag, records = mechanism.channel.sample_with_tag(x, mu.Random.seeded(3))
    plain = mechanism.channel.sample(x, mu.Random.seeded(3))

    assert all((a == b).all() for a, b in zip(records.parts, plain.parts, strict=True))
    counts = np.bincount(tag, minlength=3)
    expected = 3000 * mechanism.channel.chances.shares()
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


@every
def test_the_tag_is_the_real_attribute(mechanism: Any) -> None:
    """At a huge epsilon the attribute that is tagged shows the truth (a bit, or a code); a wrong tag would not."""
    sure = type(mechanism)(**{**_fields(mechanism), "epsilon": 30.0, "calibrate": "record"})
    x = people(2000)
    tag, records = sure.channel.sample_with_tag(x, mu.Random.seeded(3))
    for j, part in enumerate(records.parts):
        mine = tag == j
        if part.ndim == 1:
            assert (part[mine] == x[j][mine]).all()
            continue
        shown = (part[:, 0] >> x[j].astype(np.uint64)) & np.uint64(1)
        chance = float(sure.channel.parts[j].real.p)
        assert abs(shown[mine].mean() - chance) < 0.1


def _fields(mechanism: Any) -> dict[str, Any]:
    return {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}


@every
def test_odds_are_the_posterior(mechanism: Any) -> None:
    law = mechanism.channel
    every_record = list(law.outcomes())
    outcomes = every_record[:: 1 + len(every_record) // 40]
    records = Records(len(outcomes), tuple(np.array(part) for part in zip(*outcomes, strict=True)))
    odds = law.real_log_odds(records, SHARES)
    for row, y in zip(odds, outcomes, strict=True):
        fakes = math.prod(p.fake_prob(yi) for p, yi in zip(law.parts, y, strict=True))
        wanted = [math.log(posterior(law, y, SHARES, j) / fakes) for j in range(3)]
        assert np.allclose(row, wanted, atol=1e-9)


def test_mass_of_set_bits() -> None:
    g = np.random.default_rng(2)
    for k in (1, 7, 8, 9, 64, 70, 130):
        bits, shares = g.integers(0, 2, (50, k)), g.uniform(size=k)
        assert np.allclose(mass_of_set_bits(pack(bits), shares), bits @ shares)


# -- the success -------------------------------------------------------------------------------------------------------


@every
def test_exact_success_is_the_sum_over_all_records(mechanism: Any) -> None:
    law = mechanism.channel
    uniform = with_uniform_fakes(law)
    believed = [np.full(len(f), 1 / len(f)) for f in SHARES]  # many ties

    assert math.isclose(exact_success(law, SHARES), brute_force(law, SHARES, law, SHARES), rel_tol=1e-9)
    assert math.isclose(exact_success(law, SHARES, believed), brute_force(law, SHARES, law, believed), rel_tol=1e-9)
    assert math.isclose(
        exact_success(law, SHARES, SHARES, uniform), brute_force(law, SHARES, uniform, SHARES), rel_tol=1e-9
    )


@every
def test_simulation_agrees_with_the_sum(mechanism: Any) -> None:
    """Five standard errors: all nine together fail once in 200,000 seeds."""
    n = 60_000
    x = people(n)
    shares = [np.bincount(c, minlength=len(f)) / n for c, f in zip(x, SHARES, strict=True)]
    tag, records = mechanism.channel.sample_with_tag(x, mu.Random.seeded(5))
    measured = share_guessed(mechanism.channel.real_log_odds(records, shares), tag)
    computed = exact_success(mechanism.channel, shares)

    assert computed is not None and abs(measured - computed) < 5 * math.sqrt(computed * (1 - computed) / n)


@every
def test_no_belief_beats_the_truth(mechanism: Any) -> None:
    law, g = mechanism.channel, np.random.default_rng(4)
    ceiling = exact_success(law, SHARES)
    assert ceiling is not None and ceiling >= float(law.chances.shares().max()) - 1e-12
    for _ in range(20):
        wrong = [g.dirichlet(np.ones(len(f))) for f in SHARES]
        assert exact_success(law, SHARES, wrong) <= ceiling + 1e-12  # type: ignore[operator]


def test_a_rule_that_forgets_the_chances_falls_short() -> None:
    law = mu.RSFD(SCHEMA, 1.0, weights=(8.0, 1.0, 1.0)).channel
    forgetful = mu.RSFD(SCHEMA, 1.0).channel

    assert exact_success(law, SHARES, SHARES, forgetful) < exact_success(law, SHARES) - 0.1  # type: ignore[operator]


def test_the_published_attack_on_realistic_fakes_falls_short() -> None:
    """RS+RFD with a prior unlike the truth: who takes fakes for uniform guesses worse than who reads the prior."""
    law = mu.RSRFD(SCHEMA, 3.0, ((0.5, 0.5), (0.8, 0.1, 0.05, 0.05), (0.05, 0.05, 0.9))).channel
    unaware = exact_success(law, SHARES, SHARES, with_uniform_fakes(law))

    assert unaware < exact_success(law, SHARES) - 0.1  # type: ignore[operator]


def test_too_many_bits_to_list() -> None:
    wide = mu.Schema({"a": mu.Categories(40), "b": mu.Categories(2)})
    shares = [np.full(40, 1 / 40), np.full(2, 0.5)]

    assert exact_success(mu.RSFD(wide, 1.0, oracle="SUE-z").channel, shares) is None
    assert exact_success(mu.RSFD(wide, 1.0).channel, shares) is not None


def test_ties_are_shared_exactly() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 2.0 + 1e-12], [0.0, 0.0, 0.0], [3.0, 1.0, 2.0]])

    assert share_guessed(scores, np.array([0, 0, 2, 1], np.uint8)) == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 0) / 4)
    assert share_guessed(scores, np.array([1, 1, 1, 0])) == pytest.approx((1 / 2 + 0 + 1 / 3 + 1) / 4)


def test_where_nothing_can_be_inferred_the_guess_is_chance() -> None:
    """Uniform answers, fakes alike: all scores are equal. A rule that takes the first of them would count wrong."""
    even = [np.full(len(f), 1 / len(f)) for f in SHARES]

    assert exact_success(mu.RSFD(SCHEMA, 3.0).channel, even) == pytest.approx(1 / 3, abs=1e-12)
    assert exact_success(mu.RSFD(SCHEMA, 3.0, oracle="OUE-r").channel, even) == pytest.approx(1 / 3, abs=1e-12)
    n = 30_000
    mechanism = mu.RSFD(SCHEMA, 3.0, oracle="SUE-r")
    tag, records = mechanism.channel.sample_with_tag(people(n, shares=even), mu.Random.seeded(1))
    assert share_guessed(mechanism.channel.real_log_odds(records, even), tag) == pytest.approx(1 / 3, abs=1e-12)


# -- what the attacker estimates ---------------------------------------------------------------------------------------


def published(mechanism: Any, records: Records) -> list[Any]:
    """The estimators of CIKM 2021 and PVLDB 2023 as printed, cut at 0 and scaled."""
    out, d, n = [], len(mechanism.parts), records.n
    for i, (part, reports) in enumerate(zip(mechanism.parts, records.parts, strict=True)):
        N, k = part.tally(reports), part.domain.size
        p, q = float(part.real.supports.p), float(part.real.supports.q)
        prior = np.asarray(mechanism.priors[i]) if isinstance(mechanism, mu.RSRFD) else np.full(k, 1 / k)
        if mechanism.names[i] == "GRR":
            f = (N * d - n * q - n * (d - 1) * prior) / (n * (p - q))
        elif mechanism.names[i].endswith("-z"):
            f = d * (N - n * q) / (n * (p - q))
        else:
            f = (N * d - n * (q + (p - q) * (d - 1) * prior + q * (d - 1))) / (n * (p - q))
        f = f.clip(0)
        out.append(f / f.sum())
    return out


@pytest.mark.parametrize(
    "mechanism", [m for m in MECHANISMS if m.weights is None], ids=[i for i in IDS if "weighted" not in i]
)
def test_estimates_are_the_published_ones(mechanism: Any) -> None:
    collection = Collection.draw(mechanism, people(5000), 0, mu.Random.seeded(6))
    for mine, theirs in zip(shares_from_reports(collection), published(mechanism, collection.records), strict=True):
        assert np.allclose(mine, theirs, atol=1e-9)


def test_shares_stay_shares() -> None:
    assert cut_at_zero(np.array([-0.2, 0.5, 1.0])).tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    assert cut_at_zero(np.array([-0.2, -0.1])).tolist() == [0.5, 0.5]


def test_known_people_give_the_estimate_of_their_real_reports() -> None:
    mechanism = mu.RSFD(SCHEMA, 3.0)
    collection = Collection.draw(mechanism, people(4000), 1500, mu.Random.seeded(7))
    f = shares_from_known(collection)
    for j, part in enumerate(mechanism.parts):
        real = collection.records.parts[j][collection.known][collection.tag[collection.known] == j]
        rate = np.bincount(real, minlength=part.domain.size) / len(real)
        p, q = float(part.real.supports.p), float(part.real.supports.q)
        raw = ((rate - q) / (p - q)).clip(0)
        assert np.allclose(f[j], raw / raw.sum(), atol=1e-9)


def test_known_people_are_told_apart() -> None:
    collection = Collection.draw(mu.RSFD(SCHEMA, 3.0), people(1000), 300, mu.Random.seeded(7))

    assert len(collection.known) == 300 and len(collection.guessed) == 700
    assert not set(collection.known) & set(collection.guessed)
    assert not (np.diff(collection.known) == 1).all()  # drawn, and not the first ones


def test_both_sources_are_better_than_one() -> None:
    """The mean squared error over 60 collections, for a law where neither source is negligible."""
    mechanism, errors = mu.RSFD(SCHEMA, 3.0), np.zeros((60, 3))
    x = people(2000)
    truth = [np.bincount(c, minlength=len(f)) / 2000 for c, f in zip(x, SHARES, strict=True)]
    for i in range(60):
        collection = Collection.draw(mechanism, x, 600, mu.Random.seeded(8).child(i))
        for k, estimate in enumerate((shares_from_reports, shares_from_known, shares_from_both)):
            errors[i, k] = sum(((f - g) ** 2).sum() for f, g in zip(estimate(collection), truth, strict=True))
    reports, known, both = errors.mean(axis=0)

    assert both < known and both < reports


# -- trees -------------------------------------------------------------------------------------------------------------


def test_synthetic_profiles_follow_the_shares() -> None:
    """At a huge epsilon a real report is the profile's value: its frequencies are the shares."""
    law = mu.RSFD(SCHEMA, 30.0).channel
    records, tag = synthetic_profiles(law, SHARES, 30_000, mu.Random.seeded(9))
    for j, f in enumerate(SHARES):
        real = records.parts[j][tag == j]
        assert np.abs(np.bincount(real, minlength=len(f)) / len(real) - f).max() < 0.02


def test_trees_see_codes_and_bits() -> None:
    mechanism = mu.RSFD(SCHEMA, 1.0, oracle=("GRR", "OUE-z", "GRR"))
    records = mechanism.channel.sample(people(10), mu.Random.seeded(1))
    x = features(mechanism.channel, records)

    assert x.shape == (10, 1 + 4 + 1)
    assert (x[:, 0] == records.parts[0]).all()
    assert ((records.parts[1][:, 0] >> np.uint64(2)) & np.uint64(1) == x[:, 3]).all()


@pytest.mark.parametrize("oracle", ["GRR", "OUE-z"])
def test_trees_come_close_to_the_ceiling_and_never_above(oracle: str) -> None:
    """Four standard errors of 4,000 guesses."""
    mechanism = mu.RSFD(SCHEMA, 3.0, oracle=oracle, calibrate="paper")
    x = people(4000)
    experiment = AttributeExperiment(mechanism, x, "none", ("exact", "ceiling", "trees"), 1, 0)
    found = experiment.run(mu.Random.seeded(10)).success["trees"]
    ceiling = experiment.computed
    assert ceiling is not None
    noise = 4 * math.sqrt(ceiling * (1 - ceiling) / 4000)

    assert 1 / 3 + noise < found < ceiling + noise
    assert found > ceiling - 0.05 - noise


def test_trees_learn_one_class_and_skip_missing_ones() -> None:
    law = mu.RSFD(SCHEMA, 3.0).channel
    tag, records = law.sample_with_tag(people(300), mu.Random.seeded(1))
    only = np.zeros(300, np.int64)
    assert scores_by_trees(law, [(records, only)], records, mu.Random.seeded(1)).argmax(axis=1).tolist() == [0] * 300
    some = np.where(tag == 1, 2, tag)  # nobody's attribute 1 is real
    scores = scores_by_trees(law, [(records, some)], records, mu.Random.seeded(1))
    assert np.isneginf(scores[:, 1]).all() and np.isfinite(scores[:, [0, 2]]).all()


def test_trees_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    for name, library, extra in (("trees", "scikit-learn", "attacks"), ("xgboost", "xgboost", "xgboost")):
        with pytest.raises(mu.MurmureError, match=library) as caught:
            attribute_inference(mu.RSFD(SCHEMA, 1.0), table(20), attackers=[name])
        assert f"the extra {extra}" in str(caught.value)


@pytest.mark.parametrize("oracle", ["GRR", "OUE-z"])
def test_both_libraries_guess_alike(oracle: str) -> None:
    """The same steps and leaves: what each guesses among 4,000 people differs by less than two points."""
    pytest.importorskip("xgboost", reason="needs the extra murmure[xgboost]")
    mechanism = mu.RSFD(SCHEMA, 3.0, oracle=oracle, calibrate="paper")
    experiment = AttributeExperiment(mechanism, people(4000), "none", ("trees", "xgboost"), 1, 0)
    found = experiment.run(mu.Random.seeded(10)).success

    assert abs(found["trees"] - found["xgboost"]) < 0.02


# -- the attack --------------------------------------------------------------------------------------------------------


def table(n: int) -> dict[str, Any]:
    return dict(zip("abc", people(n), strict=True))


def test_models_of_knowledge() -> None:
    mechanism = mu.RSFD(SCHEMA, 4.0, oracle="SUE-z", calibrate="paper")
    for knowledge, told in (("none", 0), ("partial", 180), ("hybrid", 180)):
        result = attribute_inference(
            mechanism,
            table(600),
            knowledge,  # type: ignore[arg-type]
            ["exact", "ceiling", "trees"],
            known=0.3,
            repetitions=2,
            rng=mu.Random.seeded(11),
        )
        exact, ceiling, trees = result.rows
        assert result.details["known"] == told
        assert ceiling.repetitions is None and ceiling.low is None  # computed
        assert exact.value > exact.baseline + 0.1 and trees.value > trees.baseline + 0.1
        assert abs(exact.value - ceiling.value) < 0.1


def test_claims_stand_beside_what_is_certified() -> None:
    mechanism = mu.RSFD(SCHEMA, 1.0, calibrate="paper")
    result = attribute_inference(mechanism, table(50), repetitions=2, rng=mu.Random.seeded(1))
    guarantee = json.loads(result.to_json())["guarantees"][0]

    assert guarantee["epsilon"] == 1.0
    assert guarantee["certified_record"] == pytest.approx(math.log(3 * (math.e - 1) + 1))
    assert "not a guarantee" in str(result)
    honest = attribute_inference(mu.RSFD(SCHEMA, 1.0), table(50), repetitions=2, rng=mu.Random.seeded(1))
    assert "not a guarantee" not in str(honest)


def test_weighted_chances_are_the_baseline() -> None:
    mechanism = mu.RSFD(SCHEMA, 0.01, weights=(2.0, 1.0, 1.0))
    result = attribute_inference(mechanism, table(2000), repetitions=2, rng=mu.Random.seeded(1))

    assert result.rows[0].baseline == pytest.approx(0.5)
    assert result.rows[0].value == pytest.approx(0.5, abs=0.03)


def test_several_epsilons_are_a_curve() -> None:
    result = attribute_inference(
        [mu.RSFD(SCHEMA, e, oracle="OUE-z") for e in (0.5, 2.0, 6.0)],
        table(800),
        repetitions=2,
        rng=mu.Random.seeded(1),
    )
    ceiling = [row.value for row in result.rows if str(row.attacker) == "exact, shares known"]

    assert ceiling == sorted(ceiling) and len(ceiling) == 3


def test_a_protocol_is_named_as_in_the_literature() -> None:
    assert protocol(mu.RSFD(SCHEMA, 1.0, oracle="OUE-z")) == "RS+FD[OUE-z]"
    assert protocol(mu.RSRFD(SCHEMA, 1.0, PRIORS)) == "RS+RFD[GRR]"
    assert protocol(mu.RSFD(SCHEMA, 1.0, oracle=("GRR", "OUE-z", "GRR"))) == "RS+FD[GRR/OUE-z]"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"mechanism": mu.SMP(SCHEMA, 1.0)}, "attacks RSFD and RSRFD"),
    ({"mechanism": []}, "one mechanism or several"),
    ({"mechanism": [mu.RSFD(SCHEMA, 1.0), mu.RSFD(mu.Schema({"a": mu.Categories(2)}), 1.0)]}, "of the same schema"),
    ({"mechanism": mu.RSFD(mu.Schema({"a": mu.Categories(2)}), 1.0)}, "always the real one"),
    ({"knowledge": "some"}, 'must be "none", "partial" or "hybrid"'),
    ({"attackers": ["forest"]}, "must be among exact, ceiling, trees"),
    ({"attackers": ["exact-uniform"]}, "those of RSFD are"),
    ({"attackers": []}, "at least one attacker"),
    ({"repetitions": 0}, "whole number from 1"),
    ({"synthetic": 1.5}, "whole number from 1"),
    ({"knowledge": "partial", "known": 0}, "somebody known"),
    ({"knowledge": "partial", "known": 1.0}, "somebody known"),
    ({"knowledge": "hybrid", "known": "half"}, "somebody known"),
    ({"people": {"a": [], "b": [], "c": []}}, "nobody to attack"),
    ({"people": {"a": [0], "b": [9], "c": [0]}}, "row 0"),
    ({"rng": 7}, "murmure.Random"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input(wrong: dict[str, Any], message: str) -> None:
    given = {"mechanism": mu.RSFD(SCHEMA, 1.0), "people": table(20), "rng": mu.Random.seeded(1)} | wrong
    with pytest.raises(mu.MurmureError, match=message):
        attribute_inference(**given)


def test_people_come_from_files_too(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    from_file = codes_of_people(SCHEMA, path)

    assert all((a == b).all() for a, b in zip(from_file, people(60), strict=True))
    other = path.with_name("others.csv")
    other.write_text(path.read_text())
    assert len(codes_of_people(SCHEMA, [path, other])[0]) == 120


# -- the command -------------------------------------------------------------------------------------------------------


def write_people(folder: Path) -> Path:
    rows = zip(*people(60), strict=True)
    (folder / "people.csv").write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    (folder / "s.toml").write_text(SCHEMA.to_toml())
    return folder / "people.csv"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    write_people(tmp_path)
    (tmp_path / "priors.json").write_text(json.dumps(dict(zip("abc", PRIORS, strict=True))))
    monkeypatch.chdir(tmp_path)

    def go(*words: str) -> Any:
        common = ["attack", "attributes", "people.csv", "--schema", "s.toml", "--repetitions", "2", "--seed", "1"]
        return CliRunner().invoke(main, [*common, *words])

    return go


def test_command_prints_json(run: Any) -> None:
    found = json.loads(run("--epsilon", "1,4", "--solution", "rsrfd-oue-r", "--priors", "priors.json", "--json").output)

    assert [row["at"] for row in found["rows"]] == [1.0] * 3 + [4.0] * 3
    assert {row["attacker"] for row in found["rows"]} == {"exact rule", "exact, shares known", "exact, fakes uniform"}
    assert found["threat"]["wants"] and found["guarantees"][1]["protocol"] == "RS+RFD[OUE-r]"


def test_command_takes_the_settings(run: Any) -> None:
    ran = run(
        *("--epsilon", "2", "--solution", "rsfd-sue-z", "--calibrate", "paper", "--weights", "a=2,b=1", "--json"),
        *("--knowledge", "hybrid", "--known", "0.5", "--attackers", "exact, trees", "--synthetic", "2"),
    )
    found = json.loads(ran.output)

    assert found["known"] == 30 and found["synthetic"] == 2 and found["guarantees"][0]["calibrate"] == "paper"
    assert [row["attacker"] for row in found["rows"]] == ["exact rule", "trees"]
    assert found["rows"][0]["baseline"] == pytest.approx(0.5)


def test_command_writes_a_page_and_a_picture(run: Any, tmp_path: Path) -> None:
    ran = run("--epsilon", "1,2", "--html", "a.html", "--title", "T", "--plot", "a.svg")

    assert ran.exit_code == 0, ran.output
    assert "<svg" in (tmp_path / "a.html").read_text() and (tmp_path / "a.svg").stat().st_size


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "1", "--solution", "rsrfd"], "needs --priors"),
        (["--epsilon", "1", "--priors", "priors.json"], "takes no --priors"),
        (["--epsilon", "1", "--solution", "smp"], "there is no solution"),
        (["--epsilon", "-1"], "positive"),
        (["--epsilon", "1", "--attackers", "exact,forest"], "must be among"),
        (["--epsilon", "1", "--repetitions", "0"], "whole number"),
        (["--epsilon", "1", "--knowledge", "partial", "--known", "2"], "--known must be a share"),
        (["--epsilon", "1", "--title", "T"], "--title is for a page"),
        (["--epsilon", "1", "--plot", "a.gif"], "a.gif"),
        ([], "needs --epsilon"),
    ],
)
def test_command_refuses(run: Any, words: list[str], message: str) -> None:
    ran = run(*words)

    assert ran.exit_code == 2 and message in ran.output


# -- public tables -----------------------------------------------------------------------------------------------------

NURSERY = Path(__file__).parents[3].parent / "shared" / "data" / "nursery.data.gz"


@pytest.mark.skipif(not NURSERY.exists(), reason="needs ../shared/data/nursery.data.gz")
def test_nursery_hides_well() -> None:
    """Its eight inputs are uniform: with uniform fakes only the class can be told apart."""
    import gzip

    with gzip.open(NURSERY, "rt") as file:
        rows = [line.strip().split(",") for line in file if line.strip()]
    columns = [np.unique(column, return_inverse=True)[1] for column in zip(*rows, strict=True)]
    shares = [np.bincount(c) / len(c) for c in columns]
    schema = mu.Schema({f"x{i}": mu.Categories(len(f)) for i, f in enumerate(shares)})

    computed = exact_success(mu.RSFD(schema, 4.0, calibrate="paper").channel, shares)
    assert computed is not None and 1 / 9 < computed < 0.2
    shares[-1] = np.full(5, 0.2)
    even = exact_success(mu.RSFD(schema, 4.0, calibrate="paper").channel, shares)
    assert even == pytest.approx(1 / 9, abs=1e-9)
