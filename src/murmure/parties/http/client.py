"""A party's connection to the coordinator: one that is kept open, and opened again when it is lost.

What is sent was stored before, so it can be sent twice. Nothing that comes back is trusted here: the size and the time
of an answer are limited, redirects are not followed, and every message is verified later, by its receiver.
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

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.parties.http.address import Address
from murmure.parties.party.refusals import StudyEnded, Unreachable, Untrusted
from murmure.parties.study.json_codec import MAX_STUDY_BYTES
from murmure.secure import errors as protocol

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0  # in addition to the seconds that a poll waits
FIRST_PAUSE, MAX_PAUSE = 0.1, 5.0  # seconds between two tries
MAX_ERROR_BYTES = 1 << 16
CHUNK_BYTES = 1 << 16
EMPTY_PAUSE = 0.2  # seconds after an empty answer that came at once
GREETING_SECONDS = 3.0  # for an answer to the handshake of TLS
MIN_BYTES_PER_SECOND = 20_000
# What OpenSSL reports where there was not even a handshake.
NO_TLS_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
LOST_ERRORS = (OSError, http.client.HTTPException)  # a connection that broke, or an answer that was cut short


@dataclass
class Client:
    """Not for several threads. patience: seconds without an answer after which it gives up."""

    address: Address
    ca: str | os.PathLike[str] | None = None
    patience: float = 600.0
    log: Callable[[str], None] = lambda line: None
    _connection: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)

    def study(self) -> bytes:
        """The signed study."""
        return self._ask("GET", "/study", b"", MAX_STUDY_BYTES)

    def send(self, message: bytes) -> None:
        """Returns when the coordinator has it."""
        self._ask("POST", "/messages", message, MAX_ERROR_BYTES)

    def inbox(self, ask: Callable[[], bytes], wait: int, max_bytes: int) -> list[bytes]:
        """The messages after those received; none, if none came for `wait` seconds. ask: called for every try."""
        started = time.monotonic()
        messages = _unpack(self._ask("POST", f"/inbox?wait={wait}", ask, max_bytes, wait))
        if not messages and wait and time.monotonic() - started < EMPTY_PAUSE:
            time.sleep(EMPTY_PAUSE)  # a server that answers at once with nothing is not polled without a pause
        return messages

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- one request, repeated until it is answered ------------------------------------------------

    def _ask(
        self, method: str, path: str, body: bytes | Callable[[], bytes], max_bytes: int, wait: float = 0.0
    ) -> bytes:
        gives_up_at, pause = time.monotonic() + self.patience, FIRST_PAUSE
        while True:
            is_new = self._connection is None
            try:
                return self._once(method, path, body() if callable(body) else body, max_bytes, wait)
            except ssl.SSLCertVerificationError as error:
                self.close()
                raise Untrusted(
                    "the certificate of {url} cannot be trusted: {verify_message}.",
                    hint="--ca names the file of the authority that signed it",
                    url=self.address.url,
                    verify_message=error.verify_message,
                ) from None
            except LOST_ERRORS as error:
                self.close()
                if isinstance(error, ssl.SSLError) and error.reason in NO_TLS_REASONS:
                    raise Untrusted(
                        "{url} does not answer with TLS, although https was requested.",
                        hint="ask the coordinator for the address; if it serves without a certificate, it is "
                        "http{address_url} (to another machine with --plain-http)",
                        url=self.address.url,
                        address_url=self.address.url.removeprefix("https"),
                    ) from None
                if is_new and self.address.scheme == "http" and _no_http_answer(error) and self._speaks_tls():
                    raise Untrusted(
                        "{url} answers with TLS, but http was requested.",
                        hint="write https{address_url}; --ca names the file of the "
                        "authority that signed its certificate, if the system does not know it",
                        url=self.address.url,
                        address_url=self.address.url.removeprefix("http"),
                    ) from None
                if time.monotonic() + pause > gives_up_at:
                    raise Unreachable(
                        "{url} does not answer ({why}).",
                        hint="check the address, and that the coordinator is serving; then run the same command "
                        "again: it starts, or resumes where it stopped",
                        url=self.address.url,
                        why=_why(error),
                    ) from None
                if not is_new and pause == FIRST_PAUSE:
                    pause = 1.001 * FIRST_PAUSE  # a kept connection that the other side closed is opened again at once
                    continue
                self.log(f"no answer ({_why(error)}), again in {pause:.1f} s")
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE)

    def _speaks_tls(self) -> bool:
        """Whether a server that closed the connection without an answer speaks TLS. Only a handshake is sent."""
        context = ssl.create_default_context()
        # Only whether TLS is spoken: nothing is trusted here.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with (
                socket.create_connection((self.address.host, self.address.port), GREETING_SECONDS) as sock,
                context.wrap_socket(sock, server_hostname=self.address.host),
            ):
                return True
        except (OSError, ValueError):
            return False

    def _once(self, method: str, path: str, body: bytes, max_bytes: int, wait: float) -> bytes:
        if self._connection is not None and self._connection.sock is None:
            self.close()  # http.client closed it after the last answer
        connection = self._connection = self._connection or self._connect()
        assert connection.sock is not None
        connection.sock.settimeout(wait + ANSWER_SECONDS)
        with Deadline(connection.sock, wait + max(1.0, min(2 * ANSWER_SECONDS, self.patience))) as deadline:
            connection.request(
                method, self.address.path + path, body or None, {"Content-Type": "application/octet-stream"}
            )
            answer = connection.getresponse()
            text = self._read(answer, max_bytes if answer.status == 200 else MAX_ERROR_BYTES, deadline)
        if answer.status == 200:
            return text
        self._raise_refusal(answer.status, text)

    def _connect(self) -> http.client.HTTPConnection:
        target: Any = {"host": self.address.host, "port": self.address.port, "timeout": CONNECT_SECONDS}
        connection: http.client.HTTPConnection
        if self.address.scheme == "https":
            connection = http.client.HTTPSConnection(**target, context=self._context())
        else:
            connection = http.client.HTTPConnection(**target)
        connection.connect()
        if connection.sock is not None and connection.sock.family != getattr(socket, "AF_UNIX", None):
            # Messages are small, and each is waited for.
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=None if self.ca is None else os.fspath(self.ca))
        except (OSError, ssl.SSLError) as error:
            raise InvalidParameter(
                "{ca!r} cannot be read as certificates ({why}).",
                hint="--ca takes a PEM file",
                ca=str(self.ca),
                why=_why(error),
            ) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def _read(self, answer: http.client.HTTPResponse, max_bytes: int, deadline: Deadline) -> bytes:
        """The whole answer, unless it is larger or slower than it may be."""
        if answer.length is None and not answer.chunked:  # every answer has a length: the header was cut short
            raise http.client.IncompleteRead(b"")
        if answer.length is not None and answer.length > max_bytes:
            self._raise_too_large(max_bytes)
        parts, size = [], 0
        while part := answer.read1(CHUNK_BYTES):
            size += len(part)
            if size > max_bytes:
                self._raise_too_large(max_bytes)
            parts.append(part)
            deadline.received(len(part))
        if answer.length:  # read1 cannot tell the end from a broken connection
            raise http.client.IncompleteRead(b"", answer.length)
        answer.close()  # which keeps the connection
        return b"".join(parts)

    def _raise_too_large(self, max_bytes: int) -> NoReturn:
        self.close()
        raise Untrusted(
            "the answer of {url} is larger than {max_bytes} bytes, the maximum.",
            hint="is this the coordinator's address?",
            url=self.address.url,
            max_bytes=max_bytes,
        )

    def _raise_refusal(self, status: int, body: bytes) -> NoReturn:
        # Raised as a lost connection, so that the request is tried again.
        if status in (502, 503, 504, 429):  # a proxy whose coordinator is starting, or a busy coordinator
            raise http.client.HTTPException(f"HTTP {status}")
        if 300 <= status < 400:
            self.close()
            raise Untrusted(
                "{url} redirects elsewhere (HTTP {status}); redirects are not followed.",
                hint="ask the coordinator for the right address",
                url=self.address.url,
                status=status,
            )
        name, reason = _parse_error(body)
        if status == 410:
            raise StudyEnded(
                "the study has ended: {reason}.", hint="nothing from this party can be added any more", reason=reason
            )
        # Only names of our own protocol errors become classes.
        kind = getattr(protocol, name, None)
        if isinstance(kind, type) and issubclass(kind, protocol.ProtocolRefused):
            raise kind("the coordinator refused a message: {reason}.", reason=reason)
        if status == 500:
            raise http.client.HTTPException("HTTP 500")
        raise Untrusted(
            "{url} answered HTTP {status}: {reason}.",
            hint="is this the coordinator's address?",
            url=self.address.url,
            status=status,
            reason=reason,
        )


class Deadline:
    """A time limit for a whole exchange: that of a socket begins again with every byte.

    A long answer over a slow network has time, as long as it comes faster than MIN_BYTES_PER_SECOND.
    """

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock, self._until = sock, time.monotonic() + seconds
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._wait, daemon=True)

    def received(self, size: int) -> None:
        self._until += size / MIN_BYTES_PER_SECOND

    def _wait(self) -> None:
        while (left := self._until - time.monotonic()) > 0:
            if self._over.wait(left):
                return
        with suppress(OSError):
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)  # a read that waits ends at once

    def __enter__(self) -> Deadline:
        self._watch.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._watch.join()


def _parse_error(body: bytes) -> tuple[str, str]:
    """The name and the message of an error, as far as they can be printed: a stranger wrote them."""
    try:
        fields = json.loads(body)
        name, text = str(fields["error"]), str(fields["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", "no reason is given"
    clean = "".join(letter if letter.isprintable() else " " for letter in text.split("\n")[0])
    return name, clean[:300].strip().rstrip(".")


def _unpack(raw: bytes) -> list[bytes]:
    """u32 count, then each message with its u32 length."""
    try:
        (count,), at, out = struct.unpack_from("<I", raw), 4, []
        for _ in range(count):
            (length,) = struct.unpack_from("<I", raw, at)
            at += 4 + length
            if at > len(raw):
                raise Untrusted("an answer of the coordinator is truncated.")
            out.append(raw[at - length : at])
    except struct.error:
        raise Untrusted("an answer of the coordinator is truncated.") from None
    if at != len(raw):
        raise Untrusted("an answer of the coordinator is longer than its stated length.")
    return out


def _no_http_answer(error: BaseException) -> bool:
    """Whether there was a connection, and what came over it was nothing, or not HTTP."""
    # RemoteDisconnected is a BadStatusLine.
    return isinstance(
        error, http.client.BadStatusLine | http.client.IncompleteRead | ConnectionResetError | BrokenPipeError
    )


def _why(error: BaseException) -> str:
    if isinstance(error, MurmureError):
        return str(error)
    if isinstance(error, TimeoutError):
        return Phrase("no answer in time")
    if isinstance(error, ssl.SSLError):
        return Phrase("TLS: {reason}", reason=shorten(error.reason or "failed", 80))
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return shorten(str(error) or type(error).__name__, 80)
