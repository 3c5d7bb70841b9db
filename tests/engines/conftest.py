"""One Spark for all tests that need one, and a cluster that leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for JVMs whose work is soon done


@pytest.fixture(scope="session")
def jvm() -> Iterator[None]:
    """Ends the JVM and waits for it, since it would otherwise go some time after the tests."""
    yield
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()
    if SparkContext._gateway is not None:
        process = SparkContext._gateway.proc
        SparkContext._gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        process.stdin.close()
        process.wait(30)


@pytest.fixture(scope="module")
def spark(jvm: None) -> Any:
    """Two cores of this machine, four tries for each task."""
    from murmure.engines.spark import session

    return session("local[2,4]", {"spark.driver.extraJavaOptions": QUICK})


@pytest.fixture(scope="module")
def cluster(jvm: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session on a standalone master with two workers of one core each, all on the loopback interface."""
    import pyspark
    from pyspark import SparkContext

    from murmure.engines.base.java import java_home
    from murmure.engines.spark import session

    folder, mark = tmp_path_factory.mktemp("cluster"), f"MURMURE_TEST_CLUSTER={uuid.uuid4()}"
    home, options = (
        Path(pyspark.__file__).parent,
        f"{QUICK} -Djava.io.tmpdir={folder}",
    )  # who is killed cleans up nothing
    around = {
        "SPARK_HOME": str(home),
        "JAVA_HOME": java_home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_DAEMON_JAVA_OPTS": options,
        "SPARK_DAEMON_MEMORY": "256m",
    }
    started = []

    def start(role: str, *arguments: str) -> Path:
        log = folder / f"{len(started)}.log"
        with log.open("wb") as out:
            command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{role}", "--host", "127.0.0.1"]
            started.append(
                subprocess.Popen(
                    [*command, "--port", "0", "--webui-port", "0", *arguments],
                    env=os.environ | around | dict([mark.split("=")]),
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        return log

    if SparkContext._active_spark_context is not None:  # one driver has one context
        SparkContext._active_spark_context.stop()
    on_cluster = None
    try:
        address = said(start("master.Master"), r"Starting Spark master at (spark://\S+)")
        workers = [start("worker.Worker", "-c", "1", "-m", "1g", "-d", str(folder / f"{i}"), address) for i in (1, 2)]
        for log in workers:
            said(log, r"(Successfully registered)")
        on_cluster = session(
            address,
            {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": options},
        )
        yield on_cluster
    finally:
        if on_cluster is not None:
            on_cluster.stop()
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(20)
        left = alive(mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert not left, f"the cluster left {len(left)} processes behind"


def said(log: Path, pattern: str) -> str:
    """What a starting process says about itself, once it does."""
    for _ in range(600):
        if match := re.search(pattern, log.read_text(errors="replace")):
            return match[1]
        time.sleep(0.1)
    raise AssertionError(f"{pattern} was not said within a minute:\n{log.read_text(errors='replace')[-2000:]}")


def alive(mark: str) -> list[int]:
    """Processes that carry the mark in their environment, after ten seconds to end."""
    for _ in range(100):
        left = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (place / "environ").read_bytes():
                    left.append(int(place.name))
            except OSError:
                continue  # gone meanwhile, or somebody else's
        if not left:
            return []
        time.sleep(0.1)
    return left
