"""Linking a sanitised table with an identified one: whose row is this? By the exact posterior, person by person.

The attacker holds the true records x_1 .. x_n of n people and rows y that were randomised from them. Each person is as
likely as any other beforehand, so the posterior of person i is P[y | x_i] over the sum of all, read from the law that
the sanitised table carries. It is the best rule that looks at one row at a time; matching all rows at once, each to
another person, can do better. Public columns of the sanitised table are not randomised: they must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.repetitions import check_count, repeat
from murmure.attacks.base.success import Success, counted, exact, repeated_share
from murmure.attacks.base.threat_model import ThreatModel
from murmure.attacks.person.links.link_scores import LinkScores
from murmure.attacks.person.links.linked_tables import IdentifiedRows, public_codes, read_identified, read_sanitised
from murmure.attacks.person.links.ranks import posterior_chances, top_chances
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema
from murmure.core.types import Floats, Ints
from murmure.engines.base.progress import with_progress
from murmure.laws.records import Records
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.rsfd import RSFD
from murmure.local.smp import SMP
from murmure.local.spl import SPL
from murmure.run.tables.sanitiser import sanitise
from murmure.run.tables.table_format import record_schema

MAX_PAIRS = 2 * 10**9  # of a report and a distinct record: about a minute for ten columns


def linkage(
    sanitised: Any,
    identified: Any,
    *,
    top: int | Sequence[int] = (1, 10),
    same_order: bool = False,
    targets: int | None = None,
    repetitions: int = 20,
    plan: Any = None,
    rng: Random | None = None,
) -> AttackResult:
    """How often the person of a sanitised row is among the `top` likeliest people of an identified table.

    sanitised: what `sanitise` made, a file or a table; or a mechanism of records, which then randomises the identified
    table `repetitions` times. same_order: row i of both tables is the same person, so that hits can be counted; without
    it, the figure is what the posterior itself promises, and nobody is named in either case. targets: look at a random
    sample of that many rows. plan: for a table without metadata.

    >>> import murmure as mu
    >>> from murmure import attacks
    >>> schema = mu.Schema({"job": mu.Categories(20), "town": mu.Categories(30)})
    >>> people = {"job": [i % 20 for i in range(300)], "town": [i % 30 for i in range(300)]}
    >>> table = mu.sanitise(people, mu.SPL(schema, epsilon=12.0), rng=mu.Random.seeded(7))
    >>> for row in attacks.linkage(table, people, same_order=True, top=[1, 10]).rows:
    ...     print(f"{row.attacker}: {row.value:.3f}, {row.baseline:.4f} without the reports")
    the likeliest alone: 0.186, 0.0033 without the reports
    among the first 10: 0.950, 0.0333 without the reports
    """
    tops = [check_count("top", k) for k in ([top] if isinstance(top, int) else top)]
    if not tops:
        raise InvalidParameter("top must hold at least one whole number, got {got}.", got=shorten(top))
    if targets is not None:
        check_count("targets", targets)
    rng = random_or_secure(rng, "linkage").branch()
    if isinstance(sanitised, RecordMechanism):
        check_count("repetitions", repetitions)
        people, _ = read_identified(identified, sanitised.domain)
        whole = public_codes(people.public, people.public, len(people), len(people))
        baseline = [float(value.mean()) for value in _without_reports(*whole, tops)]
        drawn = repeat(lambda r: _drawn(sanitised, people, whole, tops, targets, r), repetitions, rng)
        rows = [repeated_share(_label(k), [d[i] for d in drawn], baseline[i]) for i, k in enumerate(tops)]
        looked_at = min(targets or len(people), len(people))
        return _result(rows, sanitised, len(people), looked_at, people, True)
    stored = read_sanitised(sanitised, plan, ())
    schema = record_schema(stored.plan)
    people, public = read_identified(identified, schema)
    stored = read_sanitised(sanitised, plan, public) if public else stored
    reports, mechanism = stored.reports, stored.plan.person
    if same_order and reports.n != len(people):
        raise InvalidParameter(
            "same_order: the sanitised table has {reports:,} rows and the identified one {people:,}, so they cannot be "
            "the same people in the same order.",
            hint="leave same_order out: the figure is then what the posterior promises",
            reports=reports.n,
            people=len(people),
        )
    report_public, people_public = public_codes(stored.public, people.public, reports.n, len(people))
    wanted = _sample(reports.n, targets, rng)
    scores = LinkScores(mechanism.channel, reports, people.codes, report_public, people_public, wanted)
    chances = _all_chances(scores, tops, same_order)
    baseline = [float(v[wanted].mean()) for v in _without_reports(report_public, people_public, tops)]
    rows = []
    for i, k in enumerate(tops):
        if len(wanted) < reports.n and same_order:
            rows.append(counted(_label(k), float(chances[i].sum()), len(wanted), baseline[i]))
        else:
            rows.append(exact(_label(k), float(chances[i].mean()), baseline[i]))
    return _result(rows, mechanism, reports.n, len(wanted), people, same_order)


def _label(k: int) -> str:
    return Plural("the likeliest alone", "among the first {n:,}", n=k)


def _sample(n: int, targets: int | None, rng: Random) -> Ints:
    if targets is None or targets >= n:
        return np.arange(n)
    return np.sort(np.argsort(rng.words(n), kind="stable")[:targets])


def _drawn(
    mechanism: RecordMechanism,
    people: IdentifiedRows,
    public: tuple[Ints, Ints],
    tops: Sequence[int],
    targets: int | None,
    rng: Random,
) -> list[float]:
    reports: Records = mechanism.randomise(people.codes, rng)
    wanted = _sample(reports.n, targets, rng)
    scores = LinkScores(mechanism.channel, reports, people.codes, *public, wanted)
    return [float(row.mean()) for row in _all_chances(scores, tops, True)]


def _all_chances(scores: LinkScores, tops: Sequence[int], truth: bool) -> Floats:
    """For every k (rows) and report that is looked at, the chance that its person is among the first k."""
    plan = scores.plan()
    pairs = sum(len(group.rows) * len(group.candidates.people) for group in plan)
    if pairs > MAX_PAIRS:
        raise InvalidParameter(
            "{pairs:,} pairs of a report and a person would have to be compared, and at most {most:,} are.",
            hint="look at a sample of the rows: targets={targets}",
            pairs=pairs,
            most=MAX_PAIRS,
            targets=max(1, int(len(scores.wanted) * MAX_PAIRS / pairs)),
        )
    find = top_chances if truth else posterior_chances
    blocks = with_progress(scores.blocks(plan), len(scores.wanted), Phrase("comparing reports with people"))
    found = [find(block, tops) for block in blocks]
    return np.concatenate(found, axis=1)


def _without_reports(report_public: Ints, people_public: Ints, tops: Sequence[int]) -> list[Floats]:
    """A guess among the people whose public columns agree; among all where nobody's do."""
    counts = np.bincount(people_public, minlength=int(report_public.max(initial=0)) + 1)
    rivals = np.where(counts == 0, len(people_public), counts)[report_public]
    return [np.minimum(1.0, k / rivals) for k in tops]


def _result(
    rows: list[Success],
    mechanism: RecordMechanism,
    n: int,
    targets: int,
    people: IdentifiedRows,
    truth: bool,
) -> AttackResult:
    counted_hits = Phrase("share of rows whose person is among the likeliest")
    promised = Phrase("share of rows whose person is among the likeliest, as the posterior promises")
    notes: list[str] = [
        Phrase("Equally likely people are counted in parts: what breaking ties at random gives on average.")
    ]
    if not truth:
        notes.append(
            Phrase(
                "Nobody said which row is whose, so hits are not counted: this is the mean posterior chance, and right "
                "if every sanitised row is that of somebody in the identified table."
            )
        )
    if targets < n:
        notes.append(
            Plural(
                "A random sample of {n:,} row was looked at.", "A random sample of {n:,} rows was looked at.", n=targets
            )
        )
    if people.public:
        notes.append(Phrase("Public columns are not randomised: a guess without the reports uses them too."))
    return AttackResult(
        "link",
        Phrase("Linking a sanitised table with an identified one"),
        ThreatModel(
            Phrase("every row of the sanitised table"),
            Phrase(
                "the true record of every person, and the law of the mechanism ({name})", name=type(mechanism).__name__
            ),
            Phrase("whose row it is"),
        ),
        counted_hits if truth else promised,
        tuple(rows),
        notes=tuple(notes),
        details={"reports": n, "targets": targets, "people": len(people), "truth_known": truth},
    )


_PAIR = Schema({"job": Categories(8), "town": Categories(9), "car": Categories(["no", "yes"])})


def _example_people(n: int) -> dict[str, list[Any]]:
    return {"job": [i % 8 for i in range(n)], "town": [i % 9 for i in range(n)], "car": ["no", "yes", "no"] * (n // 3)}


EXAMPLES = (
    lambda: linkage(
        sanitise(_example_people(60), SPL(_PAIR, 6.0), rng=Random.seeded(1)), _example_people(60), same_order=True
    ),
    lambda: linkage(sanitise(_example_people(60), SMP(_PAIR, 3.0), rng=Random.seeded(2)), _example_people(60)),
    lambda: linkage(RSFD(_PAIR, 4.0), _example_people(60), top=5, repetitions=3, rng=Random.seeded(3)),
)
