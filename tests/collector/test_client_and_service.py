"""The client in Python answers a real collector, every kind of survey: what was acknowledged is what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.documents import SURVEYS, opened, token_for
from tests.collector.http.services import Service, service

from murmure.collector.client import SurveyClient
from murmure.collector.client_requests import CollectorRefusal
from murmure.core.errors import PlanRefused

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


def test_an_invitation_that_nobody_gave_out_is_refused(real: Service) -> None:
    record = opened(real.collector, SURVEYS["invitations"][0])
    link = f"{real.address}/s/{record.id}#p={record.plan.digest[:16]}&t={'0' * 32}"

    with pytest.raises(CollectorRefusal) as refusal:
        SurveyClient(link).answer("yes")

    assert refusal.value.code == "unknown-link"
