"""h11's parser of requests, made as strict as RFC 9112 allows.

h11 accepts lines that end with LF alone, and headers that are folded over several lines. A proxy in front of Gatehouse
may see another request in such bytes, so they are refused. Two things that h11 refuses are accepted: an empty line
before a request, and bytes after the last request of a connection.

`StrictConnection` overrides private parts of h11, so pyproject.toml pins its minor version.
"""

from __future__ import annotations

from typing import Final

import h11
from h11._receivebuffer import ReceiveBuffer

# Browsers and proxies send some thirty. Each takes time to parse, and 16 KiB have room for thousands.
HEADERS_MAX: Final = 100
_LAST: Final = (h11.MUST_CLOSE, h11.CLOSED)
_TOO_LARGE_STATUS: Final = 431


class StrictConnection(h11.Connection):
    """The server's side of one connection."""

    def __init__(self, *, head_bytes_max: int) -> None:
        super().__init__(h11.SERVER, head_bytes_max)
        self._receive_buffer = _StrictBuffer()
        self._has_skipped_line = False

    @property
    def is_between_requests(self) -> bool:
        """Whether no request has begun: none is being answered, and no part of the next one has arrived."""
        return self._awaits_head and not self._receive_buffer

    @property
    def has_partial_head(self) -> bool:
        """Whether a part of the next request's line and headers has arrived."""
        return self._awaits_head and bool(self._receive_buffer)

    @property
    def has_last_request(self) -> bool:
        """Whether the client has sent the last request of this connection, all of it."""
        return self.their_state in _LAST

    @property
    def _awaits_head(self) -> bool:
        return self.their_state is h11.IDLE and self.our_state is h11.IDLE

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the client, `b""` for the end; what follows the last request is not part of any."""
        if not self.has_last_request:
            super().receive_data(data)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Parse the next event; raise `h11.RemoteProtocolError` for a malformed request."""
        if self.has_last_request:
            return h11.NEED_DATA
        if self.their_state is h11.IDLE and not self._has_skipped_line:
            # Some clients send an empty line after a body (RFC 9112, 2.2).
            self._has_skipped_line = self._receive_buffer.skip_empty_line()
        return super().next_event()

    def start_next_cycle(self) -> None:
        """Prepare for the next request."""
        super().start_next_cycle()
        self._has_skipped_line = False


class _StrictBuffer(ReceiveBuffer):
    """The bytes that are not parsed yet."""

    def skip_empty_line(self) -> bool:
        """Remove an empty line at the beginning; return whether there was one."""
        is_there = self._data.startswith(b"\r\n")
        if is_there:
            self._extract(2)
        return is_there

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Extract the head of a request, or trailers; raise for lines that proxies may read differently."""
        if not self._data.startswith(b"\r\n"):
            end = self._data.find(b"\r\n\r\n")
            _require_strict_lines(self._data[: end + 2] if end >= 0 else self._data)
        return super().maybe_extract_lines()

    def is_next_line_obviously_invalid_request_line(self) -> bool:
        """Return whether no request begins like this; the first half of an empty line may still become one."""
        return bytes(self._data[:2]) != b"\r" and super().is_next_line_obviously_invalid_request_line()


def _require_strict_lines(lines: bytearray) -> None:
    ends = lines.count(b"\r\n")
    if lines.count(b"\n") != ends:
        raise h11.LocalProtocolError("a line ends with LF alone")
    if b"\n " in lines or b"\n\t" in lines:
        raise h11.LocalProtocolError("a header is folded over several lines")
    if ends > HEADERS_MAX + 1:
        raise h11.LocalProtocolError("too many headers", error_status_hint=_TOO_LARGE_STATUS)
