"""The replay audit, over every query and every learner with generated neighbours; and over learners known to be broken.

Nothing here is statistical: with the answers frozen each check is exact, and fails always or never.
"""

from __future__ import annotations

import copy
import io
import json
import sys
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.attacks import controls
from tests.listing import STATISTICS as FOLDERS
from tests.listing import listed

import murmure as mu
import murmure.learn
import murmure.statistics
from murmure.attacks.audits.audit_gates import AuditFailed, RecordingGate, ReplayGate
from murmure.attacks.audits.neighbours import ROWS, Neighbours, neighbours
from murmure.attacks.audits.replay_audit import Audit, replay_audit
from murmure.catalogue import load
from murmure.central.base.gate import Gate
from murmure.core.blocks import Block, Cost
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.plan.plan import Plan
from murmure.run.run import run

# -- the audit rejects what is known to be wrong, and passes its sound counterpart -------------------------------------


@pytest.mark.parametrize("control", controls.BROKEN, ids=lambda c: c.ask.__name__)
def test_it_rejects(control: Any) -> None:
    """Each known defect is found, and the message says where it lies."""
    with pytest.raises(AuditFailed, match=control.says):
        replay_audit(control.ask, control.data, control.neighbour, control.relation, claim=controls.EPSILON)


@pytest.mark.parametrize("control", controls.SOUND, ids=lambda c: getattr(c.ask, "__name__", "?"))
def test_it_passes_what_is_sound(control: Any) -> None:
    """The same learners without the defect pass, in both directions, and come as close as was declared."""
    for data, neighbour in ((control.data, control.neighbour), (control.neighbour, control.data)):
        found = replay_audit(control.ask, data, neighbour, control.relation, claim=controls.EPSILON)

        assert found.closest == 1.0
        assert found.cost.epsilon <= controls.EPSILON and found.loss <= found.cost.epsilon + 1e-6
        assert found.raised is None and found.warned == ()


# -- every query -------------------------------------------------------------------------------------------------------


def walk(*folders: str) -> list[Any]:
    """Every example of every module of these folders, whatever is added to them."""
    return [pytest.param(example, id=name.rpartition(".")[2]) for name, example in listed(*folders)]


def every(nth: int, pairs: list[Neighbours], seed: int) -> list[Neighbours]:
    """Some of the neighbours, others for other examples; nth shares no factor with the kinds of rows, which repeat."""
    return pairs[seed % nth :: nth]


def domains_of(domain: Any) -> list[Any]:
    return [domain[name] for name in domain.private] if isinstance(domain, Schema) else [domain]


STATISTICS = walk(*FOLDERS)
# sums that may pass a word are refused under a curator, and asked on a coarser grid (CrossProducts.coarse); so are
# numbers of more than 15 digits
SUMS = [p for p in STATISTICS if getattr(p.values[0], "blocks", None) and not getattr(p.values[0], "wide", False)]
SUMS = [p for p in SUMS if all(getattr(d, "short", True) for d in domains_of(p.values[0].domain))]
CHOICES = [p for p in STATISTICS if hasattr(p.values[0], "score_sensitivity")]


def test_the_walk_finds_them() -> None:
    """An audit of nothing would pass."""
    assert len(SUMS) > 8 and CHOICES and LEARNERS


def audited(plan: Plan, pair: Neighbours, claim: float | Cost) -> Audit:
    found = replay_audit(lambda rows, gate: run(plan, rows, gate=gate), pair.data, pair.neighbour, pair.relation, claim)

    assert found.questions == 1 and found.raised is None and found.warned == ()
    return found


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("statistic", SUMS)
def test_queries(statistic: Any, relation: Any) -> None:
    """Sums under Laplace noise (L1) and Gaussian noise (squared L2): nobody moves a block farther than declared."""
    pairs = neighbours(statistic.domain, relation, seed=len(repr(statistic)))
    pure = Plan(statistic, curator=load("DiscreteLaplace")(epsilon=1.0), relation=relation)
    concentrated = Plan(statistic, curator=load("DiscreteGaussian")(rho=0.5), relation=relation)

    for pair in every(5, pairs, len(repr(statistic))):
        audited(pure, pair, 1.0)
    for pair in every(11, pairs, len(repr(statistic))):
        audited(concentrated, pair, Cost(float("inf"), 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", SUMS)
def test_neighbours_go_as_far_as_a_person_can(statistic: Any) -> None:
    """The generated rows use most of the declared sensitivity: a bound that is too small would be found."""
    plan = Plan(statistic, curator=load("DiscreteLaplace")(epsilon=1.0))
    closest = max(audited(plan, pair, 1.0).closest for pair in neighbours(statistic.domain))

    assert closest > 0.7


@pytest.mark.parametrize("statistic", CHOICES)
def test_choices(statistic: Any) -> None:
    """Scores move by no more than declared, and the choice that was made is not much likelier than before."""
    for relation in ("add/remove", "replace"):
        for name in ("PermuteAndFlip", "Exponential"):
            plan = Plan(statistic, curator=load(name)(epsilon=1.0), relation=relation)  # type: ignore[arg-type]
            for pair in every(9, neighbours(statistic.domain, relation), 0):  # type: ignore[arg-type]
                audited(plan, pair, 1.0)


SCHEMA = Schema(
    {
        "age": Column(Integers(18, 99), missing="constant", missing_value=40),
        "size": Interval(-2.0, 3.0, cells=50),
        "smoker": Column(Categories(["no", "yes"]), missing="value"),
        "region": Categories(3),
        "well": Categories([False, True]),
    }
)


@pytest.mark.parametrize("rows", [1, 3])
def test_people_with_several_rows(rows: int) -> None:
    """A person with k rows, declared to have at most that many: more of them, and rows of nobody, are left out."""
    marginals = load("Marginals")(SCHEMA)
    for relation in ("add/remove", "replace"):
        plan = Plan(
            marginals,
            curator=load("DiscreteLaplace")(epsilon=1.0),
            relation=relation,  # type: ignore[arg-type]
            unit="who",
            rows_per_person=rows,
        )
        pairs = neighbours(SCHEMA, relation, person="who", rows=rows)  # type: ignore[arg-type]
        closest = [audited(plan, pair, 1.0).closest for pair in every(13, pairs, rows)]

        assert max(closest) > 0.5 if relation == "add/remove" else max(closest) > 0


@pytest.mark.parametrize("holder", ["pandas", "csv", "parquet"])
def test_whatever_holds_the_table(holder: str, tmp_path: Path) -> None:
    """A frame or a file that changes its types for the sake of one row changes nothing else."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def held(rows: dict[str, list[Any]], name: str) -> Any:
        frame = pd.DataFrame(rows, dtype=object if not rows["age"] else None)
        if holder == "pandas":
            return frame
        path = tmp_path / f"{name}.{holder}"
        if holder == "csv":
            frame.to_csv(path, index=False)
        else:
            kinds = {"smoker": str, "well": bool}
            typed = {n: [v if isinstance(v, kinds.get(n, float | int)) else None for v in rows[n]] for n in rows}
            small = {n: [None if v == 10**400 else v for v in column] for n, column in typed.items()}
            types = {"smoker": pa.string(), "well": pa.bool_()}
            pq.write_table(pa.table({n: pa.array(v, types.get(n, pa.float64())) for n, v in small.items()}), path)
        return path

    plan = Plan(load("Marginals")(SCHEMA), curator=load("DiscreteLaplace")(epsilon=1.0))
    closest = 0.0
    for pair in every(5, neighbours(SCHEMA, "add/remove"), 1):
        both = Neighbours(pair.name, held(pair.data, "one"), held(pair.neighbour, "two"), pair.relation)
        closest = max(closest, audited(plan, both, 1.0).closest)

    assert closest == 1.0


# -- every learner -----------------------------------------------------------------------------------------------------

LEARNERS = [p for p in walk("murmure.learn") if hasattr(p.values[0], "fit")]


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners(learner: Any) -> None:
    """The same questions, the same result, and no more than Central claims, whoever comes, goes or changes."""
    privacy = learner.privacy
    if not hasattr(privacy, "relation"):
        pytest.skip("only Central has a curator")
    person = None if privacy.unit == "row" else privacy.unit
    pairs = neighbours(learner.schema, privacy.relation, len(repr(learner)), person, privacy.rows_per_person)

    for pair in every(9, pairs, len(repr(learner))):
        found = replay_audit(
            lambda rows, gate: copy.copy(learner).fit(rows, gate=gate),
            pair.data,
            pair.neighbour,
            pair.relation,
            privacy.cost,
        )

        assert found.questions > 0 and found.raised is None, (pair.name, found)


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_neighbours_differ_in_one_person() -> None:
    """Added, removed, replaced: that person's rows are all that differs, and the odd cells are there."""
    for relation in ("add/remove", "replace"):
        pairs = neighbours(SCHEMA, relation, person="who", rows=2)  # type: ignore[arg-type]
        for pair in pairs:
            rows = [list(zip(*(repr_all(t[n]) for n in t), strict=True)) for t in (pair.data, pair.neighbour)]
            others = [[row for row in table if row[-1] != "'the one'"] for table in rows]
            mine = [len(table) - len(rest) for table, rest in zip(rows, others, strict=True)]

            assert others[0] == others[1]
            assert mine[0] == mine[1] > 0 if relation == "replace" else sorted(mine)[0] == 0 < sorted(mine)[1] <= 4
    said = json.dumps([repr(pair.data) for pair in neighbours(SCHEMA)])
    for odd in ("nan", "inf", "None", "no such label", "?", "[1, 2]"):
        assert odd in said
    assert [repr(p.data) for p in neighbours(SCHEMA)] == [repr(p.data) for p in neighbours(SCHEMA)]
    assert isinstance(neighbours(Integers(0, 3))[40].data, list)
    with pytest.raises(InvalidParameter, match="relation must be"):
        neighbours(SCHEMA, "attribute")  # type: ignore[arg-type]


EVERY_KIND = Schema(
    {
        "age": Integers(18, 99),
        "debt": Integers(-5, 0),
        "size": Interval(-2.0, 3.0, cells=50),
        "dose": load("Decimals")(0, "2.5", places=1),
        "smoker": Categories(["no", "yes"]),
        "region": Categories(3),
        "well": Categories([False, True]),
        "admitted": load("Dates")("2024-01", "2024-12", unit="month"),
    }
)
ENDS = {"age": (18, 99), "debt": (-5, 0), "size": (-2.0, 3.0), "dose": (0.0, 2.5), "smoker": ("no", "yes")}
ENDS |= {"region": (0, 2), "well": (False, True), "admitted": ("2024-01", "2024-12")}


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_hold_the_cells_that_their_names_say(seed: int) -> None:
    """The lowest row is at the lower bound in every column, and so on: defects show at the bounds, and beyond them."""
    pairs = {pair.name: pair.neighbour for pair in neighbours(EVERY_KIND, seed=seed)}
    one = {name.removeprefix("empty: "): table for name, table in pairs.items() if name.startswith("empty: ")}
    row = {kind: {n: cells[0] for n, cells in one[f"{kind} row added"].items()} for kind in ROWS}

    assert row["lowest"] == {name: low for name, (low, high) in ENDS.items()}
    assert row["highest"] == {name: high for name, (low, high) in ENDS.items()}
    assert all(row["corner"][name] in ends for name, ends in ENDS.items())
    assert all(cell is None or cell != cell for cell in row["missing"].values())
    for name in EVERY_KIND:
        domain: Any = EVERY_KIND[name]
        typical, beyond = row["typical"][name], row["infinite"][name]
        if isinstance(domain, Categories):
            assert typical in domain.labels() or typical in range(3)
            assert beyond not in domain.labels() and beyond not in range(3)
        else:
            assert domain.low <= typical <= domain.high
            assert not domain.low <= beyond <= domain.high
        with pytest.raises(MurmureError):
            domain.encode([row["unreadable"][name]])


def test_neighbours_at_corners_are_at_both_ends_and_independently_so() -> None:
    """Eight columns, 40 seeds: each column is at both ends, and no two are always at the same one, but for 1e-9."""
    found = [next(p for p in neighbours(EVERY_KIND, seed=s) if p.name == "empty: corner row added") for s in range(40)]
    high = np.array([[pair.neighbour[name][0] == ENDS[name][1] for name in EVERY_KIND] for pair in found])

    assert len({tuple(column) for column in high.T} | {tuple(~column) for column in high.T}) == 2 * len(ENDS)
    assert (high.sum(axis=0) > 0).all() and (high.sum(axis=0) < 40).all()


def repr_all(cells: list[Any]) -> list[str]:
    return [repr(cell) for cell in cells]


def asked(gate: Gate, total: list[int], question: str = "q", moves: int = 1, epsilon: float = 1.0) -> Any:
    bound = controls.bound_to([Block("b", len(total), moves, moves**2)], epsilon)
    return gate.add(question, np.array(total, np.int64), bound)


def test_the_recorder_is_a_gate_that_remembers() -> None:
    """Its answers are noisy ones, and its own generator is where it was: the replay's stands at the same place."""
    recorder, twin = RecordingGate(Random.seeded(1)), Random.seeded(1)
    noisy = asked(recorder, [5, 6, 7])
    passage = recorder.passages[0]

    assert passage.truth == (5, 6, 7) and passage.answer == tuple(noisy.sum.tolist()) != passage.truth
    assert recorder.answers[0].answer == passage.answer
    assert recorder.rng.words(3).tolist() == twin.words(3).tolist()
    assert "5" not in repr(passage).replace(repr(passage.bound), "")
    replay = ReplayGate(recorder.passages, "add/remove")
    assert asked(replay, [5, 6, 8]).sum.tolist() == noisy.sum.tolist()
    replay.check_all_asked()


def test_the_replay_refuses() -> None:
    """A question too few, one too many, another one, another noise, another relation, a step too far."""
    recorder = RecordingGate()
    asked(recorder, [5, 6])
    asked(recorder, [7], "second")

    def fresh() -> ReplayGate:
        return ReplayGate(recorder.passages, "add/remove")

    with pytest.raises(AuditFailed, match="asked 1 questions and the first 2"):
        replay = fresh()
        asked(replay, [5, 6])
        replay.check_all_asked()
    with pytest.raises(AuditFailed, match="asks more questions than the 2"):
        replay = fresh()
        asked(replay, [5, 6])
        asked(replay, [7], "second")
        asked(replay, [7], "second")
    with pytest.raises(AuditFailed, match="question 1 of 2 differs in the second run"):
        asked(fresh(), [5, 6], "other")
    with pytest.raises(AuditFailed, match="different sensitivity"):
        asked(fresh(), [5, 6], moves=2)
    with pytest.raises(AuditFailed, match="different cost"):
        asked(fresh(), [5, 6], epsilon=0.5)
    with pytest.raises(
        AuditFailed, match="is protected under the relation 'add/remove', but the audit is for 'replace'"
    ):
        asked(ReplayGate(recorder.passages, "replace"), [5, 6])
    with pytest.raises(AuditFailed, match="changes block 'b' in l1 by 2, more than the declared 1"):
        asked(fresh(), [4, 7])
    with pytest.raises(AuditFailed, match="changes block 'b' in l2 squared by 13, more than the declared 10"):
        gaussian = load("DiscreteGaussian")(rho=0.5).bind([Block("b", 2, 4, 10)])
        other = RecordingGate()
        other.add("q", np.array([0, 0], np.int64), gaussian)
        ReplayGate(other.passages, "add/remove").add("q", np.array([3, -2], np.int64), gaussian)
    with pytest.raises(TypeError, match="whole numbers"):
        asked_floats = controls.bound_to([Block("b", 2, 1, 1)], 1.0)
        fresh().add("q", np.array([5.0, 6.0]), asked_floats)  # type: ignore[arg-type]


def test_results_are_compared_to_the_last_bit() -> None:
    """Floats, arrays, mappings, objects with attributes: whatever a run returns, and however deep it lies."""

    class Learned:
        def __init__(self, n: float) -> None:
            self.coef_ = {"a": [np.array([1.0, n])]}
            self.rng = Random.secure()

    class Keeps:
        def __init__(self, n: int) -> None:
            self._rows = [1] * n

    def returns(value: Any) -> Any:
        return lambda rows, gate: value(len(rows))

    for same in (lambda n: float("nan"), lambda n: Learned(0.5), lambda n: {1, 2}, lambda n: [None, "x", 1j]):
        replay_audit(returns(same), [1], [1, 2], allow_no_question=True)
    different: tuple[tuple[Any, str], ...] = (
        (lambda n: 0.1 + n * 2e-17, "the result"),
        (lambda n: Learned(n), r"the result\.coef_\['a'\]\[0\]"),
        (lambda n: [0] * n, "the result"),
        (lambda n: Keeps(n), r"the result\._rows"),
        (lambda n: 1 if n == 1 else True, "the result"),
        (lambda n: {"n": n}, r"the result\['n'\]"),
    )
    for value, where in different:
        with pytest.raises(AuditFailed, match=f"differs in {where}"):
            replay_audit(returns(value), [1], [1, 2], allow_no_question=True)


def test_costs_are_added_exactly() -> None:
    """Ten tenths of a budget, as floats, are more than the budget; the audit says so."""

    def ten(rows: Any, gate: Gate) -> None:
        for i in range(10):
            asked(gate, [len(rows)], str(i), epsilon=0.1)

    cost = replay_audit(ten, [1], [1, 2]).cost
    assert replay_audit(ten, [1], [1, 2], claim=np.nextafter(1.0, 2)).cost == cost
    with pytest.raises(AuditFailed, match=r"together; 0\.99 was claimed"):
        replay_audit(ten, [1], [1, 2], claim=0.99)
    with pytest.raises(AuditFailed, match="rho"):
        replay_audit(ten, [1], [1, 2], claim=Cost(float("inf"), 1e-9))


# -- an audit of nothing is no audit -----------------------------------------------------------------------------------


def crashes(rows: Any, gate: Gate) -> Any:
    return 1 / 0


def crashes_late(rows: Any, gate: Gate) -> Any:
    asked(gate, [len(rows)])
    return 1 / 0


def test_a_run_that_breaks_off_fails() -> None:
    """Both runs raise the same error: nothing was audited, unless that error was declared."""
    with pytest.raises(AuditFailed, match=r"ZeroDivisionError.* before the first question: no result was audited"):
        replay_audit(crashes, [1], [1, 2])
    with pytest.raises(AuditFailed, match="after 1 question: no result"):
        replay_audit(crashes_late, [1], [1, 2])
    with pytest.raises(AuditFailed, match="no result was audited"):
        replay_audit(crashes, [1], [1, 2], allow_raise=(KeyError, ValueError))
    for allowed in (True, ZeroDivisionError, (KeyError, ArithmeticError)):
        found = replay_audit(crashes_late, [1], [1, 2], allow_raise=allowed)  # type: ignore[arg-type]

        assert found.questions == 1 and found.raised == "ZeroDivisionError: division by zero"
        assert replay_audit(crashes, [1], [1, 2], allow_raise=allowed).questions == 0  # type: ignore[arg-type]


def test_declared_errors_must_still_be_the_same() -> None:
    """An error that names the number of rows tells it, declared or not; so does one that only one run ends with."""

    def says_n(rows: Any, gate: Gate) -> Any:
        raise ValueError(f"{len(rows)} rows")

    def only_one(rows: Any, gate: Gate) -> Any:
        asked(gate, [len(rows)])
        if len(rows) == 2:
            raise ValueError("two")

    for ask in (says_n, only_one):
        with pytest.raises(AuditFailed, match="a different error"):
            replay_audit(ask, [1], [1, 2], allow_raise=True)


def test_a_run_without_questions_fails() -> None:
    """The gate was not passed on; or nothing is released that depends on anybody, which must be said."""

    def constant(rows: Any, gate: Gate) -> int:
        return 7

    with pytest.raises(AuditFailed, match="asked the gate anything: nothing was audited"):
        replay_audit(constant, [1], [1, 2])
    assert replay_audit(constant, [1], [1, 2], allow_no_question=True).questions == 0


def test_a_block_says_what_its_squares_must_be() -> None:
    """l2 is a sum of squares; whoever takes it for a norm is told, and told what would fit."""
    with pytest.raises(InvalidParameter, match=r"(?s)of width 1.*sum of SQUARES.*squares add up to 2500"):
        Block("s", 1, l1=50, l2=50)
    with pytest.raises(InvalidParameter, match=r"(?s)of width 3.*from 34 \(spread evenly\) to 100 \(in one"):
        Block("s", 3, l1=10, l2=10)
    Block("s", 3, l1=10, l2=34), Block("s", 3, l1=10, l2=100)


# ---- whatever a result is made of


class Slots:
    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n

    def told(self) -> int:
        return self.n


class Named(list):  # type: ignore[type-arg]
    """A list with room for a name."""


def named(n: int) -> Named:
    out = Named([1])
    out.rng = n  # type: ignore[attr-defined]
    return out


HIDDEN = {
    "slots": Slots,
    "a method": lambda n: Slots(n).told,
    "a decimal": Decimal,
    "a time": timedelta,
    "a closure": lambda n: lambda: n,
    "a default": lambda n: lambda m=n: m,
    "a partial": lambda n: partial(print, n),
    "an iterator": lambda n: iter([n]),
    "a buffer": lambda n: io.BytesIO(b"x" * n),
    "a view": lambda n: {"a": n}.values(),
    "an error": ValueError,
    "a list with a name": named,
    "a class": lambda n: type("Made", (), {"n": n}),
    "a key": lambda n: {Slots(n): 1},
    "an Arrow table": lambda n: pa.table({"x": range(n)}),
    "a frame": lambda n: pd.DataFrame({"x": range(n)}),
    "a printed line": lambda n: print("n =", n),
    "a line on stderr": lambda n: print("n =", n, file=sys.stderr) or 1,
}


@pytest.mark.parametrize("hides", HIDDEN)
def test_an_exact_number_is_found_wherever_it_hides(hides: str) -> None:
    """All that a result carries is compared, and what cannot be looked into is refused."""
    plan = mu.Plan(mu.Count(mu.Integers(0, 20)), curator=mu.DiscreteLaplace(epsilon=1.0))

    def ask(rows: Any, gate: Any) -> Any:
        return mu.run(plan, rows, gate=gate), HIDDEN[hides](len(rows))

    with pytest.raises(AuditFailed):
        replay_audit(ask, list(range(10)), list(range(11)))


def test_an_audit_is_a_document() -> None:
    """The line that it prints, and all of its figures as facts."""
    plan = mu.Plan(mu.Mean(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=1.0))
    audit = mu.replay_audit(lambda rows, gate: mu.run(plan, rows, gate=gate).estimate, [30, 40], [30, 40, 120])

    assert str(audit) == repr(audit) and str(audit).startswith("Audit: 1 question, the same in both runs;")
    assert "largest part of a declared move" in audit.summary() and "100.0%" in audit.summary()
    assert "none of it may be released" in audit.to_html()
