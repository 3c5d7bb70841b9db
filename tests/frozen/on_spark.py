"""One example of every persisted name on Spark: integers and seeded figures, in one session of two cores.

Of models those that ask once: how the others go on follows from the same sums, and tests/engines runs them all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.frozen import figures, reach
from tests.frozen.listed import listed
from tests.frozen.rows import frame_of

import murmure as mu

KINDS = ("mechanisms", "statistics", "models")
MASTER = "local[2,4]"
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def chosen() -> dict[str, dict[str, Any]]:
    """Of each kind and persisted name the first example, by the order of their keys."""
    out: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        for key in sorted(listed()[kind]):
            name = f"{kind} {key.split()[0]}"
            if name not in out and _is_quick(kind, listed()[kind][key]):
                out[name] = {"kind": kind, "kept": listed()[kind][key]}
    return out


def _is_quick(kind: str, kept: Mapping[str, Any]) -> bool:
    if kind == "models":
        return reach.most_rounds(figures.loaded_model(kept)) == 1  # type: ignore[no-any-return]
    return kind != "mechanisms" or bool(figures.questions_of(figures.loaded_mechanism(kept)))


def missing(frozen: Mapping[str, Any]) -> dict[str, Any]:
    session = reach.spark_session(MASTER, QUICK)
    new = {name: one for name, one in chosen().items() if name not in frozen}
    return {name: {**one, "figures": observed(one, session)} for name, one in new.items()}


def observed(one: Mapping[str, Any], session: Any) -> Any:
    """Figures of a kept example, its rows in a file that Spark reads."""
    with tempfile.TemporaryDirectory() as folder:
        return _observed(one, session, Path(folder) / "rows.parquet")


def _observed(one: Mapping[str, Any], session: Any, path: Path) -> Any:
    kind, kept, engine = one["kind"], one["kept"], mu.Spark(session)
    if kind == "models":
        found = reach.fit_model(figures.loaded_model(kept), written(kept["rows"], path), engine=engine)
        return figures.result_figures(found)
    if kind == "mechanisms":
        held = figures.loaded_mechanism(kept)
        plans = figures.questions_of(held)
        plan = plans[next(iter(plans))] if plans else None
    else:
        held = figures.loaded_statistic(kept)
        plan = figures.plans_of(held)["clear"]
    if plan is None or plan is figures.REFUSED:
        return figures.REFUSED
    frame = written(frame_of(held.domain.to_dict(), figures.PEOPLE), path)
    return figures.tried(lambda: figures.total_figures(plan, frame, engine, 17))


def written(frame: Any, path: Path) -> str:
    """The rows in a Parquet file of two row groups, which Spark reads by two tasks."""
    columns = frame if isinstance(frame, dict) else {"value": frame}
    n = len(next(iter(columns.values())))
    pq.write_table(pa.table(columns), path, row_group_size=(n + 1) // 2)
    return str(path)
