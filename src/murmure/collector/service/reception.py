"""What a report must be to be accepted: of an open survey, of its plan and wave, from a link that may send it.

One `Reception` serves one open survey. It checks a report in pure Python, in microseconds, and turns it into what the
intake stores. Nothing is stored here.
"""

from __future__ import annotations

import threading
from typing import Any

import msgspec

from murmure.collector.intake.arrival import Arrival
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.keys import ServiceKey
from murmure.collector.service.links import TOKEN, SurveyTokens
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.errors import MurmureError
from murmure.plan.public_coins import check_coins, coin_words, coins_in_hex
from murmure.plan.sent_reports import report_check

_encode = msgspec.json.Encoder().encode


class Reception:
    """The checks of one open survey in its present wave."""

    def __init__(self, record: SurveyRecord, key: ServiceKey) -> None:
        self.record, self.plan = record, record.plan
        self.digest, self.wave, self.number = self.plan.digest, record.wave, record.number
        self.tokens = SurveyTokens(key, record.id)
        self.by_invitation = record.survey.link == "invitations"
        self.gives_coins = self.plan.coins == "collector"
        self._check = report_check(self.plan)
        self.lock, self.closed = threading.Lock(), False  # so that nothing is submitted once it is closed

    def check_token(self, token: Any) -> None:
        """Refuse a token that may not send a report."""
        text = _check_form(token)
        if self.by_invitation:
            self._check_invitation(text)
        elif self.gives_coins and not self.tokens.is_signed(text):
            raise RequestRefused(
                "no-coins",
                "this token was not registered before its report was drawn.",
                hint="ask for public coins first, and send the report with the token that comes with them",
            )

    def link_digest(self, token: Any) -> bytes:
        """What is stored of the token of a one-time link."""
        if not self.by_invitation:
            raise RequestRefused("state", "this survey has an open link, and no invitations.")
        text = _check_form(token)
        self._check_invitation(text)
        return self.tokens.digest(text, self.wave)

    def register(self, token: Any) -> tuple[str, list[str], bool]:
        """The token that may send a report, its public words, and whether this is its registration.

        A device that asks again, with the token that it got, gets the same coins and is not counted again.
        """
        if not self.gives_coins:
            raise RequestRefused("state", "this survey has no public coins to give out.")
        text = _check_form(token)
        if self.by_invitation:
            self._check_invitation(text)
        signed = self.tokens.sign(text)
        return signed, coins_in_hex(self._coin_words(signed)), signed != text

    def _check_invitation(self, token: str) -> None:
        if not self.tokens.is_signed(token):
            raise RequestRefused(
                "unknown-link",
                "this link was not given out for this survey.",
                hint="copy the whole address from the invitation, with everything after the #",
            )

    def _coin_words(self, token: str) -> list[int]:
        return coin_words(self.plan, self.tokens.coins(token, self.digest))

    def check_plan(self, plan: Any, wave: Any) -> None:
        if plan != self.digest:
            raise RequestRefused(
                "other-plan",
                "this report is for a different plan from the one of this survey, {digest}.",
                hint="reload the page; a report that was drawn for another plan cannot be counted",
                digest=self.digest[:12],
            )
        if wave != self.wave or isinstance(wave, bool):
            raise RequestRefused(
                "other-wave", "this survey is now in wave {wave}.", hint="reload the page", wave=self.wave
            )

    def arrival(self, token: Any, report: Any) -> Arrival:
        """What the intake stores of this report; refuses what the plan's law cannot draw, and other coins."""
        self.check_token(token)
        try:
            self._check(report)
            if self.gives_coins:
                check_coins(self.plan, self._coin_words(token), report)
        except MurmureError as error:
            raise bad_report(error) from None
        return Arrival(self.number, self.wave, self.tokens.digest(token, self.wave), _encode(report))


def _check_form(token: Any) -> str:
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise RequestRefused("unknown-link", "a token must be 32 hexadecimal digits.", hint="follow the link again")
    return token


def bad_report(error: MurmureError) -> RequestRefused:
    """The same sentences, as a refusal of a request."""
    refused = RequestRefused("bad-report", "{why}", why=error.message)
    refused.hint = error.hint
    return refused
