"""Randomisers that crash, hang, print, change their type, repeat or remember: each is told, and the run goes on."""

from __future__ import annotations

import http.server
import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.attacks.audits.audit_result import AuditResult
from murmure.attacks.audits.features import ReportFeature
from murmure.attacks.audits.problems import KINDS
from murmure.attacks.audits.sources import Command
from murmure.core.errors import InvalidParameter, Phrase
from murmure.testing import assert_private


def _audit(randomiser: Any, epsilon: float = 1.2, **options: Any) -> AuditResult:
    options = {"samples": 2_000, "alpha": 1e-3, **options}
    return mu.audit(randomiser, epsilon, [(0, 1)], rng=mu.Random.seeded(7), **options)


class Coins:
    """Two fair coins: epsilon = ln 3. Call number `at` does something else."""

    def __init__(self, seed: int = 7) -> None:
        self.dice, self.calls = random.Random(seed), 0

    def __call__(self, value: int) -> Any:
        self.calls += 1
        return value if self.dice.random() < 0.5 else self.dice.randrange(2)


def _kinds(result: AuditResult) -> set[str]:
    return {problem.kind for problem in result.problems}


def test_a_crash_is_an_outcome_and_is_told_by_item() -> None:
    class Crashing(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            if self.calls % 500 == 0:
                raise ValueError("no luck")
            return report

    result = _audit(Crashing())
    assert result.verdict == "consistent" and result.partial
    assert [problem.item for problem in result.problems][:2] == [499, 999]
    assert "ValueError" in str(result) and "no luck" in str(result)


def test_crashes_that_depend_on_the_value_are_a_leak() -> None:
    coins = Coins()

    def report(value: int) -> Any:
        if value == 1 and coins.dice.random() < 0.2:
            raise KeyError(value)
        return coins(value)

    result = _audit(report)
    assert result.verdict == "violates" and result.partial
    assert any(word in str(result.event) for word in ("absent", "'1'", "no report", "length"))


def test_a_call_that_hangs_is_left_behind() -> None:
    stop = threading.Event()

    class Hanging(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            if self.calls == 700:
                stop.wait(30)
            return report

    began = time.monotonic()
    result = _audit(Hanging(), time_limit=0.3)
    stop.set()
    assert time.monotonic() - began < 20
    assert result.verdict == "consistent" and result.partial
    assert [problem.item for problem in result.problems if problem.kind == "timed out"] == [699]


def test_a_loop_that_never_ends_is_ended_and_what_came_before_is_kept() -> None:
    class Looping(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            while self.calls > 1_500:
                pass
            return report

    result = _audit(Looping(), time_limit=0.2, samples=4_000)
    assert result.partial and {"timed out", "stopped"} <= _kinds(result)
    assert result.verdict == "no statement" and not result.looks  # it ended before the first look was finished


def test_what_is_printed_is_kept_off_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    class Printing(Coins):
        def __call__(self, value: int) -> Any:
            print("the answer was", value)
            return super().__call__(value)

    result = _audit(Printing())
    assert result.verdict == "consistent" and _kinds(result) == {"printed"} and not result.partial
    assert capsys.readouterr().out == ""


def test_a_type_that_changes_half_way_gives_no_statement() -> None:
    class Changing(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            return report if self.calls < 1_500 else str(report)

    result = _audit(Changing())
    assert result.verdict == "no statement" and "type changed" in _kinds(result) and result.partial
    assert result.bound is None


def test_types_that_are_mixed_all_the_time_are_a_report_like_any_other() -> None:
    class Mixed(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            return report if self.dice.random() < 0.5 else None

    assert _audit(Mixed()).verdict == "consistent"


@pytest.mark.parametrize("report", [lambda value: value, lambda value: "no", lambda value: hash(str(value) + "seed")])
def test_a_deterministic_randomiser_gives_no_statement(report: Any) -> None:
    """It may remember its draw: then nothing follows from calling it again."""
    result = _audit(report)
    assert result.verdict == "no statement" and _kinds(result) == {"deterministic"} and result.bound is None


def test_reports_that_always_differ_are_told() -> None:
    """Without fresh state the audit cannot decide, but says what each case would mean; never with a number."""
    told = _audit(lambda value: value)
    assert "always differed" in str(told) and "epsilon is infinite" in str(told) and "--fresh" in str(told)
    same = _audit(lambda value: "no")
    assert "whatever they were about" in str(same) and "infinite" not in str(same)


@pytest.mark.parametrize("report", [lambda value: value, lambda value: "no" if value else "yes"])
def test_a_deterministic_randomiser_that_is_made_anew_is_a_violation(report: Any) -> None:
    result = mu.audit(lambda: report, 1.0, [(0, 1)], samples=1_000, fresh=True, rng=mu.Random.seeded(7))
    assert result.verdict == "violates" and result.bound is not None and result.bound > 1.0 and not result.problems
    assert "the randomiser is deterministic" in str(result)


def test_a_memoising_client_that_is_made_anew_is_no_violation() -> None:
    """Two coins (ln 3), remembered: constant over calls of one client, and sound."""
    dice = random.Random(5)

    def make() -> Any:
        kept: dict[int, int] = {}
        return lambda value: kept.setdefault(value, value if dice.random() < 0.75 else 1 - value)

    assert mu.audit(make(), 1.2, [(0, 1)], samples=2_000, rng=mu.Random.seeded(7)).verdict == "no statement"
    fresh = mu.audit(make, 1.2, [(0, 1)], samples=2_000, fresh=True, rng=mu.Random.seeded(7))
    assert fresh.verdict == "consistent"


def test_one_value_that_is_always_told_is_a_violation() -> None:
    coins = Coins()
    assert _audit(lambda value: 0 if value == 0 else coins(value), 1.2).verdict == "violates"


def test_the_same_seed_in_every_batch_gives_no_statement() -> None:
    def report(value: int, n: int) -> Any:
        rng = np.random.default_rng(0)
        return np.where(rng.random(n) < 0.5, value, rng.integers(0, 2, n))

    result = _audit(report, batched=True, samples=8_000)
    assert result.verdict == "no statement" and "repeats" in _kinds(result)


@pytest.mark.parametrize("cohorts", [4, 1 << 30])
def test_what_is_drawn_once_for_a_batch_gives_no_statement(cohorts: int) -> None:
    """A sound randomiser with a public cohort for each call: reports of one call are not independent."""
    for seed in range(5):
        rng = np.random.default_rng(seed)

        def report(value: int, n: int, rng: Any = rng) -> Any:
            kept = np.where(rng.random(n) < 0.7, value, 1 - value)
            return np.stack([np.full(n, rng.integers(cohorts)), kept], axis=1)

        result = _audit(report, 1.0, batched=True, samples=2_000)
        assert result.verdict == "no statement" and "depends" in _kinds(result)


def test_a_chance_that_is_drawn_once_for_a_batch_gives_no_statement() -> None:
    rng = np.random.default_rng(3)

    def report(value: int, n: int) -> Any:
        return np.where(rng.random(n) < rng.choice([0.3, 0.7]), value, 1 - value)

    result = _audit(report, batched=True, samples=8_000)
    assert result.verdict == "no statement" and "depends" in _kinds(result)


def test_independent_batches_are_left_alone() -> None:
    """Also with a rare value: batches without it are alike within, and all alike."""
    rng = np.random.default_rng(3)

    def report(value: int, n: int) -> Any:
        return np.stack([rng.random(n) < 0.001, np.where(rng.random(n) < 0.7, value, 1 - value)], axis=1)

    for samples in (300, 4_000, 40_000):
        result = _audit(report, batched=True, samples=samples)
        assert result.verdict in ("consistent", "no statement") and not result.problems, samples
    assert result.verdict == "consistent"


class Permanent:
    """A permanent answer (epsilon = 1) with fresh noise, as RAPPOR has it. It remembers."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.kept = dice, {}

    def __call__(self, value: int) -> int:
        if value not in self.kept:
            self.kept[value] = value if self.dice.random() < 0.731 else 1 - value
        return self.kept[value] if self.dice.random() < 0.95 else 1 - self.kept[value]


def test_a_randomiser_that_remembers_is_made_anew_for_each_call() -> None:
    """20 audits at alpha = 0.05: more than 6 alarms have probability 3e-4. Without fresh=True half of them are."""
    alarms = {True: 0, False: 0}
    for seed in range(20):
        dice = random.Random(seed)

        def make(dice: random.Random = dice) -> Permanent:
            return Permanent(dice)

        for fresh in (True, False):
            options: Any = {"samples": 1_000, "rng": mu.Random.seeded(seed), "fresh": fresh}
            result = mu.audit(make if fresh else make(), 1.0, [(0, 1)], **options)
            alarms[fresh] += result.verdict == "violates"
            assert fresh == ("made anew for each call" not in " ".join(map(str, result.notes)))
    assert alarms[True] <= 6 < alarms[False]


def test_a_command_is_started_for_each_report() -> None:
    counting = Command(["sh", "-c", "while read line; do i=$((i + 1)); echo $i; done"])
    result = mu.audit(counting, 1.0, [(0, 1)], samples=200, fresh=True, rng=mu.Random.seeded(7))
    assert result.row is not None and str(result.event) == "the whole report is '[1]'"  # each process counts to one
    assert result.row.hits.a == result.row.hits.m and result.row.hits.b == result.row.hits.n


class Envelope:
    def __init__(self, value: Any) -> None:
        self.value = value


DICE = random.Random(11)


def _fails(value: int) -> int:
    if DICE.random() < 0.5:
        raise ValueError("bad answer", value)
    return DICE.randrange(2)


@pytest.mark.parametrize(
    "report",
    [
        lambda value: [Envelope(value), DICE.randrange(4)],
        lambda value: "".join(DICE.choices("ab", k=100)) + str(value) + "z",
        lambda value: [*DICE.choices(range(9), k=600), value],
        _fails,
        lambda value: 1.0 if DICE.random() < 0.5 else (-0.0 if value else 0.0),
        lambda value: 1.0 if DICE.random() < 0.5 else float(np.uint64(0x7FF8000000000000 + value).view(np.float64)),
        lambda value: {str(DICE.random()): value},
    ],
    ids=["object", "late in a text", "late in a list", "error text", "signed zero", "NaN payload", "random key"],
)
def test_a_complete_leak_is_found_wherever_it_is(report: Any) -> None:
    assert _audit(report).verdict == "violates"


@pytest.mark.parametrize(
    "report, kind",
    [
        (lambda value: [lambda: value, DICE.randrange(4)], "opaque"),
        (lambda value: [DICE.randrange(2), *[0] * 5_000, DICE.random(), value], "not looked at"),
    ],
)
def test_what_cannot_be_looked_at_gives_no_statement(report: Any, kind: str) -> None:
    result = _audit(report, samples=300, alpha=0.05)
    assert result.verdict == "no statement" and kind in _kinds(result)


def test_a_run_that_was_ended_by_silence_gives_no_statement() -> None:
    stop = threading.Event()

    class Silent(Coins):
        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            if self.calls > 3_000:
                stop.wait(30)
            return report

    result = _audit(Silent(), time_limit=0.1)
    stop.set()
    assert result.verdict == "no statement" and result.looks and {"timed out", "stopped"} <= _kinds(result)


def test_reports_that_follow_one_another_give_no_statement() -> None:
    class Sticky(Coins):
        last: Any = {}

        def __call__(self, value: int) -> Any:
            report = super().__call__(value)
            if self.dice.random() < 0.8:
                report = self.last.get(value, report)
            self.last[value] = report
            return report

    result = _audit(Sticky())
    assert result.verdict == "no statement" and "depends" in _kinds(result)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"epsilon": -1}, "epsilon must be"),
        ({"epsilon": float("nan")}, "epsilon must be"),
        ({"epsilon": None}, "needs the epsilon"),
        ({"pairs": None}, "needs pairs"),
        ({"pairs": []}, "list of pairs"),
        ({"pairs": [(1, 1)]}, "two different values"),
        ({"pairs": [(1, 2, 3)]}, "list of pairs"),
        ({"pairs": ["no", "yes"]}, "list of pairs"),
        ({"samples": 0}, "samples must be"),
        ({"alpha": 0}, "alpha must be"),
        ({"delta": 1.5}, "delta must be"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"randomiser": 5}, "audit takes a function"),
        ({"batched": True}, "gave 3 reports"),
        ({"batched": True, "fresh": True}, "makes a randomiser for each report"),
        ({"randomiser": "http://127.0.0.1:9/", "fresh": True}, "takes a function that returns"),
    ],
)
def test_what_cannot_be_audited_is_refused(options: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {
        "randomiser": lambda value, n=0: [1, 2, 3],
        "epsilon": 1.0,
        "pairs": [(0, 1)],
        "samples": 1000,
        **options,
    }
    with pytest.raises(InvalidParameter, match=told):
        mu.audit(given.pop("randomiser"), given.pop("epsilon"), given.pop("pairs"), **given)


# -- a command and a URL, for real

PROGRAM = """
import json, random, sys
dice = random.Random({seed})
for i, line in enumerate(sys.stdin):
    value = json.loads(line)
    {extra}
    print(json.dumps(value if dice.random() < {truth} else dice.randrange(2)))
"""


def _program(truth: float = 0.5, extra: str = "", seed: str = "") -> Command:
    return Command([sys.executable, "-c", PROGRAM.format(truth=truth, extra=extra, seed=seed)])


def test_a_command_that_reads_and_writes_lines() -> None:
    assert _audit(_program()).verdict == "consistent"
    leaking = _audit(list(_program(0.9).words))
    assert leaking.verdict == "violates" and leaking.exit_status == 1


def test_the_end_of_a_line_is_sent_too() -> None:
    line = "sys.stdout.write(dice.choice('01') + ('\\r\\n' if value else '\\n')); continue"
    assert _audit(_program(extra=line)).verdict == "violates"


def test_a_command_with_a_fixed_seed_gives_no_statement() -> None:
    result = _audit(_program(seed="5"))
    assert result.verdict == "no statement" and "repeats" in _kinds(result)


def test_a_command_that_dies_or_hangs() -> None:
    dying = _audit(_program(extra="if i == 300: sys.exit('out of coins')"), samples=400)
    assert dying.partial and "crashed" in _kinds(dying) and "out of coins" in str(dying)
    hanging = _audit(_program(extra="import time; time.sleep(60 if i == 3 else 0)"), samples=200, time_limit=0.2)
    assert hanging.partial and "timed out" in _kinds(hanging) and hanging.verdict == "no statement"


def test_a_command_that_cannot_be_run_or_counts_wrongly() -> None:
    with pytest.raises(InvalidParameter, match="cannot start"):
        _audit(["no-such-program-anywhere"])
    with pytest.raises(InvalidParameter, match="which report is about which value"):
        _audit(_program(extra="print('starting')"))
    with pytest.raises(InvalidParameter, match="list of words"):
        Command("node randomiser.js")  # type: ignore[arg-type]


class _Collector(http.server.BaseHTTPRequestHandler):
    dice = random.Random(3)
    truth = 0.5

    def do_POST(self) -> None:
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["value"]
        if self.path == "/broken":
            self.send_error(500)
            return
        if self.path in ("/status", "/error", "/header"):
            body = self.dice.choice([b"0", b"1"])
            failed = self.path == "/error" and body == b"0"
            body = b"bad answer %d" % value if failed else body
            self.send_response(400 if failed else 200 + value * (self.path == "/status"))
            if self.path == "/header":
                self.send_header("X-Answer", str(value))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        report = value if self.dice.random() < (0.95 if self.path == "/leak" else 0.5) else self.dice.randrange(2)
        body = json.dumps({"report": report}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_url(address: str) -> None:
    assert _audit(f"{address}/report", samples=300).verdict == "consistent"
    assert _audit(f"{address}/leak", samples=400).verdict == "violates"
    broken = _audit(f"{address}/broken", samples=200)
    assert broken.verdict == "no statement" and broken.partial and "status 500" in str(broken)


@pytest.mark.parametrize("path", ["status", "error", "header"])
def test_status_headers_and_error_bodies_are_sent_too(address: str, path: str) -> None:
    assert _audit(f"{address}/{path}", samples=400).verdict == "violates"


def test_a_url_where_nobody_listens(address: str) -> None:
    nobody = _audit("http://127.0.0.1:9/report", samples=200, time_limit=1.0)
    assert nobody.verdict == "no statement" and nobody.partial and not nobody.looks


# -- pytest


def test_assert_private() -> None:
    pairs = [(0, 1)]
    options: Any = {"samples": 2_000, "rng": mu.Random.seeded(7)}
    assert assert_private(Coins(), 1.2, pairs, **options).verdict == "consistent"
    with pytest.raises(AssertionError, match="violates"):
        assert_private(Coins(), 0.3, pairs, **options)
    with pytest.raises(AssertionError, match="no statement"):
        assert_private(lambda value: value, 1.0, pairs, **options)
    assert assert_private(lambda value: value, 1.0, pairs, allow_no_statement=True, **options).bound is None


# -- no report at all


def test_a_command_that_fails_at_once_says_why() -> None:
    result = mu.audit(Command(["sh", "-c", "echo broken >&2; exit 3"]), 1.0, [(0, 1)], samples=400)
    (reason,) = result.reasons
    assert result.verdict == "no statement" and _kinds(result) == {"crashed", "stopped"}
    assert "No report came" in str(reason) and "status 3: 'broken'" in str(reason)


def test_a_function_that_always_raises_says_why() -> None:
    def raising(value: int) -> int:
        raise ValueError("broken")

    result = _audit(raising)
    assert result.verdict == "no statement" and _kinds(result) == {"crashed"}
    assert "No report came" in str(result.reasons[0]) and "ValueError: 'broken'" in str(result.reasons[0])


def test_a_refused_address_says_why() -> None:
    result = mu.audit("http://127.0.0.1:9/", 1.0, [(0, 1)], samples=400, time_limit=2.0)
    assert result.verdict == "no statement" and "the connection was refused" in str(result.reasons[0])


def test_what_went_wrong_is_phrases() -> None:
    """Kinds and reasons are phrases: only the keys of JSON are English in every language."""
    refused = mu.audit("http://127.0.0.1:9/", 1.0, [(0, 1)], samples=400, time_limit=2.0)
    phrases = [problem.text for problem in refused.problems]
    assert all(isinstance(text, Phrase) for text in phrases)
    assert all(isinstance(text.fields.get("why", text), Phrase) for text in phrases if isinstance(text, Phrase))
    assert all(isinstance(text.fields.get("kind", text), Phrase) for text in phrases if isinstance(text, Phrase))
    assert {problem.kind for problem in refused.problems} <= set(KINDS)


# -- events in the words of people


@pytest.mark.parametrize(
    ("make", "event"),
    [
        (lambda yes: "yes" if yes else "nos", "the report is 'yes'"),
        (lambda yes: b"yes" if yes else b"yet", "byte 3 of the report is 's'"),
        (lambda yes: bytes([1, 200]) if yes else bytes([1, 7]), "byte 2 of the report is 0xc8"),
        (lambda yes: [4, 9] if yes else [4, 5], "element 1 of the report is 9"),
        (lambda yes: [5, 4] if yes else [4, 5], "element 0 of the report is 5"),
    ],
)
def test_events_of_texts_and_bytes(make: Any, event: str) -> None:
    dice = random.Random(3)
    result = _audit(lambda value: make(value == (dice.random() < 0.95)))
    assert result.verdict == "violates" and result.row is not None
    assert event in [str(row.event) for row in result.looks[-1].rows]


def test_sentences_for_order() -> None:
    first_two, ordered = ReportFeature("first two"), ReportFeature("sorted")
    assert str(first_two.holds(np.int8(-1))) == "the first element is below the second"
    assert str(ordered.holds(np.int8(0))) == "the elements are not in order"
    assert ReportFeature("sum").holds(np.int64(3)) is None


def test_a_part_of_one_element_is_called_by_its_name() -> None:
    part = ReportFeature("value", ("part", "smoker", 0), alone=True)
    assert str(part.words()) == "smoker"
    assert str(ReportFeature("value", ("part", "kids", 1)).words()) == "element 1 of kids"
