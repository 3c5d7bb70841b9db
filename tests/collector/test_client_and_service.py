"""The client in Python answers a real collector, every kind of survey: what was acknowledged is what is counted."""

from __future__ import annotations

import gzip
import hashlib
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.documents import SURVEYS, opened, token_for
from tests.collector.http.services import Service, service

from murmure.collector.client import SurveyClient
from murmure.collector.client_requests import CollectorRefusal
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.plan.browser_client import client_digest, client_folder, client_modules

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("collector") / "data"
    with service(folder) as running:
        yield running


@pytest.mark.parametrize("name", SURVEYS)
def test_a_survey_is_answered(real: Service, name: str) -> None:
    document, answer = SURVEYS[name]
    record = opened(real.collector, document)
    for _ in range(3):
        link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}&t={token_for(real.collector, record)}"
        key = KEY if record.survey.memoised else None

        receipt = SurveyClient(link, key=key).answer(answer)
        again = SurveyClient(link, key=key)

        assert (receipt.survey, receipt.wave, receipt.plan) == (record.id, 1, record.plan.digest)
        assert receipt.stored == "now"
        again._pending = {"token": again.token, "wave": 1, "plan": receipt.plan, "report": receipt.report}
        assert again.send().stored == "before"
    real.collector.intake.flush()

    assert real.collector.intake.tally_of(record.number, 1)[0] == 3


def test_a_second_draw_is_refused_by_the_collector(real: Service) -> None:
    """Bins of a hash: sixty draws that all equal the first one have a chance below 2**-30."""
    record = opened(real.collector, SURVEYS["choice by OLH"][0])
    link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}&t={token_for(real.collector, record)}"
    codes = set()
    SurveyClient(link).answer("region 7")
    for _ in range(60):
        try:
            codes.add(SurveyClient(link).answer("region 7").stored)
        except CollectorRefusal as refusal:
            codes.add(refusal.code)

    assert codes <= {"before", "spent"} and "spent" in codes


def test_waves(real: Service) -> None:
    record = opened(real.collector, SURVEYS["waves"][0])
    link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}"
    client = SurveyClient(link, key=KEY)
    receipts = [client.answer({"cheated": "yes"})]
    real.collector.next_wave(record)
    receipts.append(client.answer({"cheated": "yes"}))

    assert [receipt.wave for receipt in receipts] == [1, 2] and client.seen == [1]
    with pytest.raises(PlanRefused, match="one more would cost a further epsilon"):
        SurveyClient(link, key=KEY, seen=client.seen).answer("no")


def served(address: str, encoding: str = "gzip") -> tuple[bytes, bytes]:
    """What travels, and what it is."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": encoding})
    with urllib.request.urlopen(request, timeout=20) as answer:
        travels = answer.read()
        assert (answer.headers["Content-Encoding"] == "gzip") == (encoding == "gzip")
        return travels, gzip.decompress(travels) if answer.headers["Content-Encoding"] else travels


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_all_that_the_answering_page_loads_is_light_as_it_is_served(real: Service, lang: str) -> None:
    record = opened(real.collector, SURVEYS["waves"][0])
    page, text = served(f"{real.address}/s/{record.id}?lang={lang}")
    loaded = set(re.findall(r'(?:href|src)="(/v/[^"]+|/api/surveys/[^"]+/plan)"', text.decode()))
    weight = len(page) + sum(len(served(real.address + path)[0]) for path in loaded)
    print(f"{len(loaded) + 1} files, {weight:,} bytes")

    assert len(loaded) > 30 and weight < 60_000


def test_the_client_is_served_as_it_is_published(real: Service) -> None:
    """Byte for byte, compressed or not, and its digest is on the page and in DIGESTS.txt."""
    record = opened(real.collector, SURVEYS["choice by OLH"][0])
    text = served(f"{real.address}/s/{record.id}")[1].decode()
    published = (client_folder() / "DIGESTS.txt").read_text(encoding="utf-8")
    (prefix,) = set(re.findall(r'"(/v/[0-9a-f]{16})/static/collector.css', text))
    for name, content in client_modules().items():
        for path in (f"{prefix}/client/{name}", f"/client/{name}"):
            assert served(real.address + path)[1] == served(real.address + path, "identity")[0] == content
        assert f"{hashlib.sha256(content).hexdigest()}  {name}\n" in published

    assert client_digest() in text and client_digest() in published


def test_an_invitation_that_nobody_gave_out_is_refused(real: Service) -> None:
    record = opened(real.collector, SURVEYS["invitations"][0])
    link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}&t={'0' * 32}"

    with pytest.raises(CollectorRefusal) as refusal:
        SurveyClient(link).answer("yes")

    assert refusal.value.code == "unknown-link"
    assert real.collector.refusals(record) == {}, "no report was sent"


def test_for_an_invitation_that_was_used_nothing_is_drawn(real: Service, tmp_path: Path) -> None:
    """By another program: the collector would see a second report, and not count it."""
    record = opened(real.collector, SURVEYS["invitations"][0])
    link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}&t={token_for(real.collector, record)}"
    file = tmp_path / "answer.json"

    assert SurveyClient(link).answer("yes").stored == "now"
    for client in (SurveyClient(link), SurveyClient(link, file=file)):
        with pytest.raises(CollectorRefusal) as refusal:
            client.answer("no")
        assert refusal.value.code == "spent"
        with pytest.raises(InvalidParameter, match="no report to send"):
            client.send()
    assert real.collector.refusals(record) == {}
