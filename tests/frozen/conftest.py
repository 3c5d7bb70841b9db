"""One Spark for the frozen figures; one that other tests started is used, and left running."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.frozen import on_spark, reach


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Two cores of this machine. The JVM is ended, and waited for, by whoever started it."""
    from pyspark import SparkContext

    started = SparkContext._gateway is None
    session = reach.spark_session(on_spark.MASTER, on_spark.QUICK)
    yield session
    if started:
        process = SparkContext._gateway.proc
        session.stop()
        SparkContext._gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        process.stdin.close()
        process.wait(30)
