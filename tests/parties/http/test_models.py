"""Regressions between organisations, over HTTP: a coordinator and parties in processes of their own, as the commands
run them. What is asked next follows from the sums before it; whatever these are, everybody ends, and ends alike."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.econometrics import nist

from murmure.cli import main
from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
from murmure.parties.coordinator.store import CoordinatorStore, read_progress
from murmure.parties.party import runner as at_work
from murmure.parties.party.folder import PartyFolder as PartyHome
from murmure.parties.study.document import Study

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def decimals(name: str, low: int, high: int, places: int = 0) -> str:
    return f'[columns.{name}]\ntype = "decimals"\nlow = {low}\nhigh = {high}\nplaces = {places}\n'


def head(**terms: Any) -> str:
    said = {"name": "Fit", "purpose": "To see.", "minimum_parties": 3, "rows": 2000, "least_rows": 12} | terms
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


PATIENTS = f"""{head(least_rows=1300)}
[columns.age]
type = "integers"
low = 18
high = 99

[columns.twice]
type = "integers"
low = 36
high = 198

[columns.ill]
type = "categories"
values = ["no", "yes"]
"""


def patients(k: int, n: int = 1300) -> dict[str, list[str]]:
    """Of party k: those who are older are ill more often, and nothing decides it."""
    ages = [18 + (29 * i + 7 * k) % 80 for i in range(n)]
    ill = ["yes" if (37 * i * i + 11 * k + i // 7) % 100 < age else "no" for i, age in enumerate(ages)]
    return {"age": list(map(str, ages)), "twice": [str(2 * age) for age in ages], "ill": ill}


# -- commands, each in a process of its own ----------------------------------------------------------------------------


def command(*args: Any) -> tuple[int, Any]:
    ran = CliRunner().invoke(main, [*map(str, args), "--json"])
    lines = ran.stdout.strip()
    return ran.exit_code, json.loads(lines) if lines else None


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    try:
        os.close(here)
        work(there)
    finally:
        os._exit(0)


def ended(pid: int, pipe: int) -> Any:
    """What a command said, and with which code; None: it was killed."""
    with os.fdopen(pipe, "rb") as file:
        said = file.read()
    os.waitpid(pid, 0)
    return json.loads(said) if said else None


class Town:
    """An office, parties with tables, and a study with models."""

    def __init__(self, folder: Path, toml: str, tables: list[dict[str, list[str]]]) -> None:
        self.folder, self.parties = folder, len(tables)
        homes = [PartyHome.create(folder / f"p{i}", f"Hospital {i}") for i in range(self.parties)]
        for i, table in enumerate(tables):
            lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
            (folder / f"r{i}.csv").write_text("\n".join(lines) + "\n")
        (folder / "study.toml").write_text(toml)
        self.home = CoordinatorFolder.create(folder / "office", "Office")
        self.study = Study.from_toml(folder / "study.toml", tuple(one.card for one in homes), self.home.card)
        self.served = StudyFolder.create(self.home, self.study)

    def serve(self, port: int = 0, before: Callable[[], None] = lambda: None) -> tuple[int, int]:
        """The coordinator: its process, and a pipe on which it says its address."""
        from murmure.parties.http.server import ServerSettings, serve

        how = ServerSettings(port=port, once=False, patience=20.0)

        def work(pipe: int) -> None:
            before()
            serve(self.served, how, lambda where: (os.write(pipe, where.parties.encode()), None)[1])

        return forked(work)

    @contextmanager
    def serving(self) -> Iterator[str]:
        pid, pipe = self.serve()
        try:
            yield os.read(pipe, 100).decode()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(pipe)

    def join(self, i: int, url: str, *more: Any) -> tuple[Any, ...]:
        rows = ("--home", self.folder / f"p{i}", "--rows", self.folder / f"r{i}.csv", "--ledger", self.folder / f"l{i}")
        return "party", "join", url, *rows, "--approve", self.study.digest.hex(), "--minimum-parties", 3, *more

    def child(self, i: int, url: str, *more: Any, before: Callable[[], None] = lambda: None) -> tuple[int, int]:
        def work(pipe: int) -> None:
            before()
            os.write(pipe, json.dumps(command(*self.join(i, url, *more))).encode())

        return forked(work)

    def together(self, *more: Any) -> list[tuple[int, Any]]:
        """All join; what each was told at the end."""
        with self.serving() as url:
            said = [ended(*one) for one in [self.child(i, url, *more) for i in range(self.parties)]]
        return said

    def result(self) -> Any:
        code, said = command("study", "result", self.served.path)
        assert code == 0, said
        return said

    def state(self) -> tuple[str, str | None]:
        standing, _ = read_progress(self.served.log, self.study.digest)
        assert standing is not None
        return standing["state"], standing["ended"] and standing["ended"][0]

    def came(self) -> int:
        connection = sqlite3.connect(f"{self.served.log.as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            return int(connection.execute("SELECT count(*) FROM murmure_events WHERE kind = 'message'").fetchone()[0])
        finally:
            connection.close()


def parted(columns: dict[str, list[str]], parties: int = 3) -> list[dict[str, list[str]]]:
    """Rows dealt out like cards."""
    return [{name: column[i::parties] for name, column in columns.items()} for i in range(parties)]


def coefficients(said: Any) -> dict[str, tuple[float, float]]:
    """Of the first model: estimates and standard errors, by name."""
    table, *_ = said["models"][0]["result"]["tables"]
    at, error = table["head"].index("coef"), table["head"].index("std err")
    return {row[0]: (row[at], row[error]) for row in table["rows"]}


def check_certified(said: Any, one: nist.ReferenceSet) -> None:
    """At least 13 of NIST's 15 digits, of every coefficient and of its standard error."""
    found = coefficients(said)
    for (name, values), *certified in zip(found.items(), one.params, one.errors, strict=True):
        for got, wanted in zip(values, certified, strict=True):
            assert nist.digits(got, wanted) >= 13, (name, got, wanted)


# -- least squares -----------------------------------------------------------------------------------------------------


def test_norris_between_three(tmp_path: Path) -> None:
    """36 rows that no two parties see together: the certified values, at every party and at the coordinator."""
    norris = nist.BY_NAME["Norris"]
    toml = head() + decimals("y", 0, 1000, 1) + decimals("x", 0, 1000, 1)
    town = Town(tmp_path, toml + '[[models]]\nmodel = "ols"\nformula = "y ~ x"\n', parted(norris.columns))
    with town.serving() as url:
        told = [ended(*one) for one in [town.child(i, url) for i in range(3)]]
        again = CliRunner().invoke(main, [*map(str, town.join(0, url))])  # joined before: it is shown once more

    assert [code for code, _ in told] == [0, 0, 0], told
    for _, said in told:
        check_certified(said, norris)
        assert said["models"] == told[0][1]["models"]
    assert again.exit_code == 0 and "std err" in again.output and "-0.26232" in again.output
    result = town.result()
    assert result["models"] == told[0][1]["models"] and result["state"] == "done"
    assert result["models"][0]["result"]["how"]["rows"] == 36
    assert result["models"][0]["result"]["how"]["present"] == 3


def public_study(folder: Path, one: nist.ReferenceSet) -> Town:
    """A reference set between three parties: more sums than rows, which are public."""
    model = f'[[models]]\nmodel = "ols"\nformula = "{one.formula}"\n'
    toml = head(least_rows=1, ratio=1000) + nist.schema_of(one).to_toml() + model
    return Town(folder, toml, parted(one.columns))


@pytest.mark.parametrize("name", ["Pontius", "NoInt1", "NoInt2", "Filip"])
def test_certified_digits_over_the_network(name: str, tmp_path: Path) -> None:
    """Three processes and a coordinator; of NoInt2 each party has one row, of Filip a sum has some 700 bits."""
    told = public_study(tmp_path, nist.BY_NAME[name]).together("--rows-are-public")

    assert [code for code, _ in told] == [0, 0, 0], told
    for _, said in told:
        check_certified(said, nist.BY_NAME[name])


def test_longley_is_for_rows_that_are_public(tmp_path: Path) -> None:
    """More sums than rows: refused by every party that does not say itself that its rows are public."""
    town = public_study(tmp_path, nist.BY_NAME["Longley"])
    with town.serving() as url:
        look = CliRunner().invoke(main, ["party", "look", url, "--home", str(town.folder / "p0")]).output
        code, refused = command(*town.join(0, url, "--no-decline"))
    told = town.together("--rows-are-public")

    assert code == 2 and refused["error"]["type"] == "TooManySums" and "--rows-are-public" in json.dumps(refused)
    assert look.splitlines()[1].startswith("- WARNING: more sums than rows") and town.study.exact_sums > 36
    assert [code for code, _ in told] == [0, 0, 0], told
    for _, said in told:
        check_certified(said, nist.BY_NAME["Longley"])


def test_robust_errors_ask_a_second_time(tmp_path: Path) -> None:
    """HC1: two rounds, and what statsmodels says of the pooled rows. A query is answered before."""
    import statsmodels.api as sm

    tables = [patients(k) for k in range(3)]
    queries = '[[queries]]\nsums = ["age"]\n'
    toml = PATIENTS + queries + '[[models]]\nmodel = "ols"\nformula = "ill ~ age"\nerrors = "HC1"\n'
    town = Town(tmp_path, toml, tables)
    told = town.together()
    age = np.array([float(v) for table in tables for v in table["age"]])
    ill = np.array([v == "yes" for table in tables for v in table["ill"]], float)
    peer = sm.OLS(ill, sm.add_constant(age)).fit(cov_type="HC1")

    assert [code for code, _ in told] == [0, 0, 0], told
    found = coefficients(told[1][1])
    assert [v for v, _ in found.values()] == pytest.approx(list(peer.params), rel=1e-10)
    assert [v for _, v in found.values()] == pytest.approx(list(peer.bse), rel=1e-10)
    result = town.result()
    assert [one["round"] for one in result["results"]] == [1, 2, 3] and result["models"][0]["rounds"] == [2, 3]
    assert result["results"][0]["figures"][0]["said"] == str(int(age.sum()))


# -- several rounds ----------------------------------------------------------------------------------------------------

LOGIT = '[[models]]\nmodel = "logit"\nformula = "ill ~ age"\nrounds = 12\n'


def test_a_logit_takes_rounds_that_nobody_knew_before(tmp_path: Path) -> None:
    """The maximum of the pooled likelihood; the page and the commands show it."""
    import statsmodels.api as sm

    tables = [patients(k) for k in range(3)]
    town = Town(tmp_path, PATIENTS + LOGIT, tables)
    told = town.together()
    age = np.array([float(v) for table in tables for v in table["age"]])
    ill = np.array([v == "yes" for table in tables for v in table["ill"]], float)
    peer = sm.Logit(ill, sm.add_constant(age)).fit(disp=0, tol=1e-14)

    assert [code for code, _ in told] == [0, 0, 0], told
    found = coefficients(told[2][1])
    assert [v for v, _ in found.values()] == pytest.approx(list(peer.params), rel=1e-8)
    assert [v for _, v in found.values()] == pytest.approx(list(peer.bse), rel=1e-8)
    result = town.result()
    rounds = result["models"][0]["rounds"]
    assert 3 <= len(rounds) < 12 and len(result["results"]) == len(rounds)
    stores = [PartyHome(town.folder / f"p{i}").store for i in range(3)]
    assert [one.state for store in stores if (one := store.study(town.study.digest))] == ["done"] * 3
    text = CliRunner().invoke(main, ["study", "result", str(town.served.path), "--html", str(tmp_path / "r.html")])
    page = (tmp_path / "r.html").read_text("utf-8")
    assert text.exit_code == 0 and "Intercept" in text.output and "std err" in text.output
    assert page.count("Intercept") == 6  # three times in each language
    assert "It took" in page and "Il a fallu" in page and "<style>.murmure" not in page


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_party_that_is_killed_between_two_rounds(tmp_path: Path, when: str) -> None:
    """kill -9 once a round is over, or once the vector of the next has left: the same command goes on."""
    town = Town(tmp_path, PATIENTS + LOGIT, [patients(k) for k in range(3)])

    def dies() -> None:
        if when == "before":
            play = at_work.PartyRunner._round

            def round(runner: Any, turn: Any, done: Any) -> Any:
                if turn.round == 3:
                    os.kill(os.getpid(), signal.SIGKILL)
                return play(runner, turn, done)

            at_work.PartyRunner._round = round  # type: ignore[method-assign]
        else:
            send = at_work.RoundRunner._send

            def sends(one: Any) -> None:
                masked = one.number == 3 and any(kind == "masked" for kind, _ in one.unsent)
                send(one)
                if masked:
                    os.kill(os.getpid(), signal.SIGKILL)

            at_work.RoundRunner._send = sends  # type: ignore[method-assign]

    with town.serving() as url:
        others = [town.child(i, url) for i in (1, 2)]
        assert ended(*town.child(0, url, before=dies)) is None
        store = PartyHome(town.folder / "p0").store
        assert len(store.results(town.study.digest)) == 2
        (tmp_path / "kept.csv").write_text((tmp_path / "r0.csv").read_text())
        (tmp_path / "r0.csv").write_text("age,twice,ill\n" + "20,40,no\n" * 1300)
        changed = command(*town.join(0, url))
        (tmp_path / "r0.csv").write_text((tmp_path / "kept.csv").read_text())
        told = [ended(*town.child(0, url)), *(ended(*one) for one in others)]

    assert changed[0] == 2 and changed[1]["error"]["type"] == "OtherRows"
    assert [code for code, _ in told] == [0, 0, 0], told
    assert told[0][1]["models"] == told[1][1]["models"] == told[2][1]["models"]
    assert told[0][1]["models"][0]["error"] is None and town.state() == ("done", "")


def test_a_coordinator_that_is_killed_in_the_middle_of_a_model(tmp_path: Path) -> None:
    """From its log it finds the same question that the parties are about to answer."""
    town = Town(tmp_path, PATIENTS + LOGIT, [patients(k) for k in range(3)])

    def dies() -> None:
        append = CoordinatorStore.append

        def and_dies(store: Any, events: Any, standing: Any, result: Any = None) -> None:
            append(store, events, standing, result)
            if result is not None and result.round == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        CoordinatorStore.append = and_dies  # type: ignore[method-assign]

    pid, pipe = town.serve(before=dies)
    url = os.read(pipe, 100).decode()
    others = [town.child(i, url) for i in range(3)]
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    os.close(pipe)
    assert len(read_progress(town.served.log, town.study.digest)[1]) == 2
    pid, pipe = town.serve(int(url.rpartition(":")[2]))
    try:
        assert os.read(pipe, 100).decode() == url
        told = [ended(*one) for one in others]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(pipe)

    assert [code for code, _ in told] == [0, 0, 0], told
    assert told[0][1]["models"] == told[1][1]["models"] and told[0][1]["models"][0]["error"] is None
    assert len(told[0][1]["results"]) > 2


def test_a_party_whose_rows_fail_later_tells_the_others(tmp_path: Path) -> None:
    """What it cannot add up in a later round, it says no to: nobody waits, and the study ends for all."""
    from murmure.core.errors import OutsideDomain
    from murmure.parties.party.local_sums import AllLocalSums

    town = Town(tmp_path, PATIENTS + LOGIT, [patients(k) for k in range(3)])

    def fails() -> None:
        def later(own: Any, plan: Any) -> Any:
            raise OutsideDomain("row 7 is too far from the others.")

        AllLocalSums.for_later_round = later  # type: ignore[method-assign]

    began = time.monotonic()
    with town.serving() as url:
        processes = [town.child(0, url, before=fails), *(town.child(i, url) for i in (1, 2))]
        told = [ended(*one) for one in processes]

    assert time.monotonic() - began < 18, "nobody waited until the coordinator lost its patience"
    assert [code for code, _ in told] == [2, 2, 2]
    assert [said["error"]["type"] for _, said in told] == ["OutsideDomain", "StudyEnded", "StudyEnded"]
    assert town.state() == ("failed", "TooFewParties")
    assert len(town.result()["results"]) == 1 and town.result()["models"][0]["result"] is None


# -- fits that fail, and parties that take no part ---------------------------------------------------------------------


def test_a_collinear_design_ends_at_everybody_with_the_columns(tmp_path: Path) -> None:
    """A column and its double. The study is done, and says why there are no coefficients; the next model is asked."""
    models = (
        '[[models]]\nmodel = "ols"\nformula = "ill ~ age + twice"\n[[models]]\nmodel = "ols"\nformula = "ill ~ age"\n'
    )
    town = Town(tmp_path, PATIENTS + models, [patients(k) for k in range(3)])
    told = town.together()

    assert [code for code, _ in told] == [0, 0, 0], told
    for _, said in told:
        first, second = said["models"]
        assert first["error"]["type"] == "Collinear" and set(first["error"]["columns"]) == {"age", "twice"}
        assert first["result"] is None and second["error"] is None and second["result"] is not None
    assert town.state() == ("done", "")
    assert town.result()["models"] == told[0][1]["models"]
    shown = CliRunner().invoke(main, ["study", "result", str(town.served.path)]).output
    assert "No result (Collinear)" in shown and "'twice'" in shown


def test_separation_ends_at_everybody(tmp_path: Path) -> None:
    """Who is older than 50 is ill, and nobody else: no coefficient is finite, and the rounds stop."""
    tables = [patients(k) for k in range(3)]
    for table in tables:
        table["ill"] = ["yes" if int(age) > 50 else "no" for age in table["age"]]
    town = Town(tmp_path, PATIENTS + LOGIT, tables)
    told = town.together()

    assert [code for code, _ in told] == [0, 0, 0], told
    for _, said in told:
        (model,) = said["models"]
        assert model["error"]["type"] == "Separated" and "age" in model["error"]["columns"], model
    assert town.state() == ("done", "")


@pytest.mark.parametrize(
    ("rows", "error", "part"),
    [
        ("age,twice,ill\n" + "old,40,no\n" * 1300, "InvalidParameter", "age"),  # another type
        ("age,twice,ill\n" + "20,40,maybe\n" * 1300, "OutsideDomain", "ill"),  # another label
        ("age,twice\n" + "20,40\n" * 1300, "MissingColumn", "ill"),
        ("age,twice,ill\n", "EmptySource", ""),
        ("age,twice,ill\n" + "20,40,no\n" * 1299, "TooFewRows", "1299 rows"),
    ],
    ids=["type", "label", "column", "nobody", "few"],
)
def test_rows_that_do_not_fit_stop_at_their_holder(tmp_path: Path, rows: str, error: str, part: str) -> None:
    """It declines by itself, once; the others hear that they are too few, and nothing was summed."""
    town = Town(tmp_path, PATIENTS + LOGIT, [patients(k) for k in range(3)])
    (tmp_path / "r0.csv").write_text(rows)
    with town.serving() as url:
        silent = command(*town.join(0, url, "--no-decline"))
        sent = town.came()
        others = [town.child(i, url) for i in (1, 2)]
        while town.came() < 2:
            time.sleep(0.05)
        code, refused = command(*town.join(0, url))
        told = [ended(*one) for one in others]

    assert code == 2 and refused["error"]["type"] == error and part in refused["error"]["message"], refused
    assert silent == (code, refused) and sent == 0 and town.came() == 3
    assert [(one, said["error"]["type"]) for one, said in told] == [(2, "StudyEnded")] * 2
    assert all("TooFewParties" in said["error"]["message"] for _, said in told)
    assert town.state() == ("failed", "TooFewParties")


def test_the_others_go_on_without_a_party_that_has_no_rows(tmp_path: Path) -> None:
    """Four are asked and three are enough: the cohort of the first round is that of all rounds."""
    tables = [patients(k) for k in range(4)]
    town = Town(tmp_path, PATIENTS + LOGIT, tables)
    (tmp_path / "r3.csv").write_text("age,twice,ill\n")
    with town.serving() as url:
        code, refused = command(*town.join(3, url))
        told = [ended(*one) for one in [town.child(i, url) for i in range(3)]]

    assert code == 2 and refused["error"]["type"] == "EmptySource"
    assert [one for one, _ in told] == [0, 0, 0], told
    how = told[0][1]["models"][0]["result"]["how"]
    assert (how["parties"], how["present"], how["rows"]) == (4, 3, 3900)
    assert {tuple(one["cohort"]) for one in told[0][1]["results"]} == {("Hospital 0", "Hospital 1", "Hospital 2")}


def test_noise_in_shares(tmp_path: Path) -> None:
    """A regression whose sums are noisy: paid for once, by every party; a logit cannot have it."""
    toml = PATIENTS + '[[models]]\nmodel = "ols"\nformula = "ill ~ age"\n[noise]\nepsilon = 4.0\n'
    town = Town(tmp_path, toml, [patients(k) for k in range(3)])
    told = town.together()

    assert [code for code, _ in told] == [0, 0, 0], told
    assert told[0][1]["models"] == told[1][1]["models"] == told[2][1]["models"]
    (paid,) = PartyHome(town.folder / "p0").store.charges()
    assert 3.9 < paid.cost.epsilon <= 4.0 and town.study.exact_sums == 0
