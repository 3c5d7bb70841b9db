"""Passwords of tests are hashed in a moment: with a collector's settings each takes a sixth of a second, and 64 MiB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from murmure.collector.service import analysts


@pytest.fixture(autouse=True, scope="module")
def quick_passwords() -> Iterator[None]:
    """What the settings are otherwise: test_passwords_are_kept_as_argon2id in tests/collector/service."""

    def quick() -> Any:
        argon2 = pytest.importorskip("argon2")
        return argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysts, "_hasher", quick)
        yield
