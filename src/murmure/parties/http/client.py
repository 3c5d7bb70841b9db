"""A party's line to the coordinator: one connection that is kept, and made again when it is lost.

What is sent was stored before, so sending it twice is sending it once. Nothing that comes back is believed here:
answers have a size and a time, redirects are not followed, and every message is verified by whom it is for.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.parties.http.address import Address
from murmure.parties.party.refusals import StudyEnded, Unreachable, Untrusted
from murmure.parties.study.json_codec import MAX_STUDY_BYTES
from murmure.secure import errors as protocol

CONNECT = 10.0  # seconds until a connection stands
ANSWER = 30.0  # seconds for an answer, beyond those that it was asked to wait
FIRST_PAUSE, MAX_PAUSE = 0.1, 5.0  # seconds between two tries
MAX_ERROR_BYTES = 1 << 16
CHUNK = 1 << 16
EMPTY = 0.2  # seconds
GREETING = 3.0  # seconds for an answer to the greeting of TLS
MIN_BYTES_PER_SECOND = 20_000  # bytes a second
NO_TLS = (
    "WRONG_VERSION_NUMBER",
    "RECORD_LAYER_FAILURE",
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
)  # not even a greeting
LOST = (OSError, http.client.HTTPException)  # a line that broke, or an answer that was cut


@dataclass
class Client:
    """Not for several threads. patience: seconds without an answer after which it gives up."""

    address: Address
    ca: str | os.PathLike[str] | None = None
    patience: float = 600.0
    log: Callable[[str], None] = lambda line: None
    _line: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)

    def study(self) -> bytes:
        """The signed study, as it stands there."""
        return self._ask("GET", "/study", b"", MAX_STUDY_BYTES)

    def send(self, message: bytes) -> None:
        """Returns when the coordinator has it."""
        self._ask("POST", "/messages", message, MAX_ERROR_BYTES)

    def inbox(self, ask: Callable[[], bytes], wait: int, largest: int) -> list[bytes]:
        """The messages after those that were heard; none, if none came for `wait` seconds. ask: made for every try."""
        begun = time.monotonic()
        messages = _unpacked(self._ask("POST", f"/inbox?wait={wait}", ask, largest, wait))
        if not messages and wait and time.monotonic() - begun < EMPTY:
            time.sleep(EMPTY)  # whoever answers at once with nothing is not asked without a pause
        return messages

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *of: object) -> None:
        self.close()

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    # -- one question, asked until it is answered ------------------------------------------------

    def _ask(self, method: str, path: str, body: bytes | Callable[[], bytes], largest: int, wait: float = 0.0) -> bytes:
        gives_up, pause = time.monotonic() + self.patience, FIRST_PAUSE
        while True:
            fresh = self._line is None
            try:
                return self._once(method, path, body() if callable(body) else body, largest, wait)
            except ssl.SSLCertVerificationError as error:
                self.close()
                raise Untrusted(
                    f"the certificate of {self.address.url} cannot be trusted: {error.verify_message}.",
                    hint="--ca names the file of the authority that signed it",
                ) from None
            except LOST as error:
                self.close()
                if isinstance(error, ssl.SSLError) and error.reason in NO_TLS:
                    raise Untrusted(
                        f"no TLS is spoken at {self.address.url}: https was asked for, and something else answers.",
                        hint=f"ask the coordinator for the address; if it serves without a certificate, it is "
                        f"http{self.address.url.removeprefix('https')} (to another machine with --plain-http)",
                    ) from None
                if fresh and self.address.scheme == "http" and _without_answer(error) and self._speaks_tls():
                    raise Untrusted(
                        f"TLS is spoken at {self.address.url}, and http was asked for.",
                        hint=f"write https{self.address.url.removeprefix('http')}; --ca names the file of the "
                        "authority that signed its certificate, if the system does not know it",
                    ) from None
                if time.monotonic() + pause > gives_up:
                    raise Unreachable(
                        f"{self.address.url} does not answer ({_why(error)}).",
                        hint="check the address, and that the coordinator is serving; then give the same command "
                        "again: it begins, or goes on where it stopped",
                    ) from None
                if not fresh and pause == FIRST_PAUSE:
                    pause = 1.001 * FIRST_PAUSE  # a kept line that the other side closed is made again at once
                    continue
                self.log(f"no answer ({_why(error)}), again in {pause:.1f} s")
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE)

    def _speaks_tls(self) -> bool:
        """Whether whoever closed the line without a word answers the greeting of TLS. Nothing else is sent to it."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # who it is, is asked when it is trusted
        try:
            with (
                socket.create_connection((self.address.host, self.address.port), GREETING) as line,
                context.wrap_socket(line, server_hostname=self.address.host),
            ):
                return True
        except (OSError, ValueError):
            return False

    def _once(self, method: str, path: str, body: bytes, largest: int, wait: float) -> bytes:
        if self._line is not None and self._line.sock is None:  # http.client closed it after the last answer
            self.close()
        line = self._line = self._line or self._connected()
        assert line.sock is not None
        line.sock.settimeout(wait + ANSWER)
        with Deadline(line.sock, wait + max(1.0, min(2 * ANSWER, self.patience))) as deadline:
            line.request(method, self.address.path + path, body or None, {"Content-Type": "application/octet-stream"})
            answer = line.getresponse()
            text = self._read(answer, largest if answer.status == 200 else MAX_ERROR_BYTES, deadline)
        if answer.status == 200:
            return text
        self._refused(answer.status, text)

    def _connected(self) -> http.client.HTTPConnection:
        where: Any = {"host": self.address.host, "port": self.address.port, "timeout": CONNECT}
        line: http.client.HTTPConnection
        if self.address.scheme == "https":
            line = http.client.HTTPSConnection(**where, context=self._context())
        else:
            line = http.client.HTTPConnection(**where)
        line.connect()
        if line.sock is not None and line.sock.family != getattr(socket, "AF_UNIX", None):
            line.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small messages, each awaited
        return line

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=None if self.ca is None else os.fspath(self.ca))
        except (OSError, ssl.SSLError) as error:
            raise InvalidParameter(
                f"{str(self.ca)!r} cannot be read as certificates ({_why(error)}).", hint="--ca takes a PEM file"
            ) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def _read(self, answer: http.client.HTTPResponse, largest: int, deadline: Deadline) -> bytes:
        """All of it, unless it is larger or slower than it may be."""
        if answer.length is None and not answer.chunked:  # every answer has a length: its header was cut
            raise http.client.IncompleteRead(b"")
        if answer.length is not None and answer.length > largest:
            self._too_large(largest)
        parts, size = [], 0
        while part := answer.read1(CHUNK):
            size += len(part)
            if size > largest:
                self._too_large(largest)
            parts.append(part)
            deadline.came(len(part))
        if answer.length:  # read1 tells no end from a line that broke
            raise http.client.IncompleteRead(b"", answer.length)
        answer.close()  # which keeps the line
        return b"".join(parts)

    def _too_large(self, largest: int) -> NoReturn:
        self.close()
        raise Untrusted(
            f"the answer of {self.address.url} is larger than {largest} bytes, which nothing here can be.",
            hint="is this the coordinator's address?",
        )

    def _refused(self, status: int, body: bytes) -> NoReturn:
        if status in (502, 503, 504, 429):  # a proxy whose coordinator is starting, or a busy one
            raise http.client.HTTPException(f"HTTP {status}")
        if 300 <= status < 400:
            self.close()
            raise Untrusted(
                f"{self.address.url} points elsewhere (HTTP {status}), and nothing is sent after it.",
                hint="ask the coordinator for the right address",
            )
        name, said = _said(body)
        if status == 410:
            raise StudyEnded(f"the study has ended: {said}.", hint="nothing of this party can be added any more")
        kind = getattr(protocol, name, None)
        if isinstance(kind, type) and issubclass(kind, protocol.ProtocolRefused):
            raise kind(f"the coordinator refused a message: {said}.")
        if status == 500:
            raise http.client.HTTPException("HTTP 500")
        raise Untrusted(
            f"{self.address.url} answered HTTP {status}: {said}.", hint="is this the coordinator's address?"
        )


class Deadline:
    """For a whole exchange, however it trickles: a socket's own time limit begins again with every byte.

    A long answer over a slow line has time as long as it comes faster than SLOWEST.
    """

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock, self._until = sock, time.monotonic() + seconds
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._wait, daemon=True)

    def came(self, size: int) -> None:
        self._until += size / MIN_BYTES_PER_SECOND

    def _wait(self) -> None:
        while (left := self._until - time.monotonic()) > 0:
            if self._over.wait(left):
                return
        with suppress(OSError):
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)  # whoever reads it finds it ended

    def __enter__(self) -> Deadline:
        self._watch.start()
        return self

    def __exit__(self, *of: object) -> None:
        self._over.set()
        self._watch.join()


def _said(body: bytes) -> tuple[str, str]:
    """The name of an error and what was said, as far as it can be printed: it is a stranger's text."""
    try:
        held = json.loads(body)
        name, text = str(held["error"]), str(held["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", "no reason is given"
    clean = "".join(letter if letter.isprintable() else " " for letter in text.split("\n")[0])
    return name, clean[:300].strip().rstrip(".")


def _unpacked(raw: bytes) -> list[bytes]:
    """u32 count, then each message with its u32 length."""
    try:
        (count,), at, out = struct.unpack_from("<I", raw), 4, []
        for _ in range(count):
            (length,) = struct.unpack_from("<I", raw, at)
            at += 4 + length
            if at > len(raw):
                raise Untrusted("an answer of the coordinator is cut short.")
            out.append(raw[at - length : at])
    except struct.error:
        raise Untrusted("an answer of the coordinator is cut short.") from None
    if at != len(raw):
        raise Untrusted("an answer of the coordinator is longer than it says.")
    return out


def _without_answer(error: BaseException) -> bool:
    """The line was there, and what came over it was nothing, or no HTTP."""
    lost = (http.client.RemoteDisconnected, http.client.BadStatusLine, ConnectionResetError, BrokenPipeError)
    return isinstance(error, (*lost, http.client.IncompleteRead))


def _why(error: BaseException) -> str:
    if isinstance(error, MurmureError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {shorten(error.reason or 'failed', 80)}"
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return shorten(str(error) or type(error).__name__, 80)
