"""Whole surveys in Chromium, against the service as it is served: from the first account to published results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.test_serve import process
from tests.collector.documents import CHEATED, document
from tests.collector.http.services import PASSWORD, Service, service
from tests.collector.pages.people import Person, person
from tests.collector.pages.test_answer_page import KEEPS, RECORD_WORDS
from tests.pages.browser import Browser
from tests.pages.conftest import browser  # noqa: F401

from murmure.cli import main
from murmure.collector.client import SurveyClient
from murmure.collector.service.builder_advice import builder_advice
from murmure.show.language import MINUS

pytest.importorskip("pyarrow")

ANSWERS = '[data-answers="{}"]'
KEYS = ("label", "share", "low", "high")  # of a figure, wherever it is written
SENT_BY_OTHERS = 30  # through the client in Python, so that figures have something to say


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("collector")) as running:
        yield running


def estimated(path: Path) -> Any:
    """The figures that `murmure estimate` reads from an export."""
    ran = CliRunner().invoke(main, ["estimate", str(path), "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def shown_shares(one: Person) -> list[float]:
    """The estimates of the page, in per cent, as its language writes them."""
    cells = one.evaluate("[...document.querySelectorAll('.crowd .num b')].map(cell => cell.textContent)")
    return [float(re.sub(r"[%\s]", "", cell).replace(MINUS, "-").replace(",", ".")) for cell in cells]


def test_a_survey_from_the_first_account_to_published_results(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    """A real process. The analyst reads English at a desk; people answer in French on a telephone, in English at a
    desk; somebody else reads the results in French on a telephone."""
    faults: list[str] = []
    with process(tmp_path / "data") as (_, line), person(browser, line["url"]) as analyst:
        base = line["url"]

        # The first account, by the link that the command printed.
        analyst.go(line["setup"])
        analyst.look()
        analyst.fill(name="anna", password=PASSWORD)
        analyst.click("button.main")
        analyst.wait(".empty")
        analyst.look()

        # A question, and how precisely it is to be known; epsilon follows.
        analyst.click(".empty .primary")
        analyst.wait("#advice-how")
        analyst.write_title("Exams", "Examens")
        analyst.write_question("Have you ever cheated?", "Avez-vous déjà triché ?")
        analyst.fill(people="100", margin="15")
        expected = builder_advice(document(CHEATED, people=100), margin=15)["epsilon"]
        analyst.wait_until("wanted => document.getElementById('epsilon').value === wanted", f"{expected:g}")
        assert "Avez-vous" not in analyst.read("#preview")
        analyst.click("[data-preview=fr]")
        assert "Avez-vous déjà triché\u202f?" in analyst.read("#preview")  # a question mark does not begin a line
        survey = analyst.open_survey()
        analyst.look()
        link = analyst.do(lambda page: page.get_attribute("#copy-link", "data-link"))
        assert link.startswith(f"{base}/s/{survey}#p=")
        assert analyst.sees(ANSWERS.format(0))

        # People answer; the page of the analyst follows without being loaded again.
        analyst.evaluate("window.samepage = true")
        for language, size, scheme, place in (("fr", "telephone", "dark", 1), ("en", "desktop", "light", 0)):
            with person(browser, base, language, size, scheme) as respondent:
                respondent.go(link)
                respondent.wait("html[data-ready]", "attached")
                asked = "Avez-vous déjà triché\u202f?" if language == "fr" else "Have you ever cheated?"
                assert asked in respondent.text()
                respondent.look()
                receipt = respondent.answer(place)
                respondent.look()
                assert receipt["report"] in (0, 1) and receipt["survey"] == survey
                faults += respondent.faults
        analyst.wait(ANSWERS.format(2))
        for place in range(SENT_BY_OTHERS):
            SurveyClient(link).answer("yes" if place % 3 else "no")
        analyst.wait(ANSWERS.format(2 + SENT_BY_OTHERS))
        assert analyst.evaluate("window.samepage") is True

        # Closed, and published: both are asked for twice, and the link says so.
        analyst.confirm("close")
        with person(browser, base, "fr", "telephone", "dark") as reader:
            reader.go(link)
            assert reader.sees("#answering .state") and not reader.sees("#randomise")
            assert reader.do(lambda page: page.request.get(f"{base}/s/{survey}/results").status) == 403
            analyst.confirm("publish")
            analyst.look()

            # Everybody sees the figures, and the exports give the same ones.
            reader.go(link)
            reader.click("#answering .button")
            reader.wait("[data-answers]")
            reader.look()
            figures = json.loads(
                reader.do(lambda page: page.request.get(f"{base}/api/surveys/{survey}/results").text())
            )
            public = shown_shares(reader)
            faults += reader.faults
        release = figures["release"]
        for ending in ("parquet", "json", "csv-metadata.json", "csv"):
            name, content = analyst.download(f'a[href*="export.{ending}?"]')
            (tmp_path / name).write_bytes(content)
            assert name == f"{survey}.{ending}"
            if ending != "csv-metadata.json":
                told = estimated(tmp_path / name)
                assert (told["plan"], told["people"]) == (release["plan"], release["people"]), ending
                both = [[{key: row[key] for key in KEYS} for row in one["figures"]] for one in (told, release)]
                assert both[0] == both[1], ending
        shares = [100 * row["share"] for row in release["figures"]]
        assert shown_shares(analyst) == pytest.approx(shares, abs=0.051)
        assert public == pytest.approx(shares, abs=0.051)
        faults += analyst.faults

    assert faults == []


def test_a_survey_by_invitation(browser: Browser, served: Service) -> None:  # noqa: F811
    """The analyst reads French on a telephone. Links are shown once; each takes one report."""
    served.analyst("marie")
    faults: list[str] = []
    with person(browser, served.address, "fr", "telephone", "dark") as analyst:
        analyst.go("/")
        analyst.fill(name="marie", password=PASSWORD)
        analyst.click("button.main")
        analyst.wait("a.button.primary")
        analyst.click("a.button.primary")
        analyst.wait("#advice-how")
        analyst.write_title("Safety at work", "La sécurité au travail")
        analyst.write_question("Have you seen an accident?", "Avez-vous vu un accident ?")
        analyst.do(lambda page: page.check("[name=link][value=invitations]"))
        survey = analyst.open_survey()
        analyst.fill(count="3")
        analyst.click("#invite button")
        analyst.wait("#made")
        analyst.look()
        links = analyst.read("#made-links").split()
        name, content = analyst.download("#download-links")
        assert name == f"invitations-{survey}.csv"
        assert content.decode().splitlines() == ["link", *links]
        assert len(set(links)) == 3 and all(f"/s/{survey}#p=" in link and "&t=" in link for link in links)

        # The links are nowhere in the page again, and nowhere in the folder.
        analyst.do(lambda page: page.reload())
        assert not analyst.sees("#made") and not any(link in analyst.do(lambda page: page.content()) for link in links)
        tokens = [link.rpartition("&t=")[2].encode() for link in links]
        files = [path for path in served.collector.folder.rglob("*") if path.is_file()]
        assert files and not any(token in path.read_bytes() for token in tokens for path in files)

        with person(browser, served.address, "fr", "telephone") as invited:
            invited.go(links[0])
            invited.wait("html[data-ready]", "attached")
            invited.evaluate(RECORD_WORDS, KEEPS)
            assert invited.answer(1)["report"] == 1
            invited.look()
            faults += invited.faults
        analyst.wait(ANSWERS.format(1))
        with person(browser, served.address, "fr") as second:  # with the same link, which asks nothing any more
            second.go(links[0])
            second.wait("html[data-ready]", "attached")
            assert "Ce lien a déjà servi" in second.read("#problem")
            assert not second.sees("#answering") and not second.sees("#receipt")
            faults += second.serious()
        analyst.do(lambda page: page.reload())
        analyst.wait(ANSWERS.format(1))
        assert served.collector.refusals(served.collector.surveys.find(survey)) == {}
        faults += analyst.faults

    assert faults == []


def test_two_waves(browser: Browser, served: Service) -> None:  # noqa: F811
    """The same device answers in both; each wave has its own figures, and a memoised answer is not drawn anew."""
    served.analyst("marie")
    faults: list[str] = []
    with person(browser, served.address) as analyst:
        analyst.go("/")
        analyst.fill(name="marie", password=PASSWORD)
        analyst.click("button.main")
        analyst.click("a.button.primary")
        analyst.wait("#advice-how")
        analyst.write_title("Mood", "Humeur")
        analyst.write_question("Are you well?", "Allez-vous bien ?")
        analyst.click("#waves-part summary")
        analyst.fill(waves="2", epsilon_total="2")
        analyst.wait_until("() => document.getElementById('advice-body').textContent.includes('All 2 waves together')")
        survey = analyst.open_survey()
        link = analyst.do(lambda page: page.get_attribute("#copy-link", "data-link"))
        with person(browser, served.address, "fr", "telephone", "dark") as respondent:
            respondent.go(link)
            assert respondent.answer(1)["wave"] == 1
            analyst.wait(ANSWERS.format(1))
            analyst.confirm("next-wave")
            analyst.wait(ANSWERS.format(0))
            assert "wave 2 of 2" in analyst.read(".status-line") and not analyst.sees("[data-ask=next-wave]")
            respondent.go(link)
            assert respondent.answer(1)["wave"] == 2
            respondent.look()
            faults += respondent.faults
        analyst.wait(ANSWERS.format(1))
        analyst.look()
        analyst.click('nav.waves a[href="?wave=1"]')
        analyst.wait(ANSWERS.format(1))
        assert analyst.read('nav.waves [aria-current="page"]') == "Wave 1"
        assert analyst.data("live").endswith("wave=1")
        analyst.confirm("close")
        assert analyst.sees("[data-ask=publish]")
        faults += analyst.faults
    collector = served.collector
    record = collector.surveys.find(survey)

    assert record is not None and [collector.intake.tally_of(record.number, wave)[0] for wave in (1, 2)] == [1, 1]
    assert faults == []
