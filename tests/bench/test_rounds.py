"""A row is judged by every one of its rounds: the ratio of a round is the peer's time in it over ours in it."""

from __future__ import annotations

from typing import Any

import rounds


def record(lib: str, i: int, seconds: float, task: str = "grr.client", n: int = 1, **more: Any) -> dict[str, Any]:
    return {"task": task, "lib": lib, "round": i, "n": n, "seconds": seconds, "per_item_ns": seconds / n * 1e9} | more


def test_a_ratio_compares_the_two_sides_of_one_round() -> None:
    """A slow round slows both sides. Best over best would say 10 / 1, which no round showed."""
    found = rounds.of_rounds(
        [record("peer", 0, 10), record("murmure fast", 0, 2), record("peer", 1, 30), record("murmure fast", 1, 1)]
    )
    ratios = rounds.ratios(found["grr.client", "peer"], found["grr.client", "murmure fast"])

    assert ratios == [5, 30]
    assert rounds.at_least(ratios, 5).worst == 5 and rounds.at_least(ratios, 5).best == 30


def test_a_round_that_lacks_a_side_is_not_met() -> None:
    for peer, ours in (({0: 4, 1: 4}, {0: 1}), ({0: 4}, {0: 1, 1: 1})):
        sides = [{i: {"seconds": s} for i, s in side.items()} for side in (peer, ours)]
        judged = rounds.at_least(rounds.ratios(*sides), 2)

        assert judged.values == (4, None)
        assert (judged.met, judged.always) == (1, False)


def test_the_fastest_peer_of_each_round_counts_however_many_people_it_was_given() -> None:
    found = rounds.of_rounds(
        [
            record("one", 0, 8, n=2),
            record("other", 0, 5),
            record("one", 1, 6),
            record("other", 1, 7),
            record("murmure base", 0, 0.1),
            record("other", 0, 0.1, task="grr.server"),
        ]
    )

    fastest = rounds.fastest_peer(found, "grr.client")
    assert {i: (r["lib"], r["seconds"]) for i, r in fastest.items()} == {0: ("one", 8), 1: ("one", 6)}


def test_of_two_ways_in_a_round_the_faster_counts_and_of_memory_the_greediest() -> None:
    records = [
        record("murmure", 0, 3, how="newton", megabytes=10),
        record("murmure", 0, 2, how="irls", megabytes=5),
        record("murmure", 1, 1, how="newton", megabytes=4),
        {"task": "grr.client", "lib": "murmure", "round": 1, "error": "failed"},
    ]
    found = rounds.of_rounds(records)["grr.client", "murmure"]
    best = rounds.best_of(records)["grr.client", "murmure"]

    assert {i: (r["how"], r["seconds"], r["megabytes"]) for i, r in found.items()} == {
        0: ("irls", 2, 10),
        1: ("newton", 1, 4),
    }
    assert (best["how"], best["seconds"], best["megabytes"]) == ("newton", 1, 10)
    assert [r.get("megabytes") for r in records] == [10, 5, 4, None], "records are not changed"


def test_margins_of_ratios_and_of_limits() -> None:
    """Above one: met, and by how many times, in the worst round; the worst of a limit is the largest."""
    ratio, limit = rounds.at_least([300, 150, 200], 100), rounds.at_most([2.0, 4.0, 1.0], 8.0)

    assert (ratio.worst, ratio.best, ratio.margin, ratio.met, ratio.always) == (150, 300, 1.5, 3, True)
    assert (limit.worst, limit.best, limit.margin, limit.met, limit.always) == (4.0, 1.0, 2.0, 3, True)


def test_one_bad_round_of_five_is_a_miss() -> None:
    ratio, limit = rounds.at_least([101, 150, 99, 200, 120], 100), rounds.at_most([1, 1, 3, 1, 1], 2)

    assert (ratio.margin, ratio.met, ratio.always) == (0.99, 4, False)
    assert (limit.met, limit.always) == (4, False)
    assert limit.margin is not None and abs(limit.margin - 2 / 3) < 1e-15


def test_a_goal_that_is_just_reached_is_met() -> None:
    assert rounds.at_least([2.0], 2.0).always and rounds.at_most([2.0], 2.0).always


def test_nothing_measured_is_no_success_and_nothing_wanted_is_no_goal() -> None:
    nothing, free = rounds.at_least([], 2.0), rounds.at_least([3.0], None)

    assert (nothing.worst, nothing.margin, nothing.met, nothing.always) == (None, None, 0, False)
    assert (free.worst, free.margin, free.met, free.always) == (3.0, None, None, None)


def test_a_cost_below_zero_has_no_end_of_margin() -> None:
    """Masks that made a sum faster, by chance."""
    assert rounds.at_most([-0.1], 1.0).margin == float("inf")
    assert rounds.at_most([-0.1, 0.5], 1.0).margin == 2.0
