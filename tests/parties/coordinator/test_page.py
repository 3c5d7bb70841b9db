"""The coordinator's page: for whoever has the token, in two languages, without script, and true to the study."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.parties import hands as hands_of

from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.domain import Integers
from murmure.parties.coordinator.page import (
    PARTY_STATES,
    REASONS,
    STAGES,
    STATES,
    live_page,
    page_file,
    result_document,
    study_document,
)
from murmure.parties.coordinator.progress import Departure, Ending, StudyProgress
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.coordinator.store import RoundResult
from murmure.parties.study.document import Study
from murmure.parties.study.round_figures import exact_text, figures_of
from murmure.plan.plan import Plan
from murmure.secure.sharing import PairwiseMasks
from murmure.show.document import Heading, Intervals
from murmure.show.language import Language, LanguageCode, preferred_language
from murmure.show.text import text as text_of
from murmure.statistics.mean import Mean

EVERYBODY = (0, 1, 2, 3, 4)


@pytest.fixture
def hands(tmp_path: Path) -> Any:
    return hands_of.Hands(tmp_path)


class Tags(HTMLParser):
    """Every tag that is opened is closed, in order."""

    EMPTY = ("meta", "br", "input", "rect", "line", "circle", "path")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def words_of(page: str) -> str:
    return re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.S))


def test_only_with_the_token(hands: Any) -> None:
    """Without it, or with a wrong one: 403 and not a word of the study. With it a cookie comes, which is enough."""
    token = hands.folder.token
    assert len(token) == 64
    with hands_of.serving(hands.folder) as (line, _):
        for path in ("/", "/status.json"):
            for query in ("", "?token=", f"?token={token[:-1]}", "?token=%ff%fe", f"?token={token}x"):
                status, body, _ = line.request("GET", path + query)
                assert status == 403 and b"Stay 2026" not in body and "Hôpital".encode() not in body
            assert line.request("GET", path, headers={"Cookie": "murmure_page=nonsense"})[0] == 403
        status, body, headers = line.request("GET", f"/?token={token}")
        assert status == 200 and b"Stay 2026" in body
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        status, body, _ = line.request("GET", "/", headers={"Cookie": cookie.split(";")[0]})
        assert status == 200 and b"Stay 2026" in body
        assert token.encode() not in body  # a page that is shown to others takes the key along to nobody


def test_nothing_from_outside_and_no_script(hands: Any) -> None:
    """The policy lets the one style sheet through by its hash, and nothing else; the page has nothing else."""
    with hands_of.serving(hands.folder) as (line, _):
        _, body, headers = line.request("GET", f"/?token={hands.folder.token}")
    page = body.decode()
    sheet = re.search(r"<style>(.*?)</style>", page, re.S)
    assert sheet is not None
    digest = base64.b64encode(hashlib.sha256(sheet[1].encode()).digest()).decode()
    policy = headers["content-security-policy"]

    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer"
    tags = Tags(page)
    assert not {"script", "link", "img", "iframe", "form", "object"} & {tag for tag, _ in tags.seen}
    assert not [
        attributes
        for _, attributes in tags.seen
        if any(k.startswith("on") or k in ("src", "style") for k in attributes)
    ]
    assert all(str(a.get("href", "?")).startswith("?") for tag, a in tags.seen if tag == "a")


def test_it_asks_again_while_the_study_runs(hands: Any) -> None:
    running, done = (
        StudyProgress(awaited=EVERYBODY),
        StudyProgress(stage="done", ended=Ending("", ""), cohort=EVERYBODY),
    )

    asks = '<meta http-equiv="refresh"'
    assert asks in live_page(StatusView(hands.study, running), "en", follow=True)
    assert asks not in live_page(StatusView(hands.study, done), "en", follow=True)
    still = live_page(StatusView(hands.study, running), "en")  # who reads slowly is not taken back to the start
    assert asks not in still and "follow=1" in still


@pytest.mark.parametrize(
    ("asked", "accepted", "language"),
    [
        (None, "", "en"),
        (None, "fr-FR,fr;q=0.9,en;q=0.8", "fr"),
        (None, "de,en;q=0.9,fr;q=0.8", "en"),
        (None, "de", "en"),
        ("fr", "en", "fr"),
        ("en", "fr", "en"),
        ("de", "fr", "fr"),
    ],
)
def test_the_language(asked: str | None, accepted: str, language: str) -> None:
    assert preferred_language(asked, accepted) == language


def test_the_language_over_http(hands: Any) -> None:
    place = f"/?token={hands.folder.token}"
    with hands_of.serving(hands.folder) as (line, _):
        french = line.request("GET", place, headers={"Accept-Language": "fr"})[1].decode()
        english = line.request("GET", f"{place}&lang=en", headers={"Accept-Language": "fr"})[1].decode()

    assert '<html lang="fr">' in french and "en attente des participants" in french
    assert '<html lang="en">' in english and "waiting for the parties" in english


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("state", ["gathering", "running", "done", "failed"])
def test_all_that_it_tells(hands: Any, language: LanguageCode, state: str) -> None:
    """Roster with fingerprints, progress, who left and when, what is asked, the result, and who learns what."""
    left = {3: Departure("declined", 1, "keys"), 4: Departure("vanished", 1, "vectors")}
    closed = ((1, "keys", 4, 5), (1, "shares", 4, 4))
    standing = {
        "gathering": StudyProgress(answered=(0, 1), awaited=(2, 4), departures={3: left[3]}),
        "running": StudyProgress(stage="reveal", answered=(0,), awaited=(1, 2), departures=left, closed=closed),
        "done": StudyProgress(
            stage="done", departures=left, closed=closed, cohort=(0, 1, 2), ended=Ending("", ""), results=1
        ),
        "failed": StudyProgress(
            stage="failed", departures=left, closed=closed, ended=Ending("TooFewParties", "2 of 5.")
        ),
    }[state]
    results = (RoundResult(1, (0, 1, 2), (30, 6000, -1234567, 12345678901234567890)),) if state == "done" else ()
    page = live_page(StatusView(hands.study, standing, results), language)
    Tags(page)
    text, other = words_of(page), Language("en" if language == "fr" else "fr").say
    say = Language(language).say
    french = language == "fr"

    assert say(STATES[state]) in text
    for card in hands.study.roster:
        assert card.fingerprint in text
    assert say(PARTY_STATES["declined"]) in text
    assert all(say(STAGES[stage]) in text for stage in STAGES)
    assert "age * stay" in text
    if state == "done":
        space = "\u202f" if french else ","
        assert space.join(["12", "345", "678", "901", "234", "567", "890"]) in text
        assert space.join(["\u22121", "234", "567"]) in text
        assert ("à l’étape 4" if french else "at step 4") in text
    if state == "failed":
        assert say(REASONS["TooFewParties"]) in text
    foreign = [other(name) for name in (*STATES.values(), *STAGES.values())]
    assert not [name for name in foreign if re.search(rf"\b{name}\b", text)], "the other language shows through"


def test_names_cannot_write_html(hands: Any) -> None:
    """A party that calls itself <script> is shown under that name."""
    evil = '<script>alert("x")</script>'
    roster = (hands.identities[0].card(evil), *hands.study.roster[1:])
    study = Study(evil, f"{evil} & co", hands.study.coordinator, roster, hands.study.plans)
    standing = StudyProgress(awaited=EVERYBODY, ended=Ending("TooFewParties", evil))
    for page in (live_page(StatusView(study, standing), "fr"), page_file(StatusView(study, standing))):
        assert "<script" not in page and "&lt;script&gt;" in page
        Tags(page)


def test_a_page_that_stands_alone(hands: Any) -> None:
    seen = StatusView(
        hands.study,
        StudyProgress(stage="done", ended=Ending("", ""), cohort=EVERYBODY, results=1),
        (RoundResult(1, EVERYBODY, (50, 1, 2, 3)),),
    )
    page = page_file(seen)
    Tags(page)

    assert "<h2>Results</h2>" in page and "<h2>Résultats</h2>" in page
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")


def test_a_page_of_ones_own(hands: Any) -> None:
    """What people say about their page stands above what the study is called; the policy of a file is in the file."""
    heading = Heading("How long do they stay?", "By ward", "The <b>office</b>", None)
    page = page_file(StatusView(hands.study, StudyProgress(awaited=EVERYBODY)), heading)
    Tags(page)

    assert "<h1>How long do they stay?</h1>" in page and "By ward" in page
    assert "The &lt;b&gt;office&lt;/b&gt;" in page and "<b>office" not in page
    assert "Content-Security-Policy" in page and " style=" not in page


def test_with_noise_it_says_so(hands: Any) -> None:
    """An interval beside every figure, epsilon, and what it takes for granted."""
    masks = PairwiseMasks(5, rows=10_000)
    plan = Plan(Mean(hands_of.SCHEMA["age"]), parties=masks, curator=DiscreteLaplace(epsilon=1.0))
    study = Study("Noisy", "To see.", hands.study.coordinator, hands.study.roster, (plan,))
    sums = (50, 10, 40_000)
    seen = StatusView(
        study,
        StudyProgress(stage="done", ended=Ending("", ""), cohort=EVERYBODY, results=1),
        (RoundResult(1, EVERYBODY, sums),),
    )
    page = words_of(live_page(seen, "en"))

    assert "noisy" in page and "epsilon = 1" in page and "95% interval" in page
    (drawn,) = study_document(seen).of(Intervals)
    assert drawn.rows[0].low < drawn.rows[0].estimate < drawn.rows[0].high
    assert "epsilon = 1" in text_of(result_document(seen)) and "epsilon = 1" in text_of(result_document(seen), "fr")
    figures = figures_of(plan, sums)
    assert not figures.exact and figures.rows[0].low is not None and figures.rows[0].high is not None


def test_a_sum_that_cannot_be_read_is_shown_as_it_is(hands: Any) -> None:
    """Parties that lie about their rows make a mean of nobody: no error of the page's."""
    plan = Plan(Mean(Integers(0, 120)), parties=PairwiseMasks(5, rows=10_000))
    figures = figures_of(plan, (0, 0, 0, 0))

    assert "nobody was added up" in figures.about and [row.said for row in figures.rows] == ["0"] * 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(7), "7"),
        (Fraction(-1, 4), "-0.25"),
        (Fraction(1, 3), "1/3"),
        (Fraction(10**30 + 1), "1" + "0" * 29 + "1"),
        (Fraction(12345, 1000), "12.345"),
        (Fraction(1, 10**12), "0.000000000001"),
    ],
)
def test_exact_figures_are_written_exactly(value: Fraction, text: str) -> None:
    assert exact_text(value) == text and Fraction(text) == value


def test_status_for_machines(hands: Any) -> None:
    """Sums as text, since most readers of JSON lose digits beyond 2**53."""
    seen = StatusView(
        hands.study,
        StudyProgress(stage="done", ended=Ending("", ""), cohort=EVERYBODY, results=1),
        (RoundResult(1, EVERYBODY, (50, 2**60 + 1, 2, 3)),),
    )
    held = json.loads(json.dumps(seen.to_dict()))

    assert held["results"][0]["sums"][1] == str(2**60 + 1)
    assert held["results"][0]["figures"][0]["said"] == str(2**60 + 1)
    assert held["state"] == "done" and [p["state"] for p in held["parties"]] == ["done"] * 5


def test_a_study_of_an_earlier_protocol_promises_less(tmp_path: Path) -> None:
    """It did not guard against a coordinator that shows different lists to different parties."""
    study = hands_of.Hands(tmp_path).study
    told = [
        " ".join(text_of(study_document(StatusView(study, StudyProgress(), (), earlier))).split())
        for earlier in (False, True)
    ]

    assert ["even if the coordinator shows different lists" in text for text in told] == [True, False]
    assert "if the coordinator showed every party the same lists" in told[1]
    assert all("This holds provided X25519" in text for text in told)
