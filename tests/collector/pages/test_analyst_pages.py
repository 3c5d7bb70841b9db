"""The analysts' pages in Chromium: sound in every state, size, colour and language, whatever people have written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.collector.http.services import Service, service
from tests.collector.pages.analyst_surveys import EVIL, honest_reports, survey_of
from tests.pages.browser import OpenPage
from tests.pages.conftest import browser, open_page  # noqa: F401
from tests.pages.inspection import Inspection

from murmure.collector.pages.analyst_words import ADMINISTRATION, ADVICE, BUILDER, LIVE, REQUESTS
from murmure.collector.pages.shell import POLICY
from murmure.collector.pages.static_files import static_files
from murmure.collector.service.forgeries import survey_forgeries
from murmure.collector.service.surveys import SurveyRecord

Open = Callable[..., OpenPage]


class Office:
    """A collector with one analyst, and the surveys that tests look at."""

    def __init__(self, served: Service) -> None:
        self.served, self.address = served, served.address
        self.cookie = served.analyst("marie").cookies["murmure_session"]
        (self.analyst,) = served.collector.analysts.list()
        self._surveys: dict[tuple[Any, ...], SurveyRecord] = {}

    def survey(self, name: str, n: int = 0, state: Any = "open", wave: int = 1) -> SurveyRecord:
        key = (name, n, state, wave)
        if key not in self._surveys:
            self._surveys[key] = survey_of(self.served.collector, self.analyst.number, *key)
        return self._surveys[key]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with service(tmp_path_factory.mktemp("collector")) as served:
        yield Office(served)


@pytest.fixture
def visit(office: Office, browser: Any, open_page: Open) -> Callable[..., OpenPage]:  # noqa: F811
    """A page of the office, signed in; `wait` says when its scripts have run."""

    def start(path: str, signed_in: bool = True, lang: str = "en", **how: Any) -> OpenPage:
        browser.leave()
        if signed_in:
            cookie = {"name": "murmure_session", "value": office.cookie, "url": office.address}
            browser.do(lambda: browser._tab.context.add_cookies([cookie]))
        opened = open_page(f"{office.address}{path}{'&' if '?' in path else '?'}lang={lang}", **how)
        if "/new" in path or path.endswith("/edit"):
            opened.do(lambda page: page.wait_for_selector("#advice-how:not([hidden])", timeout=8000))
        return opened

    return start


Start = Callable[..., OpenPage]
# the path of a page, by its name
PAGES: dict[str, Callable[[Office], str]] = {
    "list": lambda office: "/",
    "builder": lambda office: f"/surveys/{office.survey('several', state='draft').id}/edit",
    "survey, one report": lambda office: f"/surveys/{office.survey('yesno', 1).id}",
    "survey, invitations": lambda office: f"/surveys/{office.survey('invited', 3).id}",
    "survey, waves": lambda office: f"/surveys/{office.survey('waves', 25, wave=2).id}",
    "survey, published": lambda office: f"/surveys/{office.survey('several', 60, 'published').id}",
    "public results": lambda office: f"/s/{office.survey('several', 60, 'published').id}/results",
    "nothing here": lambda office: "/s/aaaaaaaaaaaa",
}
WITHOUT_ACCOUNT = {"sign in": "/", "set-up link, used": "/first?setup=abc"}
# more of the same pages, with contents that are hard to lay out
FULL_PAGES: dict[str, Callable[[Office], str]] = {
    "builder, new": lambda office: "/surveys/new",
    "builder, long": lambda office: f"/surveys/{office.survey('long', state='draft').id}/edit",
    "survey, nobody yet": lambda office: f"/surveys/{office.survey('yesno').id}",
    "survey, long": lambda office: f"/surveys/{office.survey('long', 25).id}",
    "survey, a thousand answers": lambda office: f"/surveys/{office.survey('towns', 40, 'closed').id}",
    "survey, fifty questions": lambda office: f"/surveys/{office.survey('many', 20, 'closed').id}",
}


def prepare(office: Office) -> None:
    """What the list shows."""
    for name, n, state in (("yesno", 1, "open"), ("long", 25, "open"), ("several", 60, "published")):
        office.survey(name, n, state)
    office.survey("several", state="draft")


@pytest.mark.parametrize("name", [*PAGES, *WITHOUT_ACCOUNT])
def test_a_page_is_sound(name: str, office: Office, visit: Start) -> None:
    """Desktop and telephone, light and dark, both languages: no error, nothing serious from axe, no sideways scroll."""
    prepare(office)
    path = PAGES[name](office) if name in PAGES else WITHOUT_ACCOUNT[name]
    inspection = Inspection(f"collector {name}")
    for lang in ("en", "fr"):
        opened = visit(path, name in PAGES, lang)
        opened.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        inspection.look(opened, lang)
    refused = {"nothing here": "404", "set-up link, used": "403"}.get(name)
    if refused is not None:  # its status is the point of it
        inspection.faults = [fault for fault in inspection.faults if refused not in fault]

    inspection.verdict()


@pytest.mark.parametrize("name", FULL_PAGES)
def test_a_full_page_fits_a_telephone(name: str, office: Office, visit: Start) -> None:
    opened = visit(FULL_PAGES[name](office), size="telephone")
    opened.save_picture(f"collector {name} telephone")

    assert opened.overflow() == 0
    assert opened.complaints() == [] and opened.repeated_ids() == []


@pytest.mark.parametrize("kind", ["survey", "edit", "public", "list"])
def test_texts_of_an_analyst_are_never_code(kind: str, office: Office, visit: Start) -> None:
    """Titles, questions, options and their values, under the policy and by every script of the pages."""
    state = {"edit": "draft", "public": "published"}.get(kind, "open")
    record = office.survey("evil", 0 if kind == "edit" else 10, state)
    paths = {"survey": f"/surveys/{record.id}", "edit": f"/surveys/{record.id}/edit", "list": "/"}
    opened = visit(paths.get(kind, f"/s/{record.id}/results"))
    if kind == "edit":
        opened.do(lambda page: page.click("#open"))
        opened.do(lambda page: page.wait_for_selector("#ask-open[open]"))
    else:
        assert EVIL in opened.text()

    assert opened.evaluate("document.title") != "taken"
    assert opened.evaluate("document.querySelectorAll('img').length") == 0
    assert opened.complaints() == []


def test_every_page_has_the_strict_policy(office: Office) -> None:
    analyst = office.served.analyst()
    for path in [make(office) for make in PAGES.values()]:
        policy = analyst.ask("GET", path).headers["content-security-policy"]

        assert policy == POLICY
        assert "unsafe" not in policy and "script-src 'self';" in policy


def test_the_printed_report_has_the_results_and_no_controls(office: Office, visit: Start) -> None:
    opened = visit(f"/surveys/{office.survey('several', 60, 'published').id}")
    opened.do(lambda page: page.emulate_media(media="print"))
    shown = opened.text()
    opened.do(lambda page: page.emulate_media(media="screen"))

    for wanted in ("A question one does not like to answer", "What the crowd says", "What is guaranteed", "± "):
        assert wanted in shown
    for unwanted in ("Print", "Sign out", "Run the tests", "Exports", "Français"):
        assert unwanted not in shown


def test_the_interval_pictures_have_their_scale_above_them(office: Office, visit: Start) -> None:
    """A rule of the collector's own style once turned the labels of the axis and sent them over the facts above."""
    opened = visit(f"/surveys/{office.survey('yesno', 1).id}")
    places = """() => [...document.querySelectorAll("svg text.tick")].map(tick => {
        const [text, picture] = [tick.getBoundingClientRect(), tick.closest("svg").getBoundingClientRect()];
        return Math.abs(text.top + text.height / 2 - picture.top - picture.height / 2);
    })"""
    distances = opened.evaluate(places)

    assert len(distances) >= 3 and max(distances) < 8


def test_tables_of_results_need_no_scrolling_on_a_desktop(office: Office, visit: Start) -> None:
    opened = visit(f"/surveys/{office.survey('several', 60, 'published').id}")
    cut = "() => [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).length"

    assert opened.evaluate(cut) == 0


def test_forged_reports_raise_an_alarm_on_the_page(office: Office, visit: Start) -> None:
    """Two hundred times the same report: no law sends it so often. The test is named, and says what it saw."""
    record = office.survey("scale", 5)
    reception, done = office.served.collector.reception(record.id), threading.Event()
    forged = [reception.arrival(f"{place:032x}", 0) for place in range(200)]
    office.served.collector.store(reception, forged, lambda _: done.set())
    assert done.wait(20)
    office.served.collector.intake.flush()
    opened = visit(f"/surveys/{record.id}")
    opened.do(lambda page: page.click("#test"))
    opened.do(lambda page: page.wait_for_selector("#tested .pill.alarm", timeout=15_000))
    told = opened.do(lambda page: page.inner_text("#tested"))
    check = survey_forgeries(office.served.collector, record)

    assert check.noticed and str(check.sentence()) in told
    words = check.in_words(str)["words"]
    assert len(words) == len(check.tests)
    for test in words:
        assert test["test"] in told and test["saw"] in told
    assert opened.serious() == [] and opened.complaints() == []


def test_every_sentence_for_scripts_is_used() -> None:
    """By its key, or by a template of keys: `margin.${unit}`."""
    scripts = "".join(file.content.decode() for path, file in static_files().items() if path.endswith(".js"))
    keys = [key for group in (REQUESTS, LIVE, ADMINISTRATION, BUILDER, ADVICE) for key in group]
    units = ("points", "percent", "value")  # what an advice says of itself
    unused = [
        key
        for key in keys
        if f'"{key}"' not in scripts and f"`{key.rpartition('.')[0]}.${{" not in scripts and key not in units
    ]

    assert unused == []


@pytest.mark.parametrize("allowed", [True, False])
def test_the_link_is_copied_or_selected(allowed: bool, office: Office, visit: Start) -> None:
    """Without TLS a browser has no clipboard for pages: then the link is selected, and the page says so."""
    opened = visit(f"/surveys/{office.survey('yesno').id}")
    if not allowed:
        opened.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    opened.do(lambda page: page.click("#copy-link"))
    opened.do(lambda page: page.wait_for_selector("#copied:not(:empty)"))
    told, link = opened.do(lambda page: (page.inner_text("#copied"), page.get_attribute("#copy-link", "data-link")))

    assert (told == "Copied") == allowed
    if not allowed:
        assert opened.evaluate("getSelection().toString()") == link
    assert opened.complaints() == []


def test_figures_stop_while_they_are_paused(office: Office, visit: Start) -> None:
    """For people who read with a screen reader or look at one figure: nothing moves until they say so."""
    record = survey_of(office.served.collector, office.analyst.number, "yesno", 3)
    opened = visit(f"/surveys/{record.id}")
    opened.do(lambda page: page.wait_for_event("response", lambda answer: answer.status == 304, timeout=15_000))
    opened.do(lambda page: page.click("#pause"))
    honest_reports(office.served.collector, record, ["yes"], 4, seed=2)
    opened.do(lambda page: page.wait_for_timeout(2500))  # longer than between two questions

    assert opened.do(lambda page: page.inner_text("#pulse")) == "Paused"
    assert opened.do(lambda page: page.get_attribute("#pause", "aria-pressed")) == "true"
    assert opened.do(lambda page: page.get_attribute("[data-answers]", "data-answers")) == "3"
    opened.do(lambda page: page.click("#pause"))
    opened.do(lambda page: page.wait_for_selector('[data-answers="7"]'))
    assert opened.complaints() == []  # an answer "not modified" whose body nobody reads would count as a failed request
