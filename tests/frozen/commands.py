"""The documented commands with --json, run in process on small files that are made here.

Frozen are every key, and every number, boolean and single word that was the same in two runs: noise that the operating
system draws is not, and neither are sentences, paths and times.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shlex
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.frozen.compare import plain
from tests.frozen.figures import is_word

import murmure as mu
from murmure.cli import main

N = 90
SCHEMA = mu.Schema(
    {
        "stay": mu.Integers(0, 60),
        "age": mu.Integers(18, 99),
        "cost": mu.Decimals("0.5", "90.5", 1),
        "ward": mu.Categories(["A", "B", "C"]),
        "sex": mu.Categories(["f", "m"]),
        "died": mu.Categories(["no", "yes"]),
        "days": mu.Integers(1, 30),
        "score": mu.Integers(0, 20),
        "n": mu.Integers(1, 4),
    }
)
TABLE: dict[str, list[Any]] = {
    "stay": [(7 * i * i + 3 * i) % 41 for i in range(N)],
    "age": [18 + (i * 29) % 80 for i in range(N)],
    "cost": [0.5 + (i * i * 7 % 90) for i in range(N)],
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(N)],
    "sex": ["fm"[i * 7 % 5 % 2] for i in range(N)],
    "died": [("no", "yes")[(i * i // 3) % 7 % 2] for i in range(N)],
    "days": [1 + (i * 11) % 29 for i in range(N)],
    "score": [(i * 5 + (i * i // 3) % 7) % 21 for i in range(N)],
    "n": [1 + i % 4 for i in range(N)],
}
STUDY = """name = "Stay"
purpose = "How long people stay."
dropouts = 1
rows = 1000
least_rows = 10
[columns.age]
type = "integers"
low = 0
high = 120
[columns.stay]
type = "integers"
low = 0
high = 60
[[queries]]
sums = ["age", "stay"]
[[models]]
model = "ols"
formula = "stay ~ age"
"""
CARDS = " ".join(f"party{k}/card.json" for k in range(4))
CURATOR = "--schema schema.toml --epsilon 1"
SEEDED = f"{CURATOR} --no-ledger --seed 1"
MODEL = "--schema schema.toml --epsilon 20 --no-ledger --seed 1"

BETWEEN = "a study between organisations"
# One line is one scene, played in a folder of its own; a semicolon parts commands, of which each is frozen.
SCENES = (
    "advise --labels no,yes --epsilon 1 --people 200",
    "advise --categories 128 --epsilon 0.5:5:1.5 --people 1e5 --rank-by var-star",
    "advise --interval 0:1 --epsilon 1 --people 500",
    "advise --schema few.toml --epsilon 1,8 --people 50000",
    "certify GRR --categories 4 --epsilon 1",
    "certify OUE --labels bus,car,bicycle --epsilon 2",
    "certify Warner --truth 1/2 --yes-coin 1/2",
    "certify rsfd-grr --schema few.toml --epsilon 1",
    "certify --plan plan.json",
    "certify --list",
    "schema init t.csv -o draft.toml; schema show schema.toml; schema check schema.toml t.csv",
    "sanitize few.csv --schema few.toml --epsilon 2 -o out.parquet --seed 7; estimate out.parquet; "
    "estimate out.parquet --truth few.csv; estimate out.parquet --simultaneous --consistent --level 0.9",
    "sanitize few.csv --schema few.toml --epsilon 2 -o out.parquet; estimate out.parquet",
    "sanitize few.csv --schema few.toml --epsilon 1 --solution spl -o out.csv --seed 7; estimate out.csv",
    "sanitize few.csv --schema few.toml --epsilon 1 --solution rsfd-grr -o out.csv --seed 7; estimate out.csv",
    "estimate --mechanism two-coins --counts no=300,yes=200",
    "estimate --mechanism GRR --labels a,b,c --epsilon 1 --counts a=30,b=40,c=50",
    f"query count t.csv {CURATOR} --budget 3; query count t.csv {CURATOR}; query mean t.csv --column age {CURATOR}; "
    "ledger show; ledger history; ledger history t.csv; ledger answer 2",
    f"query count t.csv {SEEDED} --where died=yes --where age=20:60",
    f"query sum t.csv {SEEDED} --column cost",
    f"query mean t.csv {SEEDED} --column age --by ward",
    f"query variance t.csv {SEEDED} --column age",
    f"query histogram t.csv {SEEDED} --column ward --where age=18:60",
    f"query count t.csv {SEEDED} --by ward,sex",
    f"query table t.csv {SEEDED} --column ward,sex",
    f"query quantile t.csv {SEEDED} --column age --at 0.25,0.5,0.75",
    f"query mode t.csv {SEEDED} --column ward",
    "ledger budget patients --epsilon 1.2 --who steward --ledger l.db; "
    "ledger budget visitors --epsilon 1 --delta 1e-6 --ledger l.db; ledger show --ledger l.db; "
    "ledger budget patients --ledger l.db",
    f"train naive-bayes t.csv --target died --features age,ward -o m.json {MODEL}; predict m.json t.csv -o p.csv",
    f"train linear t.csv --target stay --features age,score -o m.json {MODEL} --test others.csv; "
    "predict m.json t.csv -o p.csv",
    f"train logistic t.csv --target died --features age,score -o m.json {MODEL}; predict m.json t.csv -o p.csv",
    f"train kmeans t.csv --clusters 2 --features age,stay -o m.json {MODEL}; predict m.json t.csv -o p.csv",
    f"train linear t.csv --target stay --features age -o m.json {CURATOR} --budget 3; ledger show",
    'ols "stay ~ age + ward" t.csv --errors HC1',
    'ols "stay ~ age" t.csv t2.csv t3.csv --secure --schema schema.toml --rows-are-public',
    'logit "died ~ age" t.csv t2.csv t3.csv --secure --schema schema.toml --rows-are-public',
    'wls "stay ~ age" t.csv --weights n',
    'ridge "stay ~ age + score" t.csv --lambdas 0.1,1,10',
    'iv "stay ~ age" t.csv --instruments "score"',
    "did stay t.csv --treated sex --post died",
    'fixed-effects "stay ~ age" t.csv t2.csv t3.csv',
    'logit "died ~ age" t.csv',
    'probit "died ~ age" t.csv',
    'poisson "stay ~ age" t.csv --dispersion pearson',
    'gamma "cost ~ age" t.csv',
    'negative-binomial "stay ~ age" t.csv',
    'cox "age" t.csv --time days --event died',
    'mle "days ~ age" t.csv --family weibull',
    "describe t.csv --columns age,stay",
    "covariance t.csv --columns age,stay",
    "correlation t.csv --columns age,stay",
    "pca t.csv --columns age,stay,score --scaled",
    "ttest stay t.csv --by sex",
    "anova stay t.csv --by ward",
    "contingency ward died t.csv",
    "mantel-haenszel sex died t.csv --strata ward",
    "ecdf stay t.csv --grid 1,5,10,20",
    "quantiles stay t.csv --shares 0.5,0.9",
    "histogram stay t.csv --edges 0,10,20,60",
    "kaplan-meier days t.csv --event died --by sex",
    "logrank days t.csv --event died --by sex",
    "roc score t.csv --outcome died",
    "kmeans t.csv --columns age,stay --clusters 2",
    "study init office --name Office; party init party0 --name A; party init party1 --name B; "
    "party init party2 --name C; party init party3 --name D; party card --home party0; "
    f"study new office study.toml {CARDS}; study show office/stay; study status office/stay; "
    "party status --home party0; party history --home party0",
    "study models; study models iv",
    "completion bash",
    "query count t.csv --schema schema.toml --epsilon -1",
    "query count nowhere.csv --schema schema.toml --epsilon 1",
    "certify nobody",
    BETWEEN,
)


def played(scene: str, folder: Path) -> list[dict[str, Any]]:
    """Each command of a scene with its exit code and the JSON that it printed."""
    if scene == BETWEEN:
        return _between(folder)
    out = []
    with _inside(folder):
        _write_files()
        for line in scene.split("; "):
            ran = CliRunner().invoke(main, [*shlex.split(line), "--json"])
            told = ran.stdout.strip()
            out.append({"command": line, "exit code": ran.exit_code, "json": json.loads(told) if told else None})
    return out


def _between(folder: Path) -> list[dict[str, Any]]:
    """A study of three parties over HTTP on this machine, each of them, and the coordinator, a process of its own."""
    homes = [f"party{k}" for k in range(3)]
    with _inside(folder):
        _write_files()
        Path("study.toml").write_text(STUDY.replace("dropouts = 1", "minimum_parties = 3"), "utf-8")
        for k, home in enumerate(homes):
            _write(f"rows{k}.csv", {name: TABLE[name][30 * k : 30 * k + 30] for name in ("age", "stay")})
            _ran(f"party init {home} --name P{k}")
        _ran("study init office --name Office")
        made = _ran("study new office study.toml party0/card.json party1/card.json party2/card.json")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        office = _forked(f"study run office/stay --port {port} --patience 60", "office.out")
        _await(port)
        join = f"party join http://127.0.0.1:{port} --minimum-parties 3 --rows-are-public --approve "
        join += made["json"]["digest"]
        joined = [_forked(f"{join} --home {home} --rows rows{k}.csv", f"{home}.out") for k, home in enumerate(homes)]
        for pid in (*joined, office):
            os.waitpid(pid, 0)
        out = [
            {"command": "party join", **json.loads(Path("party0.out").read_text("utf-8"))},
            {"command": "study run", **json.loads(Path("office.out").read_text("utf-8"))},
        ]
        after = ("study result office/stay", "study status office/stay", "party result --home party0")
        return out + [_ran(line) for line in (*after, "party history --home party0", "party status --home party0")]


def _ran(line: str) -> dict[str, Any]:
    """The exit code and the last line of JSON, since a command that goes on for long prints one for each event."""
    ran = CliRunner().invoke(main, [*shlex.split(line), "--json"])
    try:
        held = json.loads(ran.stdout)
    except ValueError:
        held = json.loads(ran.stdout.splitlines()[-1])
    return {"command": line, "exit code": ran.exit_code, "json": held}


def _forked(line: str, place: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        told = _ran(line)
        del told["command"]  # it holds a port and a digest, which are others in every run
        Path(place).write_text(json.dumps(told), "utf-8")
    finally:
        os._exit(0)


def _await(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the coordinator did not listen within 30 seconds")


def _write_files() -> None:
    few = ("age", "ward", "sex")
    for k, name in enumerate(("t", "t2", "t3")):
        _write(f"{name}.csv", {column: values[k:] for column, values in TABLE.items()})
    _write("others.csv", {name: values[::-2] for name, values in TABLE.items()})  # not the rows that models learn from
    _write("few.csv", {name: TABLE[name] for name in few})
    Path("schema.toml").write_text(SCHEMA.to_toml(), "utf-8")
    Path("few.toml").write_text(mu.Schema({name: SCHEMA[name] for name in few}).to_toml(), "utf-8")
    Path("study.toml").write_text(STUDY, "utf-8")
    yes_no = mu.Categories(["no", "yes"])
    Path("plan.json").write_text(mu.Plan(mu.Histogram(yes_no), person=mu.GRR(yes_no, 1.0)).to_json(), "utf-8")


def _write(name: str, columns: dict[str, list[Any]]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """The folder as the working directory, and nobody else's ledger or party."""
    before, kept = os.getcwd(), dict(os.environ)
    os.environ |= {"MPLBACKEND": "Agg", "LOGNAME": "steward"}  # a ledger notes who asked
    for name in ("MURMURE_LEDGER", "MURMURE_PARTY"):
        os.environ.pop(name, None)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(kept)


CHANGES = {"any": "changes from run to run"}
TIMES = ("seconds",)  # two quick runs may agree on them by chance


def told(value: Any) -> Any:
    """What a command printed, with three dots in place of a sentence."""
    if isinstance(value, dict):
        return {key: dict(CHANGES) if key in TIMES else told(part) for key, part in value.items()}
    if isinstance(value, list):
        return [told(part) for part in value]
    if isinstance(value, str):
        return value if is_word(value) else "..."
    return plain(value)


def repeating(first: Any, second: Any) -> Any:
    """What two runs agree on; elsewhere a mark that says: a figure stands here, of which nothing is frozen."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {key: repeating(first[key], second[key]) for key in first}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [repeating(*pair) for pair in zip(first, second, strict=True)]
    return first if type(first) is type(second) and first == second else dict(CHANGES)


def only_frozen(frozen: Any, found: Any) -> Any:
    """What was found, with the same marks as in what is frozen: there any figure will do, but there must be one."""
    if frozen == CHANGES:
        return dict(CHANGES)
    if isinstance(frozen, dict) and isinstance(found, dict):
        return {key: only_frozen(frozen[key], part) if key in frozen else part for key, part in found.items()}
    if isinstance(frozen, list) and isinstance(found, list) and len(frozen) == len(found):
        return [only_frozen(*pair) for pair in zip(frozen, found, strict=True)]
    return found
