"""A collector in memory, for tests of pages: the answering page, its files and the four public routes, over HTTP/1.1.

python -m tests.collector.pages.small_collector [port]      serves the surveys of this file, to look at
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from murmure.collector.pages.answer_page import answer_page
from murmure.collector.pages.shell import POLICY
from murmure.collector.pages.static_files import FOREVER, static_files
from murmure.collector.survey.survey import Survey

PAGE, API = re.compile(r"/s/([a-z0-9]{12})"), re.compile(r"/api/surveys/([a-z0-9]{12})(?:/(plan|coins|reports|link))?")
FILE = re.compile(r"(?:/v/[0-9a-f]{16})?/((?:static|client)/[a-z0-9_.]+)")

CHEATED = {
    "name": "cheated",
    "kind": "yes-no",
    "text": {"en": "Have you ever cheated in an exam?", "fr": "Avez-vous déjà triché à un examen ?"},
}
OFTEN = {
    "name": "often",
    "kind": "choice",
    "text": {"en": "How do you come to school?", "fr": "Comment venez-vous à l’école ?"},
    "options": [
        {"value": value, "label": {"en": en, "fr": fr}}
        for value, en, fr in [
            ("walk", "On foot", "À pied"),
            ("bike", "By bicycle", "À vélo"),
            ("bus", "By bus or tram", "En bus ou en tram"),
            ("car", "In somebody’s car", "En voiture, avec quelqu’un"),
            ("other", "In some other way", "Autrement"),
        ]
    ],
}
AGREE = {
    "name": "agree",
    "kind": "scale",
    "text": {"en": "I feel safe at work.", "fr": "Je me sens en sécurité au travail."},
    "options": [
        {"value": str(i), "label": {"en": en, "fr": fr}}
        for i, (en, fr) in enumerate(
            [
                ("Not at all", "Pas du tout"),
                ("Rather not", "Plutôt non"),
                ("Neither", "Ni l’un ni l’autre"),
                ("Rather", "Plutôt oui"),
                ("Completely", "Tout à fait"),
            ]
        )
    ],
}
HOURS = {
    "name": "hours",
    "kind": "number",
    "text": {
        "en": "How many hours did you sleep last night?",
        "fr": "Combien d’heures avez-vous dormi la nuit dernière ?",
    },
    "low": 0,
    "high": 16,
    "step": 0.1,
    "unit": {"en": "hours", "fr": "heures"},
}
TOWNS = {
    "name": "town",
    "kind": "choice",
    "text": {"en": "Which town do you live in?", "fr": "Dans quelle commune habitez-vous ?"},
    "options": [{"value": f"t{i}", "label": {"en": f"Town {i}", "fr": f"Commune {i}"}} for i in range(1000)],
}
TITLES = {"en": "A question one does not like to answer", "fr": "Une question à laquelle on n’aime pas répondre"}
INTRO = {
    "en": "Your teacher asks the whole school. Only the share of the school is of interest, not you.",
    "fr": "Votre professeur interroge toute l’école. Seule la proportion compte, pas vous.",
}


def document(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {
        "murmure_survey": 1,
        "title": TITLES,
        "intro": INTRO,
        "questions": list(questions),
        "people": 500,
        "epsilon": 1.0,
    }
    return {**base, "waves": 1, "epsilon_total": None, "mechanism": None, "link": "open", **more}


def survey_id(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name).ljust(12, "0")[:12]


DOCUMENTS = {
    "yesno": document(CHEATED),
    "invited": document(CHEATED, link="invitations"),
    "choice": document(OFTEN),
    "oue": document(OFTEN, mechanism="OUE"),
    "commas": document({**OFTEN, "options": ["Never, or almost never", "Now and then, but seldom"]}, mechanism="OUE"),
    "subset": document(OFTEN, mechanism="SubsetSelection"),
    "hadamard": document(OFTEN, mechanism="HadamardResponse"),
    "scale": document(AGREE, title={"en": "Safety at work", "fr": "La sécurité au travail"}),
    "number": document(HOURS, title={"en": "Sleep", "fr": "Le sommeil"}),
    "piecewise": document(HOURS, mechanism="Piecewise", title={"en": "Sleep", "fr": "Le sommeil"}),
    "hybrid": document(HOURS, mechanism="Hybrid", title={"en": "Sleep", "fr": "Le sommeil"}),
    "squarewave": document(HOURS, mechanism="SquareWave", title={"en": "Sleep", "fr": "Le sommeil"}),
    "duchi": document(HOURS, mechanism="Duchi", title={"en": "Sleep", "fr": "Le sommeil"}),
    "blh": document(OFTEN, mechanism="BLH"),
    "sue": document(OFTEN, mechanism="SUE"),
    "mixed": document(CHEATED, OFTEN, HOURS, mechanism="smp", epsilon=3.0),
    "mixedall": document(CHEATED, AGREE, HOURS, mechanism="spl"),
    "fakes": document(CHEATED, OFTEN, AGREE, mechanism="rsfd-oue-r"),
    "adp": document(CHEATED, OFTEN, TOWNS, mechanism="adp"),
    "invitedwaves": document(OFTEN, waves=4, epsilon_total=2.0, link="invitations"),
    "smp": document(CHEATED, OFTEN, AGREE, mechanism="smp"),
    "spl": document(CHEATED, OFTEN, AGREE, mechanism="spl"),
    "rsfd": document(CHEATED, OFTEN, AGREE, mechanism="rsfd-grr"),
    "waves": document(OFTEN, waves=4, epsilon_total=2.0),
    "olh": document(OFTEN, mechanism="OLH", epsilon=2.0),
    "towns": document(TOWNS, mechanism="GRR"),
    "english": document({**CHEATED, "text": {"en": "Only in English?"}}, title={"en": "One language"}, intro={}),
}


def registered(token: str) -> str:
    """As the collector signs it, but for the key."""
    return token[:16] + "5" * 16


class SmallCollector:
    """What was received, and what the next requests are answered instead (`faults`)."""

    def __init__(self) -> None:
        self.surveys = {survey_id(name): Survey.from_dict(value) for name, value in DOCUMENTS.items()}
        self.states: dict[str, str] = {}
        self.waves: dict[str, int] = {}
        self.used: set[str] = set()  # tokens of links that were used before
        self.unknown: set[str] = set()  # tokens that were not given out
        self.bodies: list[bytes] = []  # of every POST of a report, also those that were refused
        self.stored: dict[tuple[str, int, str], Any] = {}
        self.coin_tokens: list[str] = []
        self.faults: list[tuple[int, dict[str, str], Any]] = []  # JSON, or the text of a page of somebody else
        self.address = ""
        self.plan_text: dict[str, str] = {}  # served instead of the real one
        self.plan_digest: dict[str, str] = {}  # named by the page instead of the real one

    def link(self, name: str, lang: str = "en", token: str | None = None, p: str | None = None) -> str:
        survey = survey_id(name)
        prefix = self.surveys[survey].plan.digest[:16] if p is None else p
        return f"{self.address}/s/{survey}?lang={lang}#p={prefix}" + (f"&t={token}" if token else "")

    def state(self, survey: str) -> str:
        return self.states.get(survey, "open")

    def page(self, survey: str, lang: str) -> str:
        asked = self.surveys[survey]
        coins = getattr(asked.plan, "coins", "person") == "collector"
        return answer_page(
            asked.to_dict(),
            survey,
            state=self.state(survey),
            wave=self.waves.get(survey, 1),
            digest=self.plan_digest.get(survey, asked.plan.digest),
            coins=coins,
            lang="fr" if lang == "fr" else "en",
        )

    def coins(self, survey: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        from murmure.plan.public_coins import coin_words, coins_in_hex

        self.coin_tokens.append(body["token"])
        words = (int(body["token"], 16) * (i + 3) * 0x9E3779B97F4A7C15 % 2**64 for i in range(10**6))
        coins = coins_in_hex(coin_words(self.surveys[survey].plan, iter(words)))
        return 200, {"ok": True, "coins": coins, "token": registered(body["token"])}

    def store(self, survey: str, raw: bytes) -> tuple[int, dict[str, Any]]:
        self.bodies.append(raw)
        body = json.loads(raw)
        if self.state(survey) != "open":
            return 409, refusal("not-open", 409)
        if body["plan"] != self.surveys[survey].plan.digest:
            return 409, refusal("other-plan", 409)
        key = (survey, body["wave"], body["token"])
        known = self.stored.setdefault(key, body["report"])
        if known is not body["report"] and known != body["report"]:
            return 409, refusal("spent", 409)
        before = sum(raw == other for other in self.bodies) > 1 and known is not body["report"]
        return (200, {"ok": True, "stored": "before"}) if before else (201, {"ok": True, "stored": "now"})


def refusal(code: str, status: int) -> dict[str, Any]:
    return {"ok": False, "error": code, "message": f"refused: {code}", "hint": None, "status": status}


def handler_of(collector: SmallCollector) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
            small = gzip.compress(content, 9) if len(content) > 200 else None
            self.send_response(status)
            for name, value in {
                "Content-Type": kind,
                "Content-Security-Policy": POLICY,
                "Content-Length": str(len(small or content)),
                **({"Content-Encoding": "gzip"} if small else {}),
                **({"Cache-Control": "no-store"} | (headers or {})),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(small or content)

        def json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
            self.answer(status, json.dumps(value).encode(), "application/json", headers)

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if (page := PAGE.fullmatch(path)) and page[1] in collector.surveys:
                html = collector.page(page[1], "fr" if "lang=fr" in query else "en")
                self.answer(200, html.encode(), "text/html; charset=utf-8")
            elif (api := API.fullmatch(path)) and api[2] == "plan":
                text = collector.plan_text.get(api[1]) or collector.surveys[api[1]].plan.to_json()
                self.answer(200, text.encode(), "application/json")
            elif (file := FILE.fullmatch(path)) and (found := static_files().get(file[1])):
                self.answer(200, found.content, found.kind, {"Cache-Control": FOREVER})
            else:
                self.json(404, refusal("not-found", 404))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            api = API.fullmatch(self.path)
            if api is None:
                self.json(404, refusal("not-found", 404))
            elif api[2] == "link" and json.loads(raw)["token"] in collector.unknown:
                self.json(403, refusal("unknown-link", 403))
            elif api[2] == "link":
                self.json(200, {"ok": True, "used": json.loads(raw)["token"] in collector.used})
            elif collector.faults:
                status, headers, value = collector.faults.pop(0)
                if api[2] == "reports":
                    collector.bodies.append(raw)
                if isinstance(value, str):
                    self.answer(status, value.encode(), "text/html", headers)
                else:
                    self.json(status, value, headers)
            elif api[2] == "coins":
                self.json(*collector.coins(api[1], json.loads(raw)))
            else:
                self.json(*collector.store(api[1], raw))

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


@contextmanager
def running(port: int = 0) -> Iterator[SmallCollector]:
    collector = SmallCollector()
    server = ThreadingHTTPServer(("127.0.0.1", port), handler_of(collector))
    collector.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with running(int(sys.argv[1]) if len(sys.argv) > 1 else 8123) as collector:
        for name in DOCUMENTS:
            print(collector.link(name, token="00112233445566778899aabbccddeeff" if name == "invited" else None))
        threading.Event().wait()
