"""How tests are dealt to processes (pytest -n 2)."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that need Spark go to one process, which starts it once; all others one by one, wherever there is room.

    The marker for this (xdist_group, with --dist loadgroup) does nothing under pytest 9.2 and xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneSpark(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "test_spark.py" in nodeid or "engines.spark" in nodeid else nodeid

    return OneSpark(config, log)
