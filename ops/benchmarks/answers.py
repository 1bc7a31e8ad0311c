"""The answers of a server on a connection that a measurement has opened itself."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final

import trio

from ops.benchmarks.servers import CannotMeasure

HEAD_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer."""

    status: int
    body_bytes: int
    _: KW_ONLY
    is_last: bool
    has_retry_after: bool


async def receive_answer(stream: trio.abc.ReceiveStream) -> Head:
    """Receive one complete answer, and return its head."""
    received = b""
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > HEAD_BYTES_MAX:
            raise CannotMeasure("The head of an answer is too long.")
        received += await _receive_some(stream)
    head = parse_head(received[:end])
    missing_bytes = end + 4 + head.body_bytes - len(received)
    while missing_bytes > 0:
        missing_bytes -= len(await _receive_some(stream))
    return head


async def _receive_some(stream: trio.abc.ReceiveStream) -> bytes:
    data = bytes(await stream.receive_some())
    if not data:
        raise trio.BrokenResourceError("the server closed the connection before it had answered")
    return data


def parse_head(head: bytes) -> Head:
    """Parse the head of an answer."""
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(first.split()[1])
    if "content-length" not in headers and status not in {204, 304}:
        raise CannotMeasure("An answer has no Content-Length.")
    return Head(
        status=status,
        body_bytes=int(headers.get("content-length", 0)),
        is_last=headers.get("connection", "").lower() == "close",
        has_retry_after="retry-after" in headers,
    )
