"""The collector without HTTP: what respondents may send, what analysts may do, and what is written on the disk."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.collector.documents import CHEATED, OFTEN, SURVEYS, document, opened, sent_report, token_for
from tests.collector.service.collectors import HASHER, store

from murmure.collector.intake.arrival import Outcome
from murmure.collector.service import analysts
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import CollectorFailed, RequestRefused
from murmure.collector.service.keys import KEY_FILE
from murmure.plan.sent_reports import received


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(tmp_path / "surveys") as made:
        yield made


@pytest.mark.parametrize("name", SURVEYS)
def test_results_are_those_of_the_reports(collector: Collector, name: str) -> None:
    """The tally that grew report by report, and a plan that reads all reports at once, give the same figures."""
    survey, answer = SURVEYS[name]
    record = opened(collector, survey)
    sent = [sent_report(collector, record, answer) for _ in range(30)]

    assert store(collector, record, *sent) == [Outcome.STORED] * 30
    collector.intake.flush()
    release = collector.results(record).release
    assert release is not None
    at_once = record.plan.estimate(received(record.plan, [{"plan": s["plan"], "report": s["report"]} for s in sent]))

    assert collector.results(record).n == 30
    assert json.loads(release.to_json())["figures"] == json.loads(at_once.to_json())["figures"]
    collector.intake.check()


@pytest.mark.parametrize("name", ["choice by OLH", "several"])
def test_a_report_with_other_coins_is_refused(collector: Collector, name: str) -> None:
    """A forger who chose the hash or the column: the same report under another token."""
    survey, answer = SURVEYS[name]
    record = opened(collector, survey)
    reception = collector.reception(record.id)
    refused = 0
    for _ in range(20):
        sent = sent_report(collector, record, answer)
        try:
            reception.arrival(token_for(collector, record), sent["report"])
        except RequestRefused as error:
            refused += error.code == "bad-report"

    # A random hash agrees with probability 2**-14 and less; a column of three is the same one time in three, so none of
    # 20 is refused with probability 3**-20.
    assert refused == 20 if name == "choice by OLH" else refused > 0


def test_coins_follow_from_the_token_and_the_survey(collector: Collector) -> None:
    record, other = (opened(collector, SURVEYS["choice by OLH"][0]) for _ in range(2))
    token, another = (os.urandom(16).hex() for _ in range(2))

    assert collector.coins(record.id, token) == collector.coins(record.id, token)
    assert collector.coins(record.id, token)[1] != collector.coins(record.id, another)[1]
    assert collector.coins(record.id, token)[1] != collector.coins(other.id, token)[1]


def test_coins_are_uniform(collector: Collector) -> None:
    """Of 2,000 tokens each bit of the first word is set 1,000 times, within 5 standard deviations: a right generator
    fails for one of 64 bits with probability 64 * 6e-7 = 4e-5."""
    record = opened(collector, SURVEYS["choice by OLH"][0])
    words = [int(collector.coins(record.id, os.urandom(16).hex())[1][0], 16) for _ in range(2000)]
    ones = np.array([[word >> bit & 1 for bit in range(64)] for word in words]).sum(axis=0)

    assert np.abs(ones - 1000).max() < 5 * np.sqrt(500)


def test_a_link_sends_one_report(collector: Collector) -> None:
    record = opened(collector, SURVEYS["invitations"][0])
    sent = sent_report(collector, record, "yes")
    other = {**sent, "report": 1 - sent["report"]}

    assert store(collector, record, sent) == [Outcome.STORED]
    assert store(collector, record, sent, other) == [Outcome.BEFORE, Outcome.SPENT]
    collector.intake.flush()
    assert collector.results(record).n == 1


def test_a_token_that_was_not_given_out_is_refused(collector: Collector) -> None:
    record, other = (opened(collector, SURVEYS["invitations"][0]) for _ in range(2))
    good = collector.invitations(record, 1)[0]
    flipped = f"{int(good, 16) ^ 1:032x}"
    reception = collector.reception(record.id)
    reception.check_token(good)

    for forged in (os.urandom(16).hex(), flipped, good.upper(), good[:-1], None, collector.invitations(other, 1)[0]):
        with pytest.raises(RequestRefused) as refused:
            reception.check_token(forged)
        assert refused.value.code == "unknown-link"


def test_each_wave_takes_a_report_of_a_token(collector: Collector) -> None:
    record = opened(collector, SURVEYS["waves"][0])
    sent = sent_report(collector, record, "yes")
    store(collector, record, sent)
    second = collector.next_wave(record)

    with pytest.raises(RequestRefused) as refused:
        store(collector, second, sent)
    assert refused.value.code == "other-wave"
    assert store(collector, second, {**sent, "wave": 2}) == [Outcome.STORED]
    collector.intake.flush()
    assert [collector.results(second, wave).n for wave in (1, 2, 3)] == [1, 1, 0]


def test_a_closed_survey_takes_nothing_even_from_those_who_were_let_in(collector: Collector) -> None:
    record = opened(collector, document(CHEATED))
    reception = collector.reception(record.id)
    sent = sent_report(collector, record, "yes")
    arrival = reception.arrival(sent["token"], sent["report"])
    collector.close_survey(record)

    with pytest.raises(RequestRefused) as late:
        collector.store(reception, [arrival], lambda outcomes: None)
    with pytest.raises(RequestRefused) as later:
        collector.reception(record.id)
    assert late.value.code == later.value.code == "not-open"
    assert collector.results(collector.public(record.id)).n == 0


def test_closing_counts_all_that_was_acknowledged(collector: Collector) -> None:
    """While reports arrive from another thread: whatever was acknowledged is in the results of the closed survey."""
    record = opened(collector, document(CHEATED))
    reception = collector.reception(record.id)
    acknowledged, refused, started = [], threading.Event(), threading.Event()

    def respond() -> None:
        for _ in range(100_000):
            sent = sent_report(collector, record, "yes")
            try:
                collector.store(reception, [reception.arrival(sent["token"], sent["report"])], acknowledged.append)
            except RequestRefused:
                refused.set()
                return
            started.set()

    thread = threading.Thread(target=respond)
    thread.start()
    started.wait(10)
    closed = collector.close_survey(record)
    counted = collector.results(closed).n
    thread.join()

    assert refused.is_set() and counted == len(acknowledged) > 0


def test_an_open_survey_never_changes(collector: Collector) -> None:
    record = opened(collector, document(CHEATED))

    for change in (
        lambda: collector.surveys.change(record, document(OFTEN)),
        lambda: collector.surveys.remove(record),
        lambda: collector.surveys.open(record),
        lambda: collector.surveys.publish(record),
    ):
        with pytest.raises(RequestRefused) as refused:
            change()
        assert refused.value.code == "state"
    assert collector.public(record.id) == record


def test_the_plan_is_that_of_the_moment_of_opening(collector: Collector) -> None:
    """A later release may choose another mechanism: what was opened is what is counted."""
    record = opened(collector, document(OFTEN))

    assert record.plan_text == record.survey.plan.to_json()
    assert collector.public(record.id).plan.digest == record.plan.digest


def test_a_draft_is_its_authors_alone(collector: Collector) -> None:
    marie, paul = (collector.analysts.create(name, "a long password") for name in ("marie", "paul"))
    draft = collector.surveys.create(marie.number, document(CHEATED))
    words = []
    for survey_id in (draft.id, "abcdefghijkm"):
        with pytest.raises(RequestRefused) as public:
            collector.public(survey_id)
        with pytest.raises(RequestRefused) as foreign:
            collector.owned(paul, survey_id)
        words.append((public.value.code, str(public.value), foreign.value.code, str(foreign.value)))

    assert collector.owned(marie, draft.id) == draft
    assert words[0] == words[1]  # whether it exists cannot be told


def test_nothing_that_names_a_person_is_on_the_disk(tmp_path: Path) -> None:
    """Not the token, not the cookie, not the password; and reports survive a restart."""
    folder = tmp_path / "surveys"
    with Collector(folder) as collector:
        record = opened(collector, SURVEYS["invitations"][0])
        sent = sent_report(collector, record, "yes")
        store(collector, record, sent)
        cookie = collector.analysts.sign_in("marie", "a long password")
        collector.intake.flush()
        written = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    for secret in (sent["token"], cookie, "a long password"):
        assert secret.encode() not in written
        assert not all(letter in "0123456789abcdef" for letter in secret) or bytes.fromhex(secret) not in written
    assert record.id.encode() in written  # the search finds what is there

    with Collector(folder) as again:
        assert again.results(again.public(record.id)).n == 1
        assert store(again, record, sent) == [Outcome.BEFORE]


def test_a_database_without_its_key_is_refused(tmp_path: Path) -> None:
    with Collector(tmp_path):
        pass
    (tmp_path / KEY_FILE).unlink()

    with pytest.raises(CollectorFailed, match=KEY_FILE):
        Collector(tmp_path)


def test_refusals_are_counted_by_reason_and_kept(tmp_path: Path) -> None:
    with Collector(tmp_path) as collector:
        record = opened(collector, document(CHEATED))
        collector.reception(record.id)
        collector.count_refusal(record.id, "spent")
        collector.count_refusal(record.id, "bad-report", 2)
        collector.count_refusal("nothing", "not-found")
        assert collector.refusals(record) == {"spent": 1, "bad-report": 2}
    with Collector(tmp_path) as collector:
        assert collector.refusals(record) == {"spent": 1, "bad-report": 2}


def test_the_wrong_password_and_the_wrong_name_are_refused_alike(collector: Collector) -> None:
    collector.analysts.create("marie", "a long password")
    told = []
    for name, password in (("marie", "another password"), ("nobody", "a long password"), ("marie", "")):
        with pytest.raises(RequestRefused) as refused:
            collector.analysts.sign_in(name, password)
        told.append((refused.value.code, str(refused.value)))

    assert len(set(told)) == 1 and told[0][0] == "sign-in"


def test_passwords_are_kept_as_argon2id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the settings of RFC 9106 for little memory; a name that does not exist takes as long to refuse."""
    monkeypatch.setattr(analysts, "_hasher", HASHER)
    with Collector(tmp_path) as collector:
        collector.analysts.create("marie", "a long password")
        collector.analysts.sign_in("marie", "a long password")
        with collector.analysts._database.reading() as run:
            ((kept,),) = run('SELECT "password" FROM "analysts"')

    assert all(one.startswith("$argon2id$v=19$m=65536,t=3,p=4$") for one in (kept, collector.analysts._nobody))


def test_sessions_end(tmp_path: Path) -> None:
    now = [1_000_000.0]
    with Collector(tmp_path, lambda: now[0]) as collector:
        analyst = collector.analysts.create("marie", "a long password")
        cookie, other = (collector.analysts.sign_in("marie", "a long password") for _ in range(2))

        assert collector.analysts.of_session(cookie) == analyst
        assert collector.analysts.of_session(cookie[::-1]) is None and collector.analysts.of_session(None) is None
        collector.analysts.close_session(cookie)
        assert collector.analysts.of_session(cookie) is None and collector.analysts.of_session(other) == analyst
        now[0] += 14 * 3600
        assert collector.analysts.of_session(other) is None


def test_a_new_password_ends_the_sessions(collector: Collector) -> None:
    collector.analysts.create("marie", "a long password")
    cookie = collector.analysts.sign_in("marie", "a long password")
    collector.analysts.change_password("marie", "another password")

    assert collector.analysts.of_session(cookie) is None
    with pytest.raises(RequestRefused):
        collector.analysts.sign_in("marie", "a long password")
    collector.analysts.sign_in("marie", "another password")


def test_the_link_of_the_first_account_stays_the_same_until_it_is_used(collector: Collector) -> None:
    analysts = collector.analysts
    token = analysts.setup_token()

    assert token is not None and len(token) == 32 and analysts.setup_token() == token
    analysts.check_setup(token)
    for other in ("", "0" * 32, token[:-1], token.upper() + " "):
        with pytest.raises(RequestRefused, match="this set-up link is no longer valid"):
            analysts.check_setup(other)


def test_the_first_account_is_made_once(collector: Collector) -> None:
    token = collector.analysts.setup_token()
    assert token is not None
    with pytest.raises(RequestRefused):
        collector.analysts.add_first("0" * 32, "eve", "a long password")
    collector.analysts.add_first(token, "marie", "a long password")

    assert collector.analysts.setup_token() is None
    with pytest.raises(RequestRefused):
        collector.analysts.add_first(token, "eve", "a long password")


def test_a_ticket_signs_in_once(collector: Collector) -> None:
    marie = collector.analysts.create("marie", "a long password")
    ticket = collector.analysts.ticket(marie.number)

    assert collector.analysts.of_session(collector.analysts.redeem(ticket)) == marie
    with pytest.raises(RequestRefused):
        collector.analysts.redeem(ticket)


def test_a_request_of_another_site_has_no_token(collector: Collector) -> None:
    collector.analysts.create("marie", "a long password")
    cookie, other = (collector.analysts.sign_in("marie", "a long password") for _ in range(2))
    collector.analysts.check_csrf(cookie, collector.analysts.csrf_token(cookie))

    for wrong in (None, "", collector.analysts.csrf_token(other), "é"):
        with pytest.raises(RequestRefused) as refused:
            collector.analysts.check_csrf(cookie, wrong)
        assert refused.value.code == "forbidden"
