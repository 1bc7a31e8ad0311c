"""Answers of receivers that are no answers, and what customers read then: sentences of ours, no text of a library."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio

from tests.receiver import Receiver, open_receiver

INVALID = "answer is no valid HTTP."
NOTHING = "closed the connection without an answer."
TOO_LONG = "answer has too long headers."
OK = b"HTTP/1.1 200 OK\r\n"
# What is sent before the connection is closed, and the end of the sentence about it.
BROKEN = {
    "another protocol": (OK.replace(b"200 OK", b"101 Switching Protocols") + b"Upgrade: x\r\n\r\n", INVALID),
    "garbage": (b"\0\1\2 garbage\r\n\r\n", INVALID),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", INVALID),
    "an impossible status": (b"HTTP/1.1 999999 OK\r\n\r\n", INVALID),
    "a TLS alert": (b"\x15\x03\x01\x00\x02\x02\x16", INVALID),
    "nothing": (b"", NOTHING),
    "half a status line": (b"HTTP/1.1 20", NOTHING),
    "half a header": (OK + b"Content-Le", NOTHING),
    "a length that is no number": (OK + b"Content-Length: x\r\n\r\n", INVALID),
    "two lengths": (OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nfine", INVALID),
    "a header without end": (OK + b"X: " + b"x" * 200_000, TOO_LONG),
    "headers without end": (OK + b"X: yyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 10_000, TOO_LONG),
    "a redirect to nowhere": (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", "an address that is not valid."),
}
# Words of httpx, httpcore, h11, OpenSSL, smtplib and the operating system.
_FOREIGN = re.compile(
    r"_SWITCH|bytearray|illegal|Error|Exception|disconnected|Receive buffer|Server |peer closed|Content-Length|Errno"
    r"|SSL|_ssl|verify failed|mismatch|Connection (?:refused|unexpectedly)|all attempts|timed out|local issuer"
)


@asynccontextmanager
async def open_broken(answer: bytes) -> AsyncGenerator[Receiver]:
    """Open a receiver that sends these bytes as its answer, and closes the connection."""

    async def send_and_close(stream: trio.abc.Stream) -> None:
        await stream.send_all(answer)
        await stream.aclose()

    async with open_receiver() as receiver:
        receiver.answering = send_and_close
        yield receiver


def assert_in_our_words(text: str | None) -> None:
    """Fail unless a text is a sentence of ours."""
    assert text is not None
    assert re.fullmatch(r"[A-Z].*\.", text), text
    assert not _FOREIGN.search(text), text
