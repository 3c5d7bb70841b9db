"""A respondent in Python: fetch a survey, randomise the answer here, send the report until it is acknowledged.

    link      https://host/s/SURVEY#p=<start of the plan's digest>&t=<token of a one-time link>

What follows # is never sent to a server: it says which plan was promised, and the client refuses another one. Between
tries it keeps the report and nothing else. Answers and words are in no message, no log and no receipt.

>>> client = SurveyClient(link, file=folder / "my-answer.json")
>>> receipt = client.answer("yes")
>>> receipt.stored
'now'

With `file` the token and the report are on the disk before they are sent. A program that was killed, or that no
collector answered in time, goes on with the same report (`send`), and nobody answers a wave twice:

>>> SurveyClient(link, file=folder / "my-answer.json").answer("yes")
Traceback (most recent call last):
    ...
murmure.core.errors.InvalidParameter: this client has already made its report for wave 1 of survey abc123def456.
  Hint: a second one would cost epsilon again
"""

from __future__ import annotations

import json
import re
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmure.collector.client_file import ClientFile, KeptState
from murmure.collector.client_requests import CollectorRefusal, CollectorRequests
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanMismatch, PlanRefused, shorten
from murmure.core.random import fresh_key
from murmure.local.rappor import RAPPOR, MemoisedClient
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import answer, sent

PATH = re.compile(r"(?P<base>.*)/s/(?P<id>[a-z0-9]{12})/?")
TOKEN = re.compile("[0-9a-f]{32}")
DIGEST = re.compile("[0-9a-f]{16,64}")


@dataclass(frozen=True)
class SurveyReceipt:
    """What was sent, and that it was stored. Never the answer, the words or the token."""

    survey: str
    wave: int
    plan: str  # the digest of the plan that the report answers
    report: Any  # as it was sent
    stored: str  # "now", or "before" where an earlier try had arrived


class SurveyClient:
    """One respondent of one survey, by the link that they were given.

    key: for surveys in several waves, at least 16 secret bytes of this device, the same in every wave. `seen` (codes of
    the answers reported so far, `client.seen` of the last session) is as secret. values: how many distinct answers may
    be reported over all waves; each costs the survey's total epsilon again. at_most: the largest epsilon that is
    accepted. token: on open links the one that this device made for this wave; one-time links carry theirs. file: where
    the token and the report are kept between runs, for their owner only; without it they end with the program.
    """

    def __init__(
        self,
        address: str,
        *,
        key: bytes | None = None,
        seen: Iterable[int] = (),
        values: int = 1,
        at_most: float | None = None,
        token: str | None = None,
        file: str | Path | None = None,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self.address, base, self.id, link = read_link(address)
        self._promised = link["p"]
        self._token, self._one_time = link.get("t") or token, "t" in link
        if self._token is not None and not TOKEN.fullmatch(self._token):
            raise InvalidParameter("SurveyClient.token must be 32 hexadecimal digits in lower case.")
        self._key, self._codes, self._values, self._at_most = key, list(seen), values, at_most
        self._requests = CollectorRequests(base, wait)
        self._memoised: MemoisedClient | None = None
        self._pending: dict[str, Any] | None = None  # a report that is not acknowledged yet
        self._answered: set[int] = set()  # waves for which a report was drawn and settled
        self._file = None if file is None else ClientFile(file, self.id)
        with self._alone():
            pass  # what an earlier run kept is read now

    @property
    def seen(self) -> list[int]:
        """Codes of the answers reported on in all waves: the person's secret, kept with the key."""
        return sorted(self._codes) if self._memoised is None else self._memoised.seen

    @property
    def token(self) -> str | None:
        """What lets this device, and no other, send the same report again: a secret of the device."""
        return self._token

    def survey(self) -> dict[str, Any]:
        """What is asked, as the collector describes it."""
        fields = self._requests.get_json(f"/api/surveys/{self.id}")
        wave, document = fields.get("wave"), fields.get("survey")
        if fields.get("id") != self.id or type(wave) is not int or not isinstance(document, dict):
            raise InvalidParameter("the collector at {base} does not describe a survey.", base=self._requests.base)
        return fields

    def plan(self) -> Plan[Any]:
        """The plan of the survey, if it is the one that the link promises."""
        plan = Plan.from_json(self._requests.get(f"/api/surveys/{self.id}/plan"), self._at_most)
        if not plan.digest.startswith(self._promised):
            raise PlanMismatch(
                "the link promises plan {promised}, and the collector serves plan {digest}.",
                hint="ask the person who sent the link, and do not answer until it is explained",
                promised=self._promised[:12],
                digest=plan.digest[:12],
            )
        if plan.person is None or plan.parties is not None:
            raise PlanRefused(
                "Plan refused: it does not randomise answers where they are given, for one collector.",
                hint="this client sends no answer in the clear",
            )
        return plan

    def answer(self, answers: Any) -> SurveyReceipt:
        """Randomise once and send. For several questions `answers` maps each name to its answer.

        Each wave is answered once: after an error on the way `send()` sends the same report again.
        """
        with self._alone():
            return self._answer(answers)

    def _answer(self, answers: Any) -> SurveyReceipt:
        self._refuse_pending()
        survey, plan = self.survey(), self.plan()
        wave = survey["wave"]
        if wave != 1 and not isinstance(plan.person, RAPPOR):
            raise PlanRefused(
                "Plan refused: the collector asks for wave {wave} of a plan without memoised answers.",
                hint="each wave would cost epsilon again: ask the person who sent the link, and do not answer",
                wave=wave,
            )
        if survey.get("state") != "open":
            raise CollectorRefusal("survey {id} takes no answers now ({code}).", id=self.id, code="not-open")
        if wave in self._answered:
            raise InvalidParameter(
                "this client has already made its report for wave {wave} of survey {id}.",
                hint="a second one would cost epsilon again",
                wave=wave,
                id=self.id,
            )
        if not self._one_time and self._answered:
            self._token = None  # so that nobody sees by it that the reports of two waves come from one device
        if self._token is None:
            if survey.get("link") != "open":
                raise InvalidParameter("this survey takes one-time links only, and this link has no token (t=).")
            self._token = fresh_key()[:16].hex()
        if survey.get("link") == "invitations":
            self._refuse_used_link()
        self._keep()  # before coins are asked for: nobody tries tokens until the coins suit them
        try:
            report = self._report(plan, survey["survey"], answers)
        except OutsideDomain:  # its sentence shows the answer, and applications log errors
            raise OutsideDomain(
                "an answer is not one that the survey allows; wanted {domain}.",
                hint="nothing was sent",
                domain=plan.person.domain.describe(),
            ) from None
        self._pending = {"token": self._token, "wave": wave, "plan": plan.digest, "report": report}
        self._keep()
        return self._send()

    def _refuse_used_link(self) -> None:
        """For a link that has sent its report, or was not given out, nothing is drawn: the collector would see a report
        that it does not count, and another one tells more."""
        body = json.dumps({"token": self._token}).encode()
        if self._requests.post(f"/api/surveys/{self.id}/link", body, "used")["used"]:
            raise CollectorRefusal(
                "this link to survey {id} has already sent a report ({code}).",
                hint="nothing was drawn: the report that came first is kept",
                id=self.id,
                code="spent",
            )

    def send(self) -> SurveyReceipt:
        """Send the report that was drawn, until it is acknowledged."""
        with self._alone():
            return self._send()

    def _send(self) -> SurveyReceipt:
        pending = self._pending
        if pending is None:
            raise InvalidParameter("this client has no report to send.", hint="client.answer(...) makes one")
        body = json.dumps(pending, separators=(",", ":")).encode()
        try:
            reply = self._requests.post(f"/api/surveys/{self.id}/reports", body, "stored")
        except CollectorRefusal:
            # It would be refused each time; and it was shown, so another one would cost epsilon again.
            self._close(pending)
            raise
        self._close(pending)
        return SurveyReceipt(self.id, pending["wave"], pending["plan"], pending["report"], str(reply["stored"]))

    def _close(self, pending: Mapping[str, Any]) -> None:
        self._pending = None
        self._answered.add(pending["wave"])
        self._keep()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process works with the file meanwhile, and what the last one kept is known."""
        if self._file is None:
            yield
            return
        with self._file.alone() as state:
            if state.token is not None and self._token not in (None, state.token):
                raise InvalidParameter(
                    "{path!r} belongs to another link to this survey.",
                    hint="name another file for each link",
                    path=str(self._file.path),
                )
            self._token = state.token or self._token
            self._answered |= set(state.answered)
            pending = state.pending or self._pending
            self._pending = None if pending is None or pending["wave"] in self._answered else pending
            yield

    def _keep(self) -> None:
        if self._file is not None:
            self._file.write(KeptState(self.id, self._token, self._pending, sorted(self._answered)))

    def _refuse_pending(self) -> None:
        if self._pending is not None:
            raise InvalidParameter(
                "this client has a report that has not been acknowledged yet.",
                hint="client.send() sends it again; another one would cost epsilon again",
            )

    def _report(self, plan: Plan[Any], document: Mapping[str, Any], answers: Any) -> Any:
        names = _question_names(document)
        if not plan.of_records and isinstance(answers, Mapping):
            if set(answers) != set(names) or len(names) != 1:
                raise InvalidParameter(
                    "the answers must be to {names}, got {got}.",
                    names=", ".join(names),
                    got=shorten(sorted(map(str, answers))),
                )
            answers = answers[names[0]]
        if isinstance(plan.person, RAPPOR):
            return self._memoised_report(plan, names[0] if names else "", answers)
        coins = None
        if plan.coins == "collector":
            coins = self._register()
        return answer(plan, answers, coins=coins)["report"]

    def _register(self) -> list[str]:
        """The public coins of the token, which is fixed and counted before they are known. The report is sent with the
        token that comes with them."""
        assert self._token is not None
        body = json.dumps({"token": self._token}).encode()
        reply = self._requests.post(f"/api/surveys/{self.id}/coins", body, "coins")
        token = reply.get("token")
        if not isinstance(token, str) or not TOKEN.fullmatch(token) or token[:16] != self._token[:16]:
            raise InvalidParameter(
                "the collector at {base} did not register the token of this client.", base=self._requests.base
            )
        self._token = token
        return list(reply["coins"])

    def _memoised_report(self, plan: Plan[Any], name: str, value: Any) -> Any:
        """From bits that are kept for this device, survey and question."""
        if self._key is None:
            raise InvalidParameter(
                "survey {id} has several waves, so SurveyClient needs the key of this device.",
                hint="SurveyClient(address, key=os.urandom(32)), and the same key in every wave",
                id=self.id,
            )
        if self._memoised is None or self._memoised.mechanism != plan.person:
            question = f"{self.id}:{name}"
            self._memoised = plan.person.client(self._key, question, values=self._values, seen=self.seen)
        data = self._memoised.report(value)
        return sent(plan, Reports(data, plan.digest, seeded=False))[0]["report"]

    def __repr__(self) -> str:
        return f"SurveyClient({self.address!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a SurveyClient does not travel: it holds a token, and may hold a key")


def read_link(address: Any) -> tuple[str, str, str, dict[str, str]]:
    """The address without its fragment, the collector's, the survey's id, and what the fragment says."""
    try:
        parts = urllib.parse.urlsplit(address if isinstance(address, str) else "")
    except ValueError:  # brackets that are not an address
        parts = urllib.parse.urlsplit("")
    path = PATH.fullmatch(parts.path)
    link = dict(urllib.parse.parse_qsl(parts.fragment))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or path is None:
        raise InvalidParameter(
            "SurveyClient.address must be the link of a survey.",
            hint='SurveyClient("https://host/s/ID#p=...&t=...")',  # the link itself may hold a token
        )
    if not DIGEST.fullmatch(link.get("p", "")):
        raise InvalidParameter(
            "SurveyClient.address does not say which plan it promises (#p=...).",
            hint="take the whole link, with what follows #",
        )
    base = urllib.parse.urlunsplit((parts.scheme, parts.netloc, path["base"], "", ""))
    return f"{base}/s/{path['id']}", base, path["id"], link


def _question_names(document: Mapping[str, Any]) -> list[str]:
    questions = document.get("questions")
    listed = questions if isinstance(questions, list) else []
    return [str(question["name"]) for question in listed if isinstance(question, dict) and "name" in question]
