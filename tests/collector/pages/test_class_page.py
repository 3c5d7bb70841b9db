"""The projector's page in Chromium, over a real service: it fits, it follows the room, and it survives bad moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httptools")
pytest.importorskip("msgspec")
pytest.importorskip("argon2")
pytest.importorskip("segno")

from tests.collector.documents import CHEATED, HOURS, OFTEN, document, opened, sent_report
from tests.collector.http.services import Service
from tests.collector.service.rooms import record_of, room_of
from tests.pages.browser import OpenPage
from tests.pages.conftest import browser, open_page  # noqa: F401
from tests.pages.inspection import Inspection

from murmure.collector.http.server import ServeSettings, serving
from murmure.collector.http.survey_session import survey_session
from murmure.collector.pages.class_page import class_page
from murmure.collector.service.collector import Collector
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.surveys import SurveyRecord
from murmure.lectures.demo.crowd import Crowd, live_document

Open = Callable[..., OpenPage]
PROJECTORS = ((1024, 768), (1280, 800), (1920, 1080))
LONG = {
    "name": "long",
    "kind": "choice",
    "text": {"en": "What do you think of the proposal that the school should begin an hour later in winter?"},
    "options": [f"A rather long answer, number {i}" for i in range(12)],
}
KINDS: dict[str, tuple[dict[str, Any], Any]] = {
    "yes-no": (document(CHEATED, epsilon=math.log(3)), "yes"),
    "scale": (document(OFTEN), "once"),
    "twelve answers": (document(LONG), "A rather long answer, number 3"),
    "number": (document(HOURS), 12),
    "several": (document(CHEATED, OFTEN, HOURS, epsilon=2.0), {"cheated": "no", "often": "often", "hours": 3}),
    "fakes": (document(CHEATED, OFTEN, mechanism="rsfd-grr"), {"cheated": "no", "often": "often"}),
    "waves": (document(CHEATED, waves=3, epsilon_total=2.0), "yes"),
}
LINK = "http://192.0.2.7:8480/s/abcdefghijkm#p=0123456789abcdef"
SOONER = (
    "(wait => { window.setTimeout = (work, ms) => wait(work, ms / 20) })(setTimeout)"  # and each wait after this one
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Links are those of a network, so that pages show a code; the tests themselves come by this machine's address."""
    settings = ServeSettings(public_url=LINK.partition("/s/")[0])
    with Collector(tmp_path_factory.mktemp("surveys")) as collector, serving(collector, settings) as urls:
        yield Service(collector, f"http://127.0.0.1:{urls.port}")


class ClassRoom:
    """One survey of the service, and the projector that shows it."""

    def __init__(self, served: Service, survey: dict[str, Any]) -> None:
        self.served, self.record = served, opened(served.collector, {**survey, "people": 30})

    def send(self, answer: Any, count: int = 1) -> None:
        visitor = self.served.visitor()
        for _ in range(count):
            report = sent_report(self.served.collector, self.record, answer)
            assert visitor.ask("POST", f"/api/surveys/{self.record.id}/reports", report).status == 201
        self.served.collector.intake.flush()

    def address(self, lang: str = "en") -> str:
        """Signs in and shows the page."""
        ticket = self.served.collector.analysts.ticket(self.record.owner)
        return f"{self.served.address}/sign-in/{ticket}?next=/surveys/{self.record.id}/class?lang={lang}"


def do(shown: OpenPage, work: Callable[[Any], Any]) -> Any:
    return shown.do(work)


def wait(shown: OpenPage, selector: str, state: str = "visible") -> None:
    do(shown, lambda page: page.wait_for_selector(selector, state=state, timeout=20_000))


def wait_for_count(shown: OpenPage, count: int) -> None:
    wait(shown, f".count b:text-is('{count}')")


def unchanged(shown: OpenPage) -> None:
    """It has asked, and heard that nothing is new."""
    do(shown, lambda page: page.wait_for_event("response", lambda answer: answer.status == 304, timeout=20_000))


def spare(shown: OpenPage, width: int, height: int) -> tuple[int, int]:
    """By how much the page is larger than the window, to the side and down."""
    do(shown, lambda page: page.set_viewport_size({"width": width, "height": height}))
    sizes = shown.evaluate(
        "(s => [s.scrollWidth - innerWidth, s.scrollHeight - innerHeight])(document.scrollingElement)"
    )
    return sizes[0], sizes[1]


# -- it fits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_projector_shows_the_estimate_without_scrolling(kind: str, served: Service, open_page: Open) -> None:  # noqa: F811
    """25 answers to every kind of question, on three projectors; a telephone scrolls down, and never to the side."""
    survey, answer = KINDS[kind]
    room = ClassRoom(served, survey)
    room.send(answer, 25)
    shown = open_page(room.address())

    assert "25" in shown.text() and "of 30 have answered" in shown.text()
    shown.evaluate(
        "document.querySelectorAll('.bar-name span').forEach(e => e.textContent = '0% to 100%')"
    )  # the widest
    assert {size: spare(shown, *size) for size in PROJECTORS} == dict.fromkeys(PROJECTORS, (0, 0))
    assert spare(shown, 390, 844)[0] <= 0
    do(shown, lambda page: page.click("#attack"))
    wait(shown, ".attack")
    assert all(spare(shown, *size)[0] <= 0 for size in (*PROJECTORS, (390, 844)))
    assert shown.complaints() == []


@pytest.mark.parametrize("answers", [0, 1, 2])
def test_a_room_that_has_just_begun(answers: int, served: Service, open_page: Open) -> None:  # noqa: F811
    """Nobody, one or two: words for each, an honest interval of everything, and an attack without a fault."""
    room = ClassRoom(served, KINDS["yes-no"][0])
    room.send("yes", answers)
    shown = open_page(room.address())

    text = shown.text()
    assert f"of 30 {'has' if answers == 1 else 'have'} answered" in text
    assert ("between 0% and 100%" in text) == (answers > 0)
    do(shown, lambda page: page.click("#attack"))
    if answers:
        wait(shown, ".attack")
        assert f"If {answers} of you" in shown.text()
    assert "nan" not in shown.text().lower() and shown.complaints() == []


@pytest.mark.parametrize("view", ["estimate", "attack"])
def test_it_is_accessible_in_both_themes(view: str, served: Service, open_page: Open) -> None:  # noqa: F811
    """axe, contrast, overflow, console, on desktop and telephone."""
    room = ClassRoom(served, KINDS["yes-no"][0])
    room.send("yes", 25)
    shown, inspection = open_page(room.address()), Inspection(f"class {view}")
    if view == "attack":
        do(shown, lambda page: page.click("#attack"))
        wait(shown, ".attack")
    do(shown, lambda page: page.click("#pause"))  # axe keeps the page busy for longer than a connection may be silent
    inspection.look(shown, "en")
    inspection.verdict()


# -- it follows the room -----------------------------------------------------------------------------------------------


def test_reports_move_it_and_nothing_flickers_while_there_are_none(served: Service, open_page: Open) -> None:  # noqa: F811
    """A part that has not changed is not exchanged; one that has is, without a reload, and the focus stays."""
    room = ClassRoom(served, KINDS["yes-no"][0])
    room.send("yes", 3)
    shown = open_page(room.address())
    shown.evaluate(SOONER)
    unchanged(shown)  # the first answer is always new
    shown.evaluate("window.marked = document.querySelector('#live > *'); document.querySelector('#attack').focus()")
    unchanged(shown)
    unchanged(shown)
    assert shown.evaluate("window.marked.isConnected")
    room.send("yes", 4)
    wait_for_count(shown, 7)
    assert shown.evaluate("document.activeElement.id") == "attack"
    assert not shown.evaluate("window.marked.isConnected")


def test_the_keyboard_attacks_and_comes_back(served: Service, open_page: Open) -> None:  # noqa: F811
    """Tab reaches the button, Enter presses it; its name says what it does next."""
    room = ClassRoom(served, KINDS["yes-no"][0])
    room.send("yes", 5)
    shown = open_page(room.address())
    for _ in range(12):
        do(shown, lambda page: page.keyboard.press("Tab"))
        if shown.evaluate("document.activeElement.id") == "attack":
            break
    for name, selector in (("Back to the estimate", ".attack"), ("Now attack", ".estimate")):
        do(shown, lambda page: page.keyboard.press("Enter"))
        wait(shown, selector)
        assert shown.evaluate("document.activeElement.textContent") == name


def test_a_lost_connection_is_said_and_the_count_stays(served: Service, open_page: Open) -> None:  # noqa: F811
    """And when it is back, the sentence goes and the figures go on."""
    room = ClassRoom(served, KINDS["yes-no"][0])
    room.send("yes", 3)
    shown = open_page(room.address())
    shown.evaluate(SOONER)
    do(shown, lambda page: page.route("**/class/live*", lambda route: route.abort()))
    wait(shown, "#lost")
    assert "No connection" in shown.text() and shown.evaluate("document.querySelector('.count b').textContent") == "3"
    do(shown, lambda page: page.unroute("**/class/live*"))
    room.send("yes", 1)
    wait_for_count(shown, 4)
    assert not shown.evaluate("document.querySelector('#lost').checkVisibility()")


# -- how to answer -----------------------------------------------------------------------------------------------------


def page_of(survey: dict[str, Any], link: str = LINK, **changes: Any) -> str:
    record = record_of(survey)
    record = SurveyRecord(**{**{name: getattr(record, name) for name in record.__dataclass_fields__}, **changes})
    return class_page("en", record, SurveyResults(record, record.plan, 1, None), link, "csrf")


def test_telephones_get_a_code_and_this_machine_a_button() -> None:
    """A code of 127.0.0.1 would lead every telephone to itself."""
    survey = KINDS["yes-no"][0]
    network, here = page_of(survey), page_of(survey, LINK.replace("192.0.2.7", "127.0.0.1"))

    assert 'class="qr"' in network and "192.0.2.7:8480/s/abcdefghijkm</a>" in network
    assert 'class="qr"' not in here and "Only this machine" in here and "Answer in a new tab" in here


def test_a_survey_that_takes_no_answers_says_why() -> None:
    """No code that leads nowhere."""
    pages = {
        "This survey is a draft": page_of(KINDS["yes-no"][0], state="draft"),
        "This survey is closed": page_of(KINDS["yes-no"][0], state="closed"),
        "This survey has one-time links": page_of(document(CHEATED, link="invitations")),
    }

    assert all(sentence in page and 'class="qr"' not in page for sentence, page in pages.items())


def test_more_answers_than_expected_are_not_out_of_anything(tmp_path: Path) -> None:
    survey = {**KINDS["yes-no"][0], "people": 2}
    results = room_of(survey, ["yes"] * 3).results
    page = class_page("en", results.record, results, LINK, "csrf")

    assert ">3</b> have answered" in page


def test_a_person_answers_beside_the_demos_crowd_and_the_estimate_moves(tmp_path: Path, open_page: Open) -> None:  # noqa: F811
    """What `murmure demo` is for: the projector's page, a new tab, one randomised answer, and one more on the page."""
    with survey_session(tmp_path, live_document(10, 1.0), ServeSettings()) as session:
        crowd = Crowd(session.link, 10, 0.0, lambda: False)
        crowd.start()
        shown = open_page(session.projector())
        wait_for_count(shown, 10)
        assert "10 simulated people" in shown.text()
        do(shown, answer_in_a_new_tab)
        wait_for_count(shown, 11)
        assert crowd.sent == 10 and session.answers == 11 and shown.complaints() == []


def answer_in_a_new_tab(page: Any) -> None:
    with page.context.expect_page() as opening:
        page.click(".join .button")
    tab = opening.value
    tab.wait_for_selector("html[data-ready]", state="attached")
    tab.locator("#q1 input").nth(1).check()
    for button, then in (("#randomise", "#send"), ("#send", "#receipt")):
        tab.click(button)
        tab.wait_for_selector(then, state="visible")
    tab.close()
