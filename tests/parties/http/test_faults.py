"""Whatever a network does, and whoever is killed: the exact sum over the survivors, or a refusal with a name.

A few runs of what script/faults does two hundred times.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.parties.fault_processes import killed
from tests.parties.faults import disturbed


def test_runs_under_faults_end_in_the_exact_sum_or_in_a_named_refusal(tmp_path: Path) -> None:
    """Seeds 30 to 37, of which both ends occur; with kills and damaged requests in them."""
    ends: Counter[str] = Counter()
    kills = faults = 0
    for seed in range(30, 38):
        (tmp_path / str(seed)).mkdir()
        end, run = disturbed(seed, tmp_path / str(seed))
        ends[end] += 1
        kills, faults = kills + run.kills, faults + run.faults
    assert ends["sum"] > 0 and len(ends) > 1, ends
    assert kills > 10 and faults > 20


def test_a_sum_that_is_wrong_by_one_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness itself can fail."""
    from murmure.secure.ring import RingEncoder

    decode = RingEncoder.decode
    monkeypatch.setattr(
        RingEncoder, "decode", lambda self, total, n: [decode(self, total, n)[0] + 1, *decode(self, total, n)[1:]]
    )
    with pytest.raises(AssertionError, match="a wrong sum"):
        disturbed(0, tmp_path)


@pytest.mark.slow
def test_processes_that_are_killed_end_in_the_exact_sum_or_in_a_named_refusal(tmp_path: Path) -> None:
    """Seeds 0 to 2: the commands themselves, kill -9, and lines that are cut."""
    for seed in range(3):
        (tmp_path / str(seed)).mkdir()
        end, _ = killed(seed, tmp_path / str(seed))
        assert end in ("sum", "TooFewParties")
