"""The tests are no package: what several of them share (hands.py) is found by its folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _declines_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A party that declines by itself waits for a coarse clock, which only its own test needs."""
    monkeypatch.setattr("murmure.parties.party.invitation.DECLINE_TICK", 0.05)
