"""What holds for all tests between parties."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _declines_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A party that declines by itself waits for a coarse clock, which only its own test needs."""
    monkeypatch.setattr("murmure.parties.party.invitation.DECLINE_TICK", 0.05)
