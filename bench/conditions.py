"""Under which conditions a part was measured: processor, load, versions, and whether byte code was kept."""

import importlib.util
import os
import platform
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from environments import PACKAGES, versions

CPUINFO = Path("/proc/cpuinfo")
OUR_PACKAGES = ("murmure", "numpy", "numba", "cryptography", "pyarrow")


def processor(text=None):
    """Its name, and what tells apart processors that give themselves one name: family, model, widest registers."""
    if text is None:
        text = CPUINFO.read_text() if CPUINFO.exists() else ""
    fields = dict(re.findall(r"^([^\t:\n]+?)\s*: (.*)$", text.partition("\n\n")[0], re.MULTILINE))
    if "model name" not in fields:
        return platform.processor() or platform.machine()
    flags = fields.get("flags", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{fields['model name']} (family {fields.get('cpu family')}, model {fields.get('model')}, {widest})"


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def modules(package="murmure"):
    """The package's files, found without importing it."""
    (place,) = importlib.util.find_spec(package).submodule_search_locations
    return sorted(Path(place).rglob("*.py"))


def is_cached(source):
    """Python's own rule: the byte code was made from a source of this size, last changed at this second."""
    cache = Path(importlib.util.cache_from_source(str(source)))
    if not cache.is_file():
        return False
    head, stat = cache.read_bytes()[:16], source.stat()
    if len(head) < 16 or head[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags, seconds, size = (int.from_bytes(head[i : i + 4], "little") for i in (4, 8, 12))
    return flags == 0 and seconds == int(stat.st_mtime) & 0xFFFFFFFF and size == stat.st_size & 0xFFFFFFFF


def byte_code(sources, switched_off):
    """One line for the head: the first import of a process takes several times as long without byte code."""
    cached = sum(map(is_cached, sources))
    state = "not written (PYTHONDONTWRITEBYTECODE is set)" if switched_off else "written"
    warm = "warm" if cached == len(sources) else "cold" if not cached else "partly warm"
    return f"{state}; caches {warm}: {cached} of {len(sources)} modules of Murmure compiled at the start"


def now(rounds, peers):
    """What a part says of the moment when it starts; `peers` as {name: its python}."""
    theirs = [line for peer, python in peers.items() for line in versions(python, [PACKAGES.get(peer, peer)])]
    return {
        "date": f"{datetime.now(UTC):%-d %B %Y, %H:%M} UTC",
        "processor": processor(),
        "cores": cores(),
        "python": platform.python_version(),
        "ours": versions(sys.executable, OUR_PACKAGES),
        "peers": theirs,
        "byte code": byte_code(modules(), sys.flags.dont_write_bytecode),
        "rounds": rounds,
        "loads": [],
    }


FACTS = {  # what the head of the page says of all parts
    "processor": "processor",
    "cores": "cores used",
    "python": "Python",
    "ours": "versions",
    "byte code": "byte code",
}


def of_loads(loads):
    low, high = min(loads), max(loads)
    return f"{low:.1f}" if low == high else f"{low:.1f} to {high:.1f}"


def load(abouts):
    return of_loads([load for about in abouts.values() for load in about["loads"]])


def line(about):
    """What stands under the title of a part's section."""
    rounds = "one round" if about["rounds"] == 1 else f"{about['rounds']} rounds"
    number = "one core" if about["cores"] == 1 else f"{about['cores']} cores"
    place = f"{number} of {about['processor']}"
    return f"Measured on {about['date']}, {rounds}, load {of_loads(about['loads'])}, {place}."


def shared(abouts, field):
    """The value that all parts share; where they differ, each value with the parts that have it."""
    names = {}
    for name, about in abouts.items():
        value = about[field]
        names.setdefault(", ".join(value) if isinstance(value, list) else str(value), []).append(name)
    return list(names) if len(names) == 1 else [f"{text} ({', '.join(parts)})" for text, parts in names.items()]


def differing(abouts):
    """A warning where not all parts were measured alike: figures of two machines are not to be compared."""
    fields = [what for field, what in FACTS.items() if len(shared(abouts, field)) > 1]
    if not fields:
        return []
    return [f"**Not all parts were measured alike; above is what differs: {', '.join(fields)}.**"]
