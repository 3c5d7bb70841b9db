"""On an open link with public coins a token is registered, and counted, before anybody sees its coins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.documents import REGION, SURVEYS, document, opened, sent_report
from tests.collector.service.collectors import store

from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(tmp_path / "surveys") as made:
        yield made


@pytest.mark.parametrize("name", ["choice by OLH", "several"])
def test_a_token_without_coins_sends_nothing(collector: Collector, name: str) -> None:
    """Else a forger would try tokens until the coins of one suit a report: one try in three for a column of three."""
    survey, answer = SURVEYS[name]
    record = opened(collector, survey)
    report = sent_report(collector, record, answer)["report"]
    reception = collector.reception(record.id)
    codes, sentences = set(), set()
    for _ in range(50):
        with pytest.raises(RequestRefused) as refused:
            reception.arrival(os.urandom(16).hex(), report)
        codes.add(refused.value.code)
        sentences.add(str(refused.value))

    assert codes == {"no-coins"} and len(sentences) == 1  # and nothing is told about the coins of a token


def test_every_token_that_gets_coins_is_counted_once(tmp_path: Path) -> None:
    """Also over a restart; a device that asks again, with the token that it got, is not counted again."""
    with Collector(tmp_path) as collector:
        record = opened(collector, SURVEYS["choice by OLH"][0])
        tokens = [collector.coins(record.id, os.urandom(16).hex())[0] for _ in range(7)]
        for token in tokens[:3]:
            assert collector.coins(record.id, token)[0] == token
        assert collector.coins_given(record) == 7
    with Collector(tmp_path) as collector:
        record = collector.public(record.id)
        collector.coins(record.id, os.urandom(16).hex())

        assert collector.coins_given(record) == 8
        assert collector.results(record).registered == 8
        assert collector.results(record).to_json()["registered"] == 8


def test_the_analyst_sees_how_often_coins_were_given_out(collector: Collector) -> None:
    """Next to the number of reports; where there are no coins nothing is said about them."""
    shown = {}
    for name in ("choice by OLH", "yes-no"):
        record = opened(collector, SURVEYS[name][0])
        for _ in range(3):
            store(collector, record, sent_report(collector, record, SURVEYS[name][1]))
        for _ in range(5 if name == "choice by OLH" else 0):
            collector.coins(record.id, os.urandom(16).hex())
        collector.intake.flush()
        shown[name] = " ".join(str(collector.results(record)).split())

    assert "given out 8 times, for 3 reports" in shown["choice by OLH"]
    assert "coins were given out" not in shown["yes-no"] and "forged" in shown["yes-no"]


def test_coins_of_links_are_for_the_links_that_were_given_out(collector: Collector) -> None:
    record = opened(collector, document(REGION, mechanism="OLH", link="invitations"))
    token = collector.invitations(record, 1)[0]

    assert collector.coins(record.id, token)[0] == token
    with pytest.raises(RequestRefused) as refused:
        collector.coins(record.id, os.urandom(16).hex())
    assert refused.value.code == "unknown-link" and collector.coins_given(record) == 0
