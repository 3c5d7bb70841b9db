"""What the answering page says is true: its pictures against Python's channels, its factors against certificates."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from tests.collector.pages.small_collector import DOCUMENTS, SmallCollector, survey_id
from tests.collector.pages.test_answer_page import html
from tests.collector.pages.test_answer_page_attacks import answer_all
from tests.collector.pages.visits import TOKEN, Start, Visit

import murmure as mu
from murmure.collector.pages.static_files import release
from murmure.collector.survey.survey import Survey
from murmure.laws.table import TableChannel
from murmure.laws.tagged import Tagged

# -- pictures ---------------------------------------------------------------------------------------------------------


def probabilities(mechanism: Any, code: int, reports: int) -> np.ndarray:
    """Of every report on this answer, as the channel has them."""
    codes = np.full(reports, code)
    return np.exp(np.asarray(mechanism.law(codes).log_prob(np.arange(reports)), float))


def expected(mechanism: Any, code: int) -> list[float]:
    """The shares of a picture, by going through all reports on one answer; by `supports` where there are too many."""
    channel = getattr(mechanism, "channel", mechanism)
    if isinstance(mechanism, mu.RAPPOR):
        return [float(mechanism.kept.p), 1 - float(mechanism.kept.p)]
    if isinstance(channel, Tagged):
        p = probabilities(mechanism, code, channel.outputs)
        window, sides = p[: channel.first.outputs], p[channel.first.outputs :]
        likely = window > window.min() * 1.5
        return [window[likely].sum(), window[~likely].sum(), sides.sum()]
    if isinstance(channel, TableChannel) and channel.outputs == 2:
        p = probabilities(mechanism, code, 2)
        return [p[1], p[0]]
    if isinstance(mechanism, mu.Piecewise | mu.SquareWave):
        p = probabilities(mechanism, code, channel.outputs)
        return [p[p > p.min() * 1.2].sum(), p[p < p.min() * 1.2].sum()]
    p = float(mechanism.supports.p)
    return [p, 1 - p]


PICTURES = (
    "() => [...document.querySelectorAll('#picture .key')].map(key => [...key.children].map(line => line.innerText))"
)
DRAWN = """() => [...document.querySelectorAll("#picture svg")].map(svg => [0, 1, 2].map(kind => {
    const parts = [...svg.querySelectorAll(`.d${kind}`)];
    return parts.reduce((sum, part) => sum + Number(part.getAttribute("width") ?? 1), 0);
}))"""


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_each_picture_counts_what_the_channel_draws(visit: Start, name: str) -> None:
    """Every part that is drawn is said in words, with its number; they make 100; and no number is off by more than
    rounding. Before there is an answer the picture is about the last one, where that matters."""
    one = visit(name, token=TOKEN if name.startswith("invited") else None)
    survey = Survey.from_dict(DOCUMENTS[name])
    person = survey.plan.person
    parts = list(person.parts) if survey.of_records else [person]
    lines, drawn = one.opened.evaluate(PICTURES), one.opened.evaluate(DRAWN)
    assert len(lines) == len(drawn) == len(parts)
    for part, said, shown in zip(parts, lines, drawn, strict=True):
        mechanism = getattr(part, "real", part)
        counts = [int(re.match(r"\d+", line)[0]) for line in said]  # type: ignore[index]

        assert shown == counts + [0] * (3 - len(counts))
        assert sum(counts) == 100
        for count, share in zip(counts, expected(mechanism, mechanism.domain.size - 1), strict=True):
            assert abs(count - 100 * share) <= 1, (name, said, share)


def test_a_picture_of_several_questions_explains_each_of_them(visit: Start) -> None:
    """What “near” and “high” mean too, and which answer the numbers are about."""
    text = visit("mixed").text("#picture")
    assert "send a number near theirs" in text and "send only “high” or “low”" in text
    assert "Near means: in a window of" in text
    one = visit("mixedall")
    assert "If they answer 16.0" in one.text("#picture") or "If they answer 16\u00a0hours:" in one.text("#picture")
    one.do(lambda page: page.fill("#q3 input", "2.5"))

    assert "If they answer 2.5\u00a0hours:" in one.text("#picture")


# -- factors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_the_factor_is_that_of_the_certificate_rounded_up(visit: Start, name: str) -> None:
    """Never below the largest ratio of the channel, and at most one unit of the third digit above it."""
    one = visit(name, token=TOKEN if name.startswith("invited") else None)
    answer_all(one)
    one.randomise()
    person = Survey.from_dict(DOCUMENTS[name]).plan.person
    factor = math.exp(mu.certify(person).epsilon)
    said = float(re.findall(r"[\d.]+\d", one.text("#odds").replace(",", ""))[-1])
    unit = 10 ** (math.floor(math.log10(factor)) - 2)

    assert factor - 1e-8 <= said < factor + unit
    assert factor / (1 + factor) <= float(re.findall(r"([\d.]+)%", one.text("#belief"))[0]) / 100 + 1e-9
    total = math.exp(person.epsilon) if isinstance(person, mu.RAPPOR) else factor
    if name.endswith("waves"):
        assert float(re.findall(r"factor of ([\d.]+\d)", one.text("#total"))[0]) >= total - 1e-8


def test_a_belief_is_never_said_to_be_less_than_it_can_be(visit: Start) -> None:
    one = visit("yesno")
    beliefs = one.opened.evaluate(
        """async address => {
            const { Speech } = await import(address), speech = new Speech({ language: "en" });
            return Array.from({ length: 400 }, (_, i) => 1.07 ** i).map(odds => [odds, speech.belief(odds)]);
        }""",
        f"/v/{release()}/static/speech.js",
    )
    for odds, said in beliefs:
        assert float(said.rstrip("%")) / 100 >= odds / (1 + odds) - 1e-12
        assert odds > 1e10 or said != "100%"


def test_waves_about_two_answers_say_so_in_advance(visit: Start, collector: SmallCollector) -> None:
    """In the wave after the change the total is that of both answers, and that the change shows is said."""
    one = visit("waves")
    place = f"murmure:memo:{survey_id('waves')}"
    one.choose(1)
    one.randomise()
    one.send()
    collector.waves[survey_id("waves")] = 2
    one.reload()
    one.choose(2)
    one.click("#randomise")
    one.click("#problem button")
    one.wait("#review", "visible")
    one.send()
    assert json.loads(one.opened.evaluate("place => localStorage[place]", place))["seen"] == [1, 2]
    collector.waves[survey_id("waves")] = 3
    one.reload()

    assert "at most a factor of 54.6, since reports on several answers add up" in one.text("#promise")
    assert "They can also show that your answer has changed, and when: the factor does not cover that." in one.text(
        "#promise"
    )


# -- what must not be promised ----------------------------------------------------------------------------------------

ALWAYS = (
    "moves the odds, by no more than this page says",
    "watches your screen",
    "the factors multiply",
    "only the reports that this browser remembers",
    "somebody could pay for a report",
    "run the network",
    "Where few people answer",
    "reports that no coin made",
    "leave reports out or add some",
    "A dishonest server could give out another one",
    "not the words of the question",
)
OPEN = ("nothing stops somebody from answering twice", "On an open link anybody can answer several times")
PERSONAL = ("may know which link is yours",)
WAVES = (
    "keeps a key and the number of your answer",
    "anyone who uses this browser after you",
    "If the key is lost",
    "resemble one another",
    "This device keeps its number, with a key, for the next waves.",
)


@pytest.mark.parametrize("waves", [1, 4])
@pytest.mark.parametrize("link", ["open", "invitations"])
def test_each_kind_of_link_says_what_it_does_not_protect_against(link: str, waves: int) -> None:
    page = html(DOCUMENTS["choice"] | {"link": link, "waves": waves, "epsilon_total": 2.0 if waves > 1 else None})
    wanted = ALWAYS + (OPEN if link == "open" else PERSONAL) + (WAVES if waves > 1 else ())
    never = (PERSONAL if link == "open" else OPEN) + (() if waves > 1 else WAVES)

    assert [text for text in wanted if text not in page] == []
    assert [text for text in never if text in page] == []
    assert ("It is not stored and not sent." in page) == (waves == 1), "for waves its number is stored"
    assert not re.search("nobody can tell|anonymous|impossible to know", page)


def test_a_fault_is_read_out_with_its_field(visit: Start) -> None:
    """The field that gets the focus is described by the sentence that says what is missing."""
    for name in ("choice", "number", "towns"):
        one: Visit = visit(name)
        one.click("#randomise")
        described = one.opened.evaluate(
            """() => document.activeElement.getAttribute("aria-describedby").split(" ")
                .map(id => document.getElementById(id)).filter(node => !node.hidden)
                .map(node => node.textContent).join(" ")"""
        )

        assert one.text("#q1 .fault") in described and one.text("#q1 .fault")
        assert one.opened.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true"
