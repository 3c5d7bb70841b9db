"""Randomised answers on their way from people to the adder, with the digest of the plan they answer."""

from __future__ import annotations

import os
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.types import Array
from murmure.laws.records import Records


@dataclass(frozen=True, eq=False, repr=False)
class Reports:
    """Randomised answers and the digest of the plan they answer.

    >>> import murmure as mu
    >>> domain = mu.Categories(["no", "yes"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> reports = plan.report(["no", "yes", "no"], mu.Random.seeded(7))
    >>> print(len(reports), reports.data.tolist(), reports.plan == plan.digest, reports.seeded)
    3 [1, 1, 0] True True
    """

    data: Array | Records = field(repr=False)
    plan: str
    seeded: bool

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"Reports({len(self)} reports, plan {self.plan[:12]}, {'seeded' if self.seeded else 'secure'})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all or nothing: a killed run leaves no file that looks finished."""
        target = Path(path)
        if not target.parent.is_dir():
            raise InvalidParameter(
                "Reports.save: there is no folder {parent!r}.", hint="create it first", parent=str(target.parent)
            )
        handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as out:
                np.savez(out, **_arrays(self.data), plan=np.array(self.plan), seeded=np.array(self.seeded))
                out.flush()
                os.fsync(out.fileno())
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Reports:
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(_reports(arrays), str(arrays["plan"]), bool(arrays["seeded"]))
        except FileNotFoundError:
            raise InvalidParameter("there is no report file {path!r}.", path=str(path)) from None
        except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidParameter(
                "{path!r} is not a report file ({kind}).",
                hint="report files are written by Reports.save; a truncated one cannot be read",
                path=str(path),
                kind=type(error).__name__,
            ) from None


def _arrays(data: Array | Records) -> dict[str, Any]:
    if not isinstance(data, Records):
        return {"data": data}
    out = {f"part{i}": part for i, part in enumerate(data.parts)}
    if data.rows is not None:
        out |= {f"rows{i}": rows for i, rows in enumerate(data.rows)}
    law = {} if data.law is None else {"law": np.array(data.law)}
    return {"people": np.array(data.n), **law, **out}


def _reports(arrays: Any) -> Array | Records:
    if "data" in arrays:
        return np.asarray(arrays["data"])
    count = sum(name.startswith("part") for name in arrays.files)
    rows = tuple(arrays[f"rows{i}"] for i in range(count)) if "rows0" in arrays else None
    law = str(arrays["law"]) if "law" in arrays else None  # files before 0.6 do not name it
    return Records(int(arrays["people"]), tuple(arrays[f"part{i}"] for i in range(count)), rows, law=law)
