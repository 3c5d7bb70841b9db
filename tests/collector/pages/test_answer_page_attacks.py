"""What goes wrong around the answering page: other tabs, other people, proxies, full storage, servers that lie.

There is one draw, the page knows when a report has arrived, and nothing of the answer stays behind.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.collector.pages.small_collector import DOCUMENTS, SmallCollector, refusal, survey_id
from tests.collector.pages.visits import LIES, NO_STORAGE, RECORD_WORDS, TOKEN, Start, Visit

LOGIN = "<!doctype html><title>Wireless network</title><p>Please accept our terms."
KEEP = "([place, record]) => localStorage.setItem(place, record)"
PLACE = "murmure:report:yesno0000000:1"


# -- only the collector acknowledges or refuses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        (200, {}, LOGIN),
        (403, {}, LOGIN),
        (200, {}, {"ok": True}),
        (200, {}, {"accepted": True}),
        (302, {"Location": "/s/yesno0000000"}, ""),
        (307, {"Location": "/api/surveys/choice000000/reports"}, ""),
    ],
)
def test_an_answer_of_somebody_else_is_no_answer(visit: Start, collector: SmallCollector, fault: Any) -> None:
    """The gate of a wireless network, a proxy, a redirect: the report is still kept, and sent again."""
    collector.faults.append(fault)
    one = visit("yesno")
    one.choose(1)
    one.randomise()
    one.click("#send")
    one.wait(".delivery.retry, .delivery.busy")
    assert one.text("#delivery").startswith("Not sent yet:")
    assert not one.visible("#delete")
    one.wait("#receipt", "visible")

    assert len(collector.bodies) == 2 and len(set(collector.bodies)) == 1


def test_a_clock_that_is_set_back_does_not_delay_a_report(visit: Start, collector: SmallCollector) -> None:
    collector.faults.append((503, {}, refusal("busy", 503)))
    one = visit("yesno")
    one.choose(1)
    one.randomise()
    one.click("#send")
    one.wait(".delivery.busy")
    one.opened.evaluate("() => { const now = Date.now; Date.now = () => now.call(Date) - 3600 * 1000 }")

    one.wait("#receipt", "visible")


def test_a_device_that_is_wrongly_said_to_be_offline_sends_when_asked(visit: Start, collector: SmallCollector) -> None:
    one = visit("yesno")
    one.opened.evaluate("Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false })")
    one.choose(1)
    one.randomise()
    one.send()

    assert len(collector.bodies) == 1


def test_coins_that_cannot_be_had_are_told_in_words(visit: Start, collector: SmallCollector) -> None:
    collector.faults.append((200, {}, LOGIN))
    one = visit("olh")
    one.choose(1)
    one.click("#randomise")
    one.wait("#problem", "visible")

    assert one.text("#problem").startswith("The collector could not be reached for the public coin.")


# -- one draw ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record", [{"plan": "p", "report": 0, "received": "now"}, {"refused": {"code": "not-open", "reason": "closed"}}]
)
def test_a_page_that_missed_what_another_tab_did_draws_nothing(
    visit: Start, collector: SmallCollector, record: dict[str, Any]
) -> None:
    """It lay in the history while the other tab drew and sent, or deleted what was refused."""
    one = visit("yesno")
    one.opened.evaluate(RECORD_WORDS, None)
    one.choose(1)
    one.opened.evaluate(
        "([place, record]) => localStorage.setItem(place, record)", [PLACE, json.dumps({"open": record})]
    )
    one.click("#randomise")
    one.wait("html[data-ready]")
    one.wait("#receipt" if "received" in record else "#problem", "visible")

    assert not one.visible("#answering")
    assert json.loads(one.opened.evaluate("place => localStorage[place]", PLACE)) == {"open": record}


def test_two_tabs_that_send_the_same_report_both_show_its_receipt(visit: Start, collector: SmallCollector) -> None:
    """The acknowledgement of the second comes when the first has settled the record, and no event has told of it."""
    collector.faults += [(503, {"Retry-After": "1"}, refusal("busy", 503))] * 2
    one = visit("yesno")
    one.choose(1)
    one.randomise()
    body = one.body()

    def send_elsewhere(page: Any) -> None:
        with page.expect_popup() as popup:
            page.evaluate("() => { window.open('about:blank') }")
        other = popup.value
        try:
            other.add_init_script("addEventListener('storage', event => event.stopImmediatePropagation())")
            other.goto(page.url)
            for tab in (page, other):
                tab.wait_for_selector("#review", state="visible")
                tab.click("#send")
            for tab in (page, other):
                tab.wait_for_selector("#receipt", state="visible", timeout=8000)
                assert json.loads(tab.locator("#receipt-text").text_content())["report"] == body["report"]
        finally:
            other.close()

    one.do(send_elsewhere)
    assert len(collector.bodies) == 4 and len(set(collector.bodies)) == 1


def test_a_report_that_another_tab_replaced_is_not_sent(visit: Start, collector: SmallCollector) -> None:
    """Two tabs drew at the same moment: the one that is kept is the one that is sent."""
    one = visit("yesno")
    one.choose(1)
    one.randomise()
    first = one.body()
    other = {**first, "token": TOKEN, "report": 1 - first["report"]}
    record = {"open": {"token": TOKEN, "body": json.dumps(other), "asked": False}}
    one.opened.evaluate(KEEP, [PLACE, json.dumps(record)])
    one.click("#send")
    one.do(lambda page: page.wait_for_function("token => document.body.textContent.includes(token)", arg=TOKEN))
    one.send()

    assert [json.loads(body) for body in collector.bodies] == [other]


FILL = """() => {
    let size = 1 << 22;
    for (let i = 0; size; i++) try { localStorage.setItem(`fill${i}`, "x".repeat(size)) } catch { size >>= 1 }
}"""


def test_a_report_is_found_again_in_a_storage_that_is_full(visit: Start, collector: SmallCollector) -> None:
    one = visit("yesno")
    one.choose(1)
    one.randomise()
    body = one.body()
    one.opened.evaluate(FILL)
    one.reload()

    assert one.visible("#review") and one.body() == body
    assert one.visible("#unkept")


def test_a_page_that_can_keep_nothing_does_not_say_that_it_does(visit: Start, collector: SmallCollector) -> None:
    one = visit("yesno")
    one.do(lambda page: page.add_init_script(NO_STORAGE))
    one.go(collector.link("yesno").replace("?", "?nostorage&"))
    one.choose(1)
    one.randomise()

    assert one.text("#delivery") == "Kept on this page only, not sent yet."
    assert not one.visible("#kept-once") and one.visible("#unkept")
    one.send()
    assert not one.visible("#unkept")


# -- nothing of the answer stays --------------------------------------------------------------------------------------

WHOLE_PAGE = """() => [
    document.documentElement.outerHTML, document.title, location.href, JSON.stringify(history.state), window.name,
    ...[...document.querySelectorAll("input, select")].map(field => field.checked || field.value),
].join()"""


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid", "mixedall"])
def test_a_number_is_nowhere_once_its_report_is_received(visit: Start, name: str) -> None:
    """Not even in the picture, which showed it while it was typed. The coin falls so that the report is far from it."""
    one = visit(name)
    one.opened.evaluate(RECORD_WORDS, LIES)
    field = "#q3 input" if name == "mixedall" else "#q1 input"
    if name == "mixedall":
        one.choose(1, 1)
    one.do(lambda page: page.fill(field, "7.3"))
    if name == "duchi":
        assert "7.3\u00a0hours" in one.text("#picture")
    one.randomise()
    assert "7.3\u00a0hours" in one.text("#answered")
    one.send()
    page = str(one.opened.evaluate(WHOLE_PAGE))

    assert "7.3" not in page.replace("</h", "")


def test_a_page_that_is_left_forgets_the_answer(visit: Start) -> None:
    """A page may come back from the browser's history: with the report, and without the answer."""
    one = visit("choice")
    one.choose(0)
    one.randomise()
    assert one.text("#answered") == "On foot"
    one.opened.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")

    assert one.text("#answered") == "This page no longer knows. It knows only the report."
    assert one.text("#luck") == ""


def test_fields_are_empty_when_a_page_comes_back(visit: Start) -> None:
    one = visit("towns")
    one.do(lambda page: page.select_option("#q1 select", "3"))
    one.click("text=Français")
    one.do(lambda page: page.wait_for_url("**lang=fr**"))
    one.wait("html[data-ready]")
    one.do(lambda page: page.go_back())
    one.wait("html[data-ready]")

    assert one.do(lambda page: page.locator("#q1 select").input_value()) == ""


# -- links ------------------------------------------------------------------------------------------------------------


def test_the_skip_link_leaves_the_promise_and_the_answers_alone(visit: Start, collector: SmallCollector) -> None:
    """It names a place on the page, which is no other link: the address still says which plan was promised."""
    one = visit("choice")
    one.choose(2)
    address = one.do(lambda page: page.url)
    one.opened.evaluate("document.querySelector('.skip').click()")
    one.do(lambda page: page.wait_for_function("address => location.href === address", arg=address))

    assert one.do(lambda page: page.locator("#q1 input").nth(2).is_checked())
    assert one.opened.evaluate("document.activeElement.id") == "main"
    collector.plan_text[survey_id("choice")] = collector.surveys[survey_id("oue")].plan.to_json()
    one.reload()
    assert "your link names a different plan" in one.text("#problem")


def test_a_link_that_names_no_plan_is_said_to(visit: Start, collector: SmallCollector) -> None:
    one = visit("yesno")
    shown = "!document.getElementById('unpinned').hidden"
    assert not one.opened.evaluate(shown)
    one.go(collector.link("yesno").partition("#")[0])

    assert one.opened.evaluate(shown)


def test_the_next_person_does_not_learn_the_answer_of_the_one_before(visit: Start, collector: SmallCollector) -> None:
    """Two personal links of a survey in waves, on one device: each has its key, and nobody is asked about the other."""
    one = visit("invitedwaves", token=TOKEN)
    one.choose(1)
    one.randomise()
    one.send()
    collector.waves[survey_id("invitedwaves")] = 2
    one.go(collector.link("invitedwaves", token=TOKEN[::-1]))
    one.choose(2)
    one.randomise()
    memos = one.opened.evaluate(
        "Object.entries(localStorage).filter(([key]) => key.includes('memo')).map(([, text]) => text)"
    )

    assert not one.visible("#problem")
    assert sorted(json.loads(memo)["seen"] for memo in memos) == [[1], [2]]
    assert len({json.loads(memo)["key"] for memo in memos}) == 2


def test_two_links_to_one_survey_add_up(visit: Start, collector: SmallCollector) -> None:
    one = visit("invited", token=TOKEN)
    one.choose(1)
    one.randomise()
    one.send()
    one.go(collector.link("invited", token=TOKEN[::-1]))
    assert "the factor is at most 7.39" in one.text("#promise")
    one.choose(1)
    one.randomise()

    assert "at most a factor of 7.39" in one.text("#total")


# -- servers that lie -------------------------------------------------------------------------------------------------


def test_a_plan_whose_numbers_exceed_its_epsilon_is_not_answered(visit: Start, collector: SmallCollector) -> None:
    """The server changed the integers of the law, its page names the digest of that plan, and the link names none."""
    one = visit("yesno")
    text = (
        collector.surveys[survey_id("yesno")].plan.to_json().replace('"4961093570831980854"', '"4900000000000000000"')
    )
    digest = one.opened.evaluate(
        "async text => (await import(document.querySelector('link[href*=json_text]').href)).digestOf(text)", text
    )
    collector.plan_text[survey_id("yesno")] = text
    collector.plan_digest[survey_id("yesno")] = digest
    one.go(collector.link("yesno").partition("#")[0])

    assert "exceed the epsilon that it states" in one.text("#problem")
    assert not one.visible("#answering")


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_every_survey_of_these_tests_can_be_answered(visit: Start, collector: SmallCollector, name: str) -> None:
    """The check of a plan's numbers refuses none that is honest; every report is stored, and its receipt is read."""
    one = visit(name, token=TOKEN if name.startswith("invited") else None, size="desktop")
    answer_all(one)
    one.randomise()
    one.send()

    assert len(collector.stored) == 1
    assert one.text("#receipt-words").strip()
    assert one.opened.complaints() == []


def answer_all(one: Visit) -> None:
    one.opened.evaluate("""() => {
        for (const field of document.querySelectorAll("fieldset")) {
            const [input] = field.querySelectorAll("input, select");
            if (input.type === "radio") input.checked = true;
            else input.value = "3";
            input.dispatchEvent(new Event("input", { bubbles: true }));
        }
    }""")
