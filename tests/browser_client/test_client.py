"""The client for browsers equals Python, word for word: in node, and inside Chromium under a strict policy."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests import node
from tests.pages import chromium
from tests.pages.browser import Browser
from tests.vectors.make_browser import (
    FILE,
    browser_text,
    code_of,
    merged,
    person_of,
    replay_coins,
    replayed,
    shift_mutants,
    written_vectors,
)

import murmure as mu
from murmure import catalogue
from murmure.core.domain import domain_from_dict
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.core.schema import Schema
from murmure.plan.browser_client import client_digest, client_folder, client_modules, module_digests
from murmure.plan.public_coins import check_coins, coin_words, coins_from_hex
from murmure.plan.sent_reports import answer

HERE = Path(__file__).parent
PLANS = FILE.with_name("plans.json")
POLICY = "default-src 'none'; script-src 'self'"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules and what runs the vectors, where a package.json calls them modules."""
    folder = tmp_path_factory.mktemp("client")
    for path in [*client_folder().glob("*.js"), *HERE.glob("*.js"), *HERE.glob("*.mjs")]:
        shutil.copy(path, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def run_node(client: Path, *arguments: str, **files: Path) -> str:
    paths = {"CLIENT": client, "VECTORS": FILE, "PLANS": PLANS, "LAWS": FILE.with_name("laws.json")} | files
    env = {name: str(path) for name, path in paths.items()}
    done = subprocess.run([node.find_or_skip(), *arguments], env=env, capture_output=True, encoding="utf-8", cwd=client)
    return done.stdout + done.stderr


def run_tests(client: Path, vectors: Path = FILE) -> str:
    return run_node(client, "--test", "--test-reporter=tap", str(client / "client.test.mjs"), VECTORS=vectors)


def test_every_example_has_its_vectors() -> None:
    """After a new example: `python -m tests.vectors.make_browser`, which changes no vector that is there."""
    written = written_vectors()

    assert FILE.read_text(encoding="utf-8") == browser_text(merged(written))
    assert FILE.stat().st_size < 1_500_000


@pytest.mark.parametrize("vector", written_vectors()["plans"], ids=lambda vector: vector["name"])
def test_the_vectors_are_what_python_draws(vector: dict[str, Any]) -> None:
    """Also those of examples that are gone: their plans are still answered."""
    assert replayed(vector) == [case["report"] for case in vector["cases"]]


@pytest.mark.parametrize("vector", written_vectors()["coins"], ids=lambda vector: vector["name"])
def test_coins_that_were_given_out_are_those_of_python(vector: dict[str, Any]) -> None:
    plan = mu.Plan.from_json(vector["text"])
    assert plan.coins == "collector" and plan.digest == vector["digest"]
    for case in vector["cases"]:
        number, words = case.get("number", 0), coins_from_hex(case["coins"])

        assert replay_coins(plan, case) == (case["words"], case["report"])
        assert coin_words(plan, iter([*words, 0]), number) == words
        check_coins(plan, words, case["report"], number)
    number = vector["cases"][0].get("number", 0)
    for bad in vector["bad"]:
        with pytest.raises(InvalidParameter, match="coins"):
            answer(plan, bad["answers"], coins=bad["coins"], number=number)
    assert vector["others"]
    for other in vector["others"]:
        with pytest.raises(InvalidParameter, match="public coins say"):
            check_coins(plan, coins_from_hex(other["coins"]), other["report"], other.get("number", 0))


@pytest.mark.parametrize("vector", written_vectors()["domains"], ids=lambda vector: vector["domain"]["type"])
def test_the_codes_are_those_of_python(vector: dict[str, Any]) -> None:
    domain = domain_from_dict(vector["domain"])

    assert [code_of(domain, answer) for answer in vector["answers"]] == vector["codes"]


def test_the_client_equals_python(client: Path) -> None:
    told = run_tests(client)
    vectors = json.loads(FILE.read_text(encoding="utf-8"))

    assert re.findall(r"^not ok .*|^ +error: .*", told, re.M) == []
    assert len(re.findall(r"^ok ", told, re.M)) > sum(map(len, vectors.values()))


def test_a_changed_vector_is_found(client: Path, tmp_path: Path) -> None:
    """Each vector with its last expectation changed fails, and nothing else does."""
    vectors = json.loads(FILE.read_text(encoding="utf-8"))
    for plan in vectors["plans"]:
        plan["cases"][-1]["report"] = "another"
    for domain in vectors["domains"]:
        domain["codes"][-1] = -1
    for bad in vectors["bad"]:
        bad["code"] = "another"
    for over_time in vectors["memoised"]:
        over_time["reports"][-1]["report"] = "another"
    for coined in vectors["coins"]:
        coined["cases"][-1]["report"] = "another"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(vectors), encoding="utf-8")

    told = run_tests(client, changed)

    assert len(re.findall(r"^not ok", told, re.M)) == sum(map(len, vectors.values()))


def integers_without_effect() -> set[tuple[str, tuple[str, ...], int]]:
    """Integers of shifted tables whose last unit vanishes in the flooring: moved, they give the same weights."""
    out = set()
    for vector in written_vectors()["plans"]:
        name, channel = vector["name"], person_of(vector["text"]).channel
        for i, part in enumerate(getattr(channel, "parts", [channel])):
            if "g" in getattr(part, "rule", {}):
                path = ("parts", str(i)) if hasattr(channel, "parts") else ()
                for numbers, place, by, weights in shift_mutants(part):
                    if (weights == part.weights).all():
                        out.add((name, (*path, numbers, str(place)), by))
    return out


def test_an_integer_moved_by_one_is_noticed(client: Path) -> None:
    """Every integer of every law, one up and one down: the plan is refused, or a vector fails. Those that change no law
    are named by Python, and no others go unnoticed."""
    told = json.loads(run_node(client, str(client / "mutants.mjs")))
    missed = {(name, tuple(path), by) for name, path, by in told["missed"]}

    assert missed == integers_without_effect()
    assert told["tried"] > 1500


def known_names(client: Path) -> Any:
    code = "import(process.env.CLIENT + '/mechanisms.js').then(known => console.log(JSON.stringify(known)))"
    return json.loads(run_node(client, "-e", code))


def test_every_mechanism_has_browser_code(client: Path) -> None:
    """A mechanism of the catalogue that the client does not know, or one of its laws, fails here: add it to
    clients/js/mechanisms.js and, if its law is new, a module for it."""
    known = known_names(client)

    assert known["MECHANISMS"].keys() == catalogue.MECHANISMS.keys()
    assert known["RECORDS"].keys() == catalogue.RECORDS.keys()
    for name, laws in {**known["MECHANISMS"], **known["RECORDS"]}.items():
        module = importlib.import_module({**catalogue.MECHANISMS, **catalogue.RECORDS}[name])
        drawn = {e.channel.integers()["law"] for e in module.EXAMPLES if type(e).__name__ == name}
        assert drawn == set(laws), name


def test_every_statistic_that_takes_reports_is_known(client: Path) -> None:
    taken = set()
    for module in catalogue.QUESTIONS.values():
        for statistic in importlib.import_module(module).EXAMPLES:
            mechanism = mu.SPL if isinstance(statistic.domain, Schema) else mu.GRR
            try:
                mu.Plan(statistic, person=mechanism(statistic.domain, 8.0))
            except MurmureError:
                continue
            taken.add(type(statistic).__name__)

    assert taken == set(known_names(client)["STATISTICS"])


def test_the_odds_that_a_page_shows_are_those_of_the_certificate(client: Path) -> None:
    """Read off the integers in the browser, and by `certify` here: the same for every example, and never less."""
    odds = json.loads(run_node(client, str(client / "odds.mjs")))
    for vector in written_vectors()["plans"]:
        name, epsilon = vector["name"], mu.certify(person_of(vector["text"])).epsilon

        assert math.exp(epsilon) * (1 - 1e-12) <= odds[name] <= math.exp(epsilon) * (1 + 1e-9), name


def test_a_law_that_was_changed_shows_in_the_odds(client: Path, tmp_path: Path) -> None:
    """A plan that states epsilon = 1 and tells the truth nearly always."""
    domain = mu.Categories(4)
    text = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0)).to_json()
    changed = json.loads(text)
    changed["person"]["law"]["outside"] = "1000"
    vectors = tmp_path / "changed.json"
    plans = [{"name": "as it was", "text": text}, {"name": "changed", "text": json.dumps(changed)}]
    vectors.write_text(json.dumps({"plans": plans}))

    odds = json.loads(run_node(client, str(client / "odds.mjs"), VECTORS=vectors))

    assert odds["as it was"] == pytest.approx(math.e) and odds["changed"] > 1e16


def test_every_vector_of_a_mechanism_is_there() -> None:
    vectors = [one["name"] for one in json.loads(FILE.read_text(encoding="utf-8"))["plans"]]

    assert {name.split()[0] for name in vectors} == catalogue.MECHANISMS.keys() | catalogue.RECORDS.keys()


def test_a_report_of_a_thousand_values_takes_less_than_five_milliseconds(client: Path, tmp_path: Path) -> None:
    """The best of a hundred, since other tests run beside this one."""
    domain = mu.Categories(1000)
    mechanisms = [m(domain, 1.0) for m in (mu.GRR, mu.SUE, mu.OUE, mu.BLH, mu.OLH, mu.SubsetSelection)]
    mechanisms += [mu.HadamardResponse(domain, 1.0), mu.RAPPOR(domain, 4.0, 1.0)]
    texts = {type(m).__name__: mu.Plan(mu.Histogram(domain), person=m).to_json() for m in mechanisms}
    numbers = mu.Integers(0, 999)
    for m in (mu.Duchi, mu.Piecewise, mu.Hybrid):
        texts[m.__name__] = mu.Plan(mu.Mean(numbers), person=m(numbers, 1.0)).to_json()
    plans = tmp_path / "plans.json"
    plans.write_text(json.dumps(texts))

    told = json.loads(run_node(client, str(client / "speed.mjs"), PLANS=plans))

    assert {name: times for name, times in told.items() if times["best"] >= 5} == {}
    assert told.keys() == texts.keys()


# -- what the modules are ----------------------------------------------------------------------------------------------


def bare_code(text: str) -> str:
    """Without comments and texts."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', "", text, flags=re.S)


def test_the_modules_import_only_one_another() -> None:
    for name, text in client_modules().items():
        targets = re.findall(r'(?:from|import) ?\(?"([^"]*)"', text.decode())

        assert all(target.removeprefix("./") in client_modules() for target in targets), name
        assert all(target.startswith("./") for target in targets), name


BANNED = re.compile(
    r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon|localStorage|sessionStorage|indexedDB|cookie|console|document"
    r"|window|navigator|postMessage|eval|Function|setTimeout)\b|\bMath\.(random|exp|expm1|pow|log\w*)\b"
)


@pytest.mark.parametrize("name", sorted(client_modules()))
def test_a_module_sends_stores_and_logs_nothing(name: str) -> None:
    """Nor does it compute an exponential, or take chance from anywhere but the operating system."""
    assert BANNED.findall(bare_code(client_modules()[name].decode())) == []


def test_the_check_of_modules_finds_what_it_looks_for() -> None:
    code = bare_code('fetch("/x"); // document\nconst a = Math.exp(1); /* eval */ log(windows)')

    assert [found.group() for found in BANNED.finditer(code)] == ["fetch", "Math.exp"]


def test_refusals_are_those_of_the_catalogue_of_messages() -> None:
    """Each code has a sentence with exactly the fields that are given, and each sentence is used."""
    texts = "\n".join(text.decode() for text in client_modules().values())
    listed = set(re.findall(r'^  "([a-z-]+)": \[', client_modules()["refusal.js"].decode(), re.M))

    assert set(re.findall(r'new Refusal\(\s*"([a-z-]+)"', texts)) == listed


def test_the_published_digests_are_current() -> None:
    """After a change: `script/client-digests > clients/js/DIGESTS.txt`."""
    root = Path(__file__).resolve().parents[2]
    printed = subprocess.run(
        [root / "script" / "client-digests"], capture_output=True, encoding="utf-8", check=True, cwd=root
    ).stdout

    assert (client_folder() / "DIGESTS.txt").read_text(encoding="utf-8") == printed
    assert all(digest in printed and integrity in printed for _, digest, integrity in module_digests())
    assert client_digest() in printed


PAGES = (client_folder() / "README.md", client_folder().parents[1] / "docs" / "how-to-randomise-in-a-browser.md")
AROUND = """
const text = {text}, location = {{ hash: "#{digest}" }}, fetch = async () => ({{ text: async () => text }});
{code}
console.log(JSON.stringify(report));
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, client: Path) -> None:
    """Every block of JavaScript, with a plan that the page would have loaded."""
    domain = mu.Categories(["no", "yes"])
    plan = mu.Plan(mu.Histogram(domain), person=mu.Warner(domain, epsilon=1.0))
    blocks = re.findall(r"^```js\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for code in blocks:
        module = client / "page_block.mjs"
        module.write_text(
            AROUND.format(text=json.dumps(plan.to_json()), digest=plan.digest, code=code), encoding="utf-8"
        )

        report = json.loads(run_node(client, str(module)))

        assert report["plan"] == plan.digest and report["report"] in (0, 1)


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(client: Path) -> Iterator[str]:
    """A page of one module script, served with the policy that a collector serves."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            module = client / name
            page = '<!doctype html><html lang="en"><title>client</title><script type="module" src="page.js"></script>'
            script = 'import * as murmure from "./murmure.js";\nwindow.murmure = murmure;\n'
            bodies = {"": page, "page.js": script}
            found = name in bodies or (re.fullmatch(r"\w+\.js", name) and module.exists())
            body = bodies.get(name, "") if name in bodies else module.read_text(encoding="utf-8") if found else ""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/javascript" if name.endswith(".js") else "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser(chromium.find_or_skip())
    yield browser
    browser.close()


RUN = """async vectors => {
    const {checkAll} = await import(new URL("runner.js", document.baseURI));
    return checkAll(vectors);
}"""
REPORT = """async text => {
    const {Plan} = await import(new URL("murmure.js", document.baseURI));
    const plan = new Plan(text), times = [];
    for (let i = 0; i < 40; i++) {
        const start = performance.now();
        plan.report(i);
        times.push(performance.now() - start);
    }
    return {
        best: Math.min(...times),
        report: plan.report(999),
        stored: localStorage.length + sessionStorage.length + document.cookie.length,
        asked: performance.getEntriesByType("resource").map(entry => entry.name),
    };
}"""


def test_the_vectors_hold_inside_chromium_under_the_policy(browser: Browser, site: str) -> None:
    page = browser.open(site)

    assert page.evaluate(RUN, json.loads(FILE.read_text(encoding="utf-8"))) == []
    assert page.complaints() == []


def test_a_fresh_report_of_chromium_is_one_that_python_reads(browser: Browser, site: str) -> None:
    """Quickly, and nothing is stored or asked for but the modules."""
    from murmure.plan.sent_reports import received

    domain = mu.Categories(1000)
    for mechanism in (mu.GRR, mu.OUE, mu.SubsetSelection, mu.OLH, mu.HadamardResponse):
        plan = mu.Plan(mu.Histogram(domain), person=mechanism(domain, 1.0))
        page = browser.open(site)

        told = page.evaluate(REPORT, plan.to_json())

        assert told["best"] < 5 and told["stored"] == 0
        assert all(re.fullmatch(rf"{re.escape(site)}\w+\.js", address) for address in told["asked"])
        assert plan.tally(received(plan, [told["report"]])).n == 1
        assert page.complaints() == []


FORM = """async ({json, type, entered}) => {
    const {readDomain} = await import(new URL("domains.js", document.baseURI));
    const input = document.createElement("input");
    input.type = type;
    if (type === "number") input.value = entered; else input.valueAsNumber = entered;
    const domain = readDomain(json, "visit"), tried = value => {
        try { return domain.encode(value); } catch (refusal) { return refusal.code; }
    };
    return {held: input.type, text: input.value, code: tried(input.value), date: tried(new Date(0))};
}"""
LEAP_DAY = 19_782  # 29 February 2024, counted from 1970
FORMS = (  # months are entered as their number from January 1970, all others in milliseconds
    ("date", mu.Dates("2024-01-01", "2024-12-31"), LEAP_DAY * 86_400_000, "2024-02-29"),
    ("datetime-local", mu.Dates("2024-01-01", "2024-12-31"), LEAP_DAY * 86_400_000 + 86_340_000, "2024-02-29T23:59"),
    ("week", mu.Dates("2020-W50", "2021-W10", unit="week"), 18_624 * 86_400_000, "2020-W53"),
    ("month", mu.Dates("2023-12", "2024-12", unit="month"), 649, "2024-02"),
    ("number", mu.Dates("2020", "2030", unit="year"), "2024", "2024"),
)


@pytest.mark.parametrize(("kind", "domain", "entered", "text"), FORMS, ids=[form[0] for form in FORMS])
def test_the_text_of_a_form_is_the_date_that_python_reads(
    browser: Browser, site: str, kind: str, domain: mu.Dates, entered: Any, text: str
) -> None:
    """What Chromium's own inputs hold; a Date of JavaScript is refused, since its day depends on a time zone."""
    told = browser.open(site).evaluate(FORM, {"json": domain.to_dict(), "type": kind, "entered": entered})

    assert told == {"held": kind, "text": text, "code": int(domain.encode([text])[0]), "date": "outside"}


if __name__ == "__main__":
    os.execvp("pytest", ["pytest", "-q", __file__])
