"""An analyst who looks at the live figures, on a connection beside those of respondents."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field

from surveys import ANALYST, PASSWORD

PAUSE = 0.5  # seconds between two looks: four times as often as the page looks


@dataclass
class Answer:
    status: int
    head: str
    body: bytes
    milliseconds: float

    def header(self, name: str) -> str:
        lines = (line.partition(": ") for line in self.head.split("\r\n"))
        return next((value for key, _, value in lines if key.lower() == name), "")


class Browser:
    """One connection, with the cookie of a session once it is signed in."""

    def __init__(self, host: str, port: int) -> None:
        self._address, self._cookie = (host, port), ""

    async def ask(self, path: str, body: object = None, **headers: str) -> Answer:
        if not hasattr(self, "_lines"):
            self._lines = await asyncio.open_connection(*self._address, limit=1 << 24)
        reader, writer = self._lines
        raw = b"" if body is None else json.dumps(body).encode()
        told = {"Host": "bench", "Content-Type": "application/json", "Content-Length": str(len(raw))} | headers
        if self._cookie:
            told["Cookie"] = self._cookie
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in told.items())
        begun = time.perf_counter()
        writer.write(f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\n{head}\r\n".encode() + raw)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        status = int(answer[9:12])
        got = Answer(status, answer, b"", 0)
        got.body = await reader.readexactly(int(got.header("content-length") or 0))
        got.milliseconds = 1000 * (time.perf_counter() - begun)
        return got

    async def sign_in(self) -> None:
        answer = await self.ask("/api/session", {"name": ANALYST, "password": PASSWORD})
        if answer.status != 200:
            raise RuntimeError(f"signing in was answered with {answer.status}")
        self._cookie = answer.header("set-cookie").partition(";")[0]


@dataclass
class Looks:
    """Milliseconds of every look. changed: the figures were computed anew; unchanged: the answer is that they are the
    same; whole: the page with everything around them."""

    changed: list[float] = field(default_factory=list)
    unchanged: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    async def take(self, host: str, port: int, survey: str, over: asyncio.Event) -> None:
        browser = Browser(host, port)
        await browser.sign_in()
        path, known = f"/surveys/{survey}/live?lang=en&wave=1", ""
        while not over.is_set():
            answer = await browser.ask(path, If_None_Match=known)
            self._note(answer, known)
            known = answer.header("etag")
            self._note(await browser.ask(path, If_None_Match=known), known)  # at once: most often it is the same
            whole = await browser.ask(f"/surveys/{survey}?lang=en")
            if whole.status != 200:
                raise RuntimeError(f"the survey's page was answered with {whole.status}")
            self.whole.append(whole.milliseconds)
            await asyncio.sleep(PAUSE)

    def _note(self, answer: Answer, known: str) -> None:
        if answer.status == 200 and answer.header("etag") != known:
            self.changed.append(answer.milliseconds)
        elif answer.status == 304:
            self.unchanged.append(answer.milliseconds)
        else:
            raise RuntimeError(f"the live figures were answered with {answer.status}")
