"""kill -9 of the served process under load: what was acknowledged is there exactly once, and tallies are right."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("httptools")
pytest.importorskip("uvloop")

from tests.collector.http.killed_service import kill_often, mutant


def test_four_kills(tmp_path: Path) -> None:
    service, problems = kill_often(tmp_path / "surveys", 4, seed=1)

    assert problems == []
    assert service.ledger.kills == 4 and len(service.ledger.acknowledged) > 100 and service.ledger.resent > 0
    assert service.ledger.acknowledged == set(service.ledger.sent)


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:
    service, problems = kill_often(tmp_path / "surveys", 50, seed=2)

    assert problems == []
    assert service.ledger.kills == 50 and len(service.ledger.acknowledged) > 10_000 and service.ledger.resent > 50


@pytest.mark.parametrize(("defect", "told"), [("late", "is lost"), ("forgetful", "times the same")])
def test_kills_find_a_service_with_a_defect(tmp_path: Path, defect: str, told: str) -> None:
    """On a busy machine not always at the first kills."""

    def problems(seed: int) -> list[str]:
        return kill_often(tmp_path / str(seed), 2, seed=seed, command=mutant(defect))[1]

    assert any(told in problem for seed in range(3, 9) for problem in problems(seed))
