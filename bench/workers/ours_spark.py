"""The same table summed by the memory engine and by Spark, once started, all on one core.

    ours_spark.py FOLDER ROWS [WAY ...]      of the ways in `sources`, all by default

Seconds are CPU seconds of this process and of everything it started: JVM, Python workers, compilers and collectors.
"""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import people
from clock import best, emit
from ours import LIB, telling

import murmure as mu
from murmure.engines.spark import Spark, session

TICKS = os.sysconf("SC_CLK_TCK")


def spent():
    """CPU seconds of this process and its descendants, those that ended included (Linux)."""
    parent, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        pid = int(place.name)
        parent[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))

    def ours(pid):
        return pid == os.getpid() or (pid in parent and ours(parent[pid]))

    return sum(ticks[pid] for pid in ticks if ours(pid)) / TICKS


def plan():
    columns = {column: mu.Categories(people.labels(column)) for column in people.TEXT}
    columns |= {column: mu.Integers(low, high) for column, (low, high) in people.WHOLE.items()}
    schema = mu.Schema(columns | {"income": mu.Interval(0.0, people.INCOME, cells=people.CELLS)})
    return mu.Plan(mu.Marginals(schema), person=mu.RSFD(schema, epsilon=1.0))


def measure(task, n, call):
    seconds = best(call, spent, seconds=0)
    emit(task, LIB, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9)


COPIES = 4  # of the file: a job costs a fraction of a second whatever it reads, and that is not what is asked

folder, n = Path(sys.argv[1]), int(sys.argv[2]) * COPIES
path = folder / "copies"
path.mkdir(exist_ok=True)
for copy in range(COPIES):
    shutil.copyfile(folder / f"{sys.argv[2]}.parquet", path / f"{copy}.parquet")
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # whatever is started inherits it
spark = session("local[1]")
frame = spark.read.parquet(str(path))
regions = spark.createDataFrame([(name,) for name in people.labels("region")], "region string")
sources = {
    "files": path,
    "scan": frame,
    "filtered": frame.where("income > 500 and region <> 'region 11'"),
    "jvm": frame.where("length(region) > 0"),  # all rows, which must go through the JVM
    "joined": frame.join(regions, "region"),
}
sources = {way: source for way, source in sources.items() if way in (sys.argv[3:] or sources)}
with telling("spark"):
    asked = plan()
    for source in list(sources.values()) * 2:  # a JVM is started when it has compiled what it runs
        mu.run(asked, source, Spark(spark))
    measure("spark.memory", n, partial(mu.run, asked, path, mu.Memory(threads=1)))
    for way, source in sources.items():
        measure(f"spark.{way}", n, partial(mu.run, asked, source, Spark(spark)))
spark.stop()
