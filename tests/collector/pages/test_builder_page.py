"""The builder in Chromium: margin and epsilon follow each other, errors stand by their field, drafts come back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.collector.http.services import Service, service
from tests.collector.pages.analyst_surveys import DOCUMENTS
from tests.collector.pages.people import Person, person
from tests.collector.pages.small_collector import AGREE, CHEATED, HOURS, OFTEN, document
from tests.pages.browser import Browser, Size
from tests.pages.conftest import browser  # noqa: F401

from murmure.collector.pages.shell import text_in
from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.service.short_numbers import bound

EPSILON, MARGIN = "#epsilon", "#margin"
ON_FOOT, EMPTY = OFTEN["options"][0], {"value": "", "label": {"en": "", "fr": ""}}
THOUSAND = "\n".join(f"Town {i}" for i in range(1000))
PASTE = """([selector, text]) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.querySelector(selector).dispatchEvent(
        new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("collector")) as running:
        yield running


@pytest.fixture
def author(served: Service, browser: Browser) -> Iterator[Person]:  # noqa: F811
    with signed_in(served, browser) as one:
        yield one
        # Saving what is refused is the point of some tests; the browser writes it to the console, too.
        assert [fault for fault in one.complaints() if "status of 400" not in fault] == []


def signed_in(served: Service, browser: Browser, language: str = "en", size: Size = "desktop") -> Any:  # noqa: F811
    cookie = served.analyst("marie").cookies["murmure_session"]
    return person(browser, served.address, language, size, cookies={"murmure_session": cookie})


def draft(served: Service, survey: dict[str, Any]) -> str:
    served.analyst("marie")
    return served.collector.surveys.create(served.collector.analysts.list()[0].number, survey).id


def edit(author: Person, survey_id: str) -> None:
    author.go(f"/surveys/{survey_id}/edit")
    author.wait("#advice-how")


def advised(author: Person, **wanted: str) -> None:
    """Wait until fields show these texts."""
    script = "wanted => Object.entries(wanted).every(([id, text]) => document.getElementById(id).value === text)"
    author.wait_until(script, wanted)


def written(value: float) -> str:
    """As the page writes a number for a field."""
    return f"{float(f'{value:.3g}'):g}"


# -- margin and epsilon ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["yesno", "several", "waves"])
def test_margin_and_epsilon_follow_each_other(served: Service, author: Person, name: str) -> None:
    """They are murmure's own figures for the plan that would be opened, whichever of the two is typed."""
    survey = DOCUMENTS[name]
    edit(author, draft(served, survey))
    given = builder_advice(survey, epsilon=survey["epsilon"])
    advised(author, epsilon=written(survey["epsilon"]), margin=written(given["margin"]))
    assert author.read("#epsilon-role") == "you chose this" and author.read("#margin-role") == "follows from the other"

    wanted = 1.1 * given["margin"]
    author.write(MARGIN, written(wanted))
    follows = builder_advice(survey, margin=float(written(wanted)))
    advised(author, epsilon=written(follows["epsilon"]), margin=written(wanted))
    assert author.read("#epsilon-role") == "follows from the other"
    assert follows["epsilon"] < survey["epsilon"]

    author.write(EPSILON, "1,5" if name != "waves" else "1,1")  # a comma is a decimal mark too
    again = builder_advice(survey, epsilon=1.5 if name != "waves" else 1.1)
    advised(author, margin=written(again["margin"]))
    author.click("#advice-how summary")
    certified = author.read("#advice-how-body")
    assert f"Mechanism: {again['mechanism']}." in certified
    assert f"epsilon = {again['certificate']['epsilon']:.4g}" in certified


def test_more_people_make_the_margin_smaller_and_the_driver_stays(served: Service, author: Person) -> None:
    survey = DOCUMENTS["yesno"]
    edit(author, draft(served, survey))
    author.fill(people="2000")
    advised(author, epsilon="1", margin=written(builder_advice({**survey, "people": 2000}, epsilon=1.0)["margin"]))
    author.fill(margin="5")
    author.fill(people="8000")
    told = builder_advice({**survey, "people": 8000}, margin=5.0)
    advised(author, margin="5", epsilon=written(told["epsilon"]))

    assert told["epsilon"] < 1


def test_the_panel_says_odds_belief_leverage_and_bias(served: Service, author: Person) -> None:
    survey = DOCUMENTS["yesno"]
    edit(author, draft(served, survey))
    told, panel = builder_advice(survey, epsilon=1.0), author.read("#advice-body")

    assert "by a factor of at most 2.72" in panel and "at most 74% sure" in panel
    assert f"counts for up to {bound(told['leverage'], 3)} people" in panel
    assert f"can move by up to {bound(told['forged_1_percent'], 3)} points" in panel
    assert author.read("#advised") == f"Epsilon 1, margin ± {told['margin']:.2g} points"


def test_the_advice_on_several_questions_fits_a_french_telephone(served: Service, browser: Browser) -> None:  # noqa: F811
    """How much a forged report counts for, in words, ran out of its table and made the page scroll sideways."""
    survey = document(*({**one, "name": f"{one['name']}_in_the_last_twelve_weeks"} for one in (CHEATED, AGREE, HOURS)))
    with signed_in(served, browser, "fr", "telephone") as one:
        edit(one, draft(served, survey))
        rows = one.evaluate("document.querySelectorAll('.advice-table tbody tr').length")

        assert rows == 3 and "fois une personne" in one.read(".advice-table")
        assert one.overflow() == 0
        assert one.evaluate(
            "[...document.querySelectorAll('.advice-table *')].every(a => a.scrollWidth <= a.clientWidth)"
        )


def test_a_margin_that_cannot_be_had_is_refused_beside_its_field(served: Service, author: Person) -> None:
    edit(author, draft(served, DOCUMENTS["yesno"]))
    author.write(MARGIN, "0.1")
    author.wait("[data-field=margin] .fault")

    assert "with 500 answers" in author.read("[data-field=margin] .fault")
    assert author.do(lambda page: page.get_attribute(MARGIN, "aria-invalid")) == "true"
    assert author.do(lambda page: page.input_value(EPSILON)) == ""  # no epsilon follows from such a margin
    author.write(MARGIN, "12")
    author.wait("[data-field=margin] .fault", "hidden")
    assert author.do(lambda page: page.get_attribute(MARGIN, "aria-invalid")) == "false"
    assert author.do(lambda page: page.input_value(EPSILON)) != ""


# -- errors, and drafts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": {}}, "[data-field=title]"),
        ({"people": 0}, "[data-field=people]"),
        ({"questions": [{**CHEATED, "text": {}}]}, "#questions > li [data-field=text]"),
        ({"questions": [{**OFTEN, "options": [ON_FOOT, ON_FOOT]}]}, "[data-field=options] .option:nth-child(2)"),
        ({"questions": [{**OFTEN, "options": [ON_FOOT, EMPTY]}]}, "[data-field=options] .option:nth-child(2)"),
        ({"questions": [{**HOURS, "low": 20}]}, "[data-field=high]"),
        ({"questions": [CHEATED, {**HOURS, "low": 0.05}]}, "#questions > li:nth-child(2) [data-field=low]"),
        ({"waves": 3, "epsilon_total": 0.5}, "[data-field=epsilon_total]"),
    ],
)
def test_an_error_is_told_beside_its_field(author: Person, change: dict[str, Any], field: str) -> None:
    """The field has the focus, is marked as invalid, and its description is the sentence."""
    author.go("/surveys/new")
    author.wait("#advice-body > *")
    spoil(author, document(CHEATED) | change)
    author.click("#save")
    author.wait(f"{field} > .fault")
    focused = "document.activeElement.closest('[data-field]').dataset.field"
    described = "document.getElementById(document.activeElement.getAttribute('aria-describedby'))?.textContent"

    assert author.evaluate(focused) == re.findall(r"data-field=(\w+)", field)[-1]
    assert author.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true"
    told = author.read(f"{field} > .fault")
    assert author.evaluate(described) == told
    assert re.fullmatch(r"[A-Z][^\[\]]*\.", told), "a sentence, without the names of fields"


def spoil(author: Person, survey: dict[str, Any]) -> None:
    """Write this survey into the form by its fields."""
    for lang in ("en", "fr"):
        author.write(f"[data-field=title] [data-lang={lang}]", survey["title"].get(lang, ""))
    author.fill(people=str(survey["people"]))
    if survey["waves"] > 1:
        author.click("#waves-part summary")
        author.fill(waves=str(survey["waves"]), epsilon_total=str(survey["epsilon_total"]))
    for place, question in enumerate(survey["questions"], 1):
        if place > 1:
            author.click("#add-question")
        card = f"#questions > li:nth-child({place})"
        author.do(lambda page, c=card, k=question["kind"]: page.select_option(f"{c} .kind", k))
        author.write_question(question["text"].get("en", ""), question["text"].get("fr", ""), place)
        for n, option in enumerate(question.get("options", []), 1):
            author.write(f"{card} .option:nth-child({n}) [data-lang=en]", option["label"]["en"])
        if question["kind"] == "number":
            author.do(lambda page, c=card, s=question["step"]: page.select_option(f"{c} .step-size", str(s)))
            author.write(f"{card} .low", str(question["low"]))
            author.write(f"{card} .high", str(question["high"]))


@pytest.mark.parametrize("name", ["several", "waves", "invited", "evil"])
def test_a_draft_comes_back_as_it_was_saved(served: Service, author: Person, name: str) -> None:
    """Opened and saved again without a change, each survey is the same JSON."""
    survey_id = draft(served, DOCUMENTS[name])
    before = served.collector.surveys.find(survey_id)
    edit(author, survey_id)
    author.click("#save")
    author.wait("#saved:text('Draft saved')")
    after = served.collector.surveys.find(survey_id)

    assert before is not None and after is not None
    assert json.loads(after.document) == json.loads(before.document)


def test_a_survey_that_was_written_is_saved_and_read_again(served: Service, author: Person) -> None:
    wanted = document(CHEATED, {**OFTEN, "kind": "choice"}, HOURS, people=300, intro={})
    author.go("/surveys/new")
    author.wait("#advice-body > *")
    spoil(author, {**wanted, "questions": [CHEATED, {**OFTEN, "options": OFTEN["options"][:2]}, HOURS]})
    author.click("#save")
    author.wait("#saved:text('Draft saved')")
    survey_id = author.address().split("/")[-2]
    record = served.collector.surveys.find(survey_id)
    assert record is not None
    saved = json.loads(record.document)
    author.do(lambda page: page.reload())
    author.wait("#advice-how")

    assert [question["kind"] for question in saved["questions"]] == ["yes-no", "choice", "number"]
    assert [question["text"] for question in saved["questions"]] == [q["text"] for q in (CHEATED, OFTEN, HOURS)]
    assert [option["value"] for option in saved["questions"][1]["options"]] == ["on_foot", "by_bicycle"]
    assert (saved["questions"][2]["low"], saved["questions"][2]["high"], saved["people"]) == (0, 16, 300)
    assert author.value("[data-field=title] [data-lang=fr]") == wanted["title"]["fr"]
    assert author.value("#questions > li:nth-child(2) .option:nth-child(2) [data-lang=en]") == "By bicycle"


def test_typing_complains_of_nothing(served: Service, author: Person) -> None:
    """A survey that is being written is not complete yet, and asking what it would give is no failed request."""
    author.go("/surveys/new")
    author.wait("#advice-body > *")
    author.fill(epsilon="100")
    author.wait(".field:has(#epsilon) .fault")
    author.fill(epsilon="1")
    author.wait("#advice-how")

    assert author.complaints() == []


def test_a_draft_is_deleted_after_a_question(served: Service, author: Person) -> None:
    survey_id = draft(served, DOCUMENTS["yesno"])
    edit(author, survey_id)
    author.click("#remove")
    author.wait("#ask-remove[open]")
    author.do(lambda page: page.keyboard.press("Escape"))
    assert served.collector.surveys.find(survey_id) is not None
    author.click("#remove")
    author.click("#remove-now")
    author.wait_for_page(f"{author.base}/")

    assert served.collector.surveys.find(survey_id) is None


def test_a_session_that_ended_loses_no_draft(served: Service, browser: Browser) -> None:  # noqa: F811
    """The page says what happened, and keeps what was written; signed in again elsewhere, it can be saved."""
    with signed_in(served, browser) as author:
        author.go("/surveys/new")
        author.wait("#advice-how")
        author.write_title("Exams", "Examens")
        author.write_question("Have you ever cheated?", "Avez-vous triché ?")
        cookies = author.do(lambda page: page.context.cookies())
        author.do(lambda page: page.context.clear_cookies())
        author.click("#save")
        author.wait("#problem")
        assert "Your session has ended" in author.read("#problem")
        assert author.value("[data-field=title] [data-lang=en]") == "Exams"
        author.do(lambda page: page.context.add_cookies(cookies))
        author.click("#save")
        author.wait("#saved:text('Draft saved')")
        assert not author.sees("#problem")


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_survey_is_written_and_opened_by_keyboard_alone(served: Service, author: Person) -> None:
    """Tab, letters, arrows, Enter and Space; the focus is where the next thing is written, and never lost."""
    author.go("/surveys/new")
    author.wait("#advice-body > *")

    def focused(page: Any, script: str) -> Any:
        return page.evaluate(f"(element => {script})(document.activeElement)")

    def tab_to(page: Any, what: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if focused(page, f"element.matches({what!r})"):
                return
        raise AssertionError(f"Tab does not reach {what}")

    def work(page: Any) -> None:
        press = page.keyboard.press
        tab_to(page, "[data-field=title] [data-lang=en]")
        page.keyboard.type("Travel")
        tab_to(page, "[data-field=text] [data-lang=en]")
        page.keyboard.type("How do you come?")
        tab_to(page, ".kind")
        press("ArrowDown")
        tab_to(page, ".option [data-lang=en]")
        for word in ("On foot", "By train", "By car"):  # Enter goes to the next answer, and makes one
            page.keyboard.type(word)
            press("Enter")
        assert focused(page, "element.closest('.option') === element.closest('ol').lastElementChild")
        page.keyboard.type("By boat")
        press("Tab")  # the other language
        press("Tab")
        press("Enter")  # "up": its button keeps the focus
        assert focused(page, "element.dataset.do") == "option-up"
        assert focused(page, "element.getAttribute('aria-label')") == "Move answer 3 up"
        assert page.text_content("#told") == "Moved to place 3"
        tab_to(page, "#open")
        press("Enter")
        page.wait_for_selector("#ask-open[open]")
        tab_to(page, "#open-now")
        press("Enter")
        page.wait_for_selector("#results")

    author.do(work)
    survey_id = author.address().rpartition("/")[2]
    record = served.collector.surveys.find(survey_id)

    assert record is not None and record.state == "open"
    assert [str(option.label.en) for option in record.survey.questions[0].options] == [
        "On foot",
        "By train",
        "By boat",
        "By car",
    ]


def test_answers_can_be_pasted_line_by_line(served: Service, author: Person) -> None:
    """A list from elsewhere becomes as many answers, a thousand of them within the limits; typing stays quick."""
    author.go("/surveys/new")
    author.wait("#advice-body > *")
    author.do(lambda page: page.select_option(".kind", "choice"))
    author.evaluate(PASTE, [".option [data-lang=en]", THOUSAND])
    author.write_title("Towns", "Communes")
    author.write_question("Which town?", "Quelle commune ?")
    typed = """() => {
        const field = document.querySelector("[data-field=text] [data-lang=en]"), start = performance.now();
        for (let i = 0; i < 5; i++) field.dispatchEvent(new Event("input", {bubbles: true}));
        return (performance.now() - start) / 5;
    }"""
    print(f"one letter among a thousand answers: {author.evaluate(typed):.1f} ms")
    author.click("#save")
    author.wait("#saved:text('Draft saved')")
    record = served.collector.surveys.find(author.address().split("/")[-2])

    assert record is not None
    labels = [option.label.en for option in record.survey.questions[0].options]
    assert labels == THOUSAND.split("\n")
    assert not author.sees(".option:nth-child(1001)")


def test_the_preview_asks_what_the_answering_page_asks(served: Service, author: Person) -> None:
    survey = document(CHEATED, AGREE, HOURS, epsilon=3.0)
    edit(author, draft(served, survey))
    author.click("[data-preview=fr]")
    shown = author.read("#preview")
    record = served.collector.open(served.collector.surveys.create(served.collector.analysts.list()[0].number, survey))
    asked = served.visitor().ask("GET", f"/s/{record.id}?lang=fr").body.decode()

    texts = (survey["title"], *(question["text"] for question in survey["questions"]))
    for text in (*(text_in(one, "fr")[0] for one in texts), "Plutôt oui"):
        assert text in shown and text in asked.replace("&#39;", "'")
    assert "in steps of 0.1" in shown and "par pas de" in asked
    assert author.do(lambda page: page.get_attribute("#preview", "lang")) == "fr"
