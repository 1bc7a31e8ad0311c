"""h11's parser of requests, made as strict as RFC 9112 allows.

h11 accepts lines that end with LF alone, and headers that are folded over several lines. A proxy in front of Gatehouse
may see another request in such bytes, so they are refused. Two things that h11 refuses are accepted: an empty line
before a request, and bytes after the last request of a connection.

`StrictConnection` overrides private parts of h11, so pyproject.toml pins its minor version
(ops/decisions/0115-private-parts-of-the-stack.md).

Nearly every request is plain: its head has the simplest form of each of its parts. Such a request is parsed here by one
regular expression, which accepts less than h11 does, and h11 sees neither it nor its response; that saves most of the
time that h11 takes. What is not plain goes to h11, and so does the rest of an exchange that began plain as soon as
something unusual happens in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import h11
from h11._receivebuffer import ReceiveBuffer

# Browsers and proxies send some thirty. Each takes time to parse, and 16 KiB have room for thousands.
HEADERS_MAX: Final = 100
_LAST: Final = (h11.MUST_CLOSE, h11.CLOSED)
_TOO_LARGE_STATUS: Final = 431

_PLAIN_HEAD: Final = re.compile(
    rb"(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (/[\x21-\x7e]*) HTTP/1\.1\r\n"
    rb"((?:[-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n"
)
_PLAIN_HOST: Final = re.compile(rb"[A-Za-z0-9.-]+(?::[0-9]+)?")
_PLAIN_LENGTH: Final = re.compile(rb"[0-9]{1,9}")
# Headers by which h11 decides how a body ends, whether the connection stays open, and with which protocol.
_NEVER_PLAIN: Final = frozenset({b"transfer-encoding", b"upgrade", b"expect"})
_PLAIN_RESPONSE: Final = re.compile(
    rb"HTTP/1\.1 [0-9]{3} \r\n(?:[-!#$%&'*+.^_`|~0-9a-z]+: [\t\x20-\x7e\x80-\xff]*\r\n)*"
)
_WITHOUT_BODY: Final = frozenset({204, 304})


@dataclass(slots=True)
class PlainRequest:
    """A plain request; the names of its headers are in lower case, and `missing` bytes of its body are to come."""

    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    missing: int

    def head_of_the_missing(self) -> bytes:
        """Return the head of the same request with no more of a body than the missing part."""
        lines = [b"%b %b HTTP/1.1\r\n" % (self.method, self.target)]
        for name, value in self.headers:
            lines.append(b"%b: %b\r\n" % (name, b"%d" % self.missing if name == b"content-length" else value))
        return b"".join(lines) + b"\r\n"


class StrictConnection(h11.Connection):
    """The server's side of one connection."""

    def __init__(self, *, head_bytes_max: int) -> None:
        super().__init__(h11.SERVER, head_bytes_max)
        self._receive_buffer = _StrictBuffer()
        self._has_skipped_line = False
        self._head_bytes_max = head_bytes_max
        # The plain request that is being answered, of which h11 does not know.
        self._plain: PlainRequest | None = None

    @property
    def is_between_requests(self) -> bool:
        """Whether no request has begun: none is being answered, and no part of the next one has arrived."""
        return self._awaits_head and not self._receive_buffer

    @property
    def plain(self) -> PlainRequest | None:
        """The plain request that is being answered; None when there is none, or when h11 continues with it."""
        return self._plain

    @property
    def has_unread(self) -> bool:
        """Whether bytes have arrived that belong to no event yet."""
        return bool(self._receive_buffer)

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
        return self.their_state is h11.IDLE and self.our_state is h11.IDLE and self._plain is None

    def take_plain(self) -> PlainRequest | None:
        """Take a plain request out of what has arrived, if it begins with one, with as much of its body."""
        if self._awaits_head:
            self._plain = self._receive_buffer.extract_plain(self._head_bytes_max)
        return self._plain

    def take_body(self) -> bytes:
        """Take what has arrived of the missing part of the plain request's body."""
        assert self._plain is not None, "no plain request is being answered"
        part = self._receive_buffer.extract_at_most(self._plain.missing)
        self._plain.missing -= len(part)
        return part

    def plain_response(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bytes | None:
        """Return the head of the response to the plain request; `end_plain` follows when it is sent with its body.

        Return None when h11 has to send it: to another request, before all of the body has arrived, or when it has a
        header about the connection.
        """
        request = self._plain
        if request is None or request.missing:
            return None
        length = None
        lines = [b"HTTP/1.1 %d \r\n" % status]
        for name, value in headers:
            if name == b"connection":
                return None
            if name == b"content-length":
                length = value
            lines.append(b"%b: %b\r\n" % (name, value))
        head = b"".join(lines)
        has_no_body = status in _WITHOUT_BODY or request.method == b"HEAD"
        is_framed = not body if has_no_body else length == b"%d" % len(body)
        # No value may end its line and begin another one.
        is_plain = head.count(b"\n") == len(lines) and _PLAIN_RESPONSE.fullmatch(head) is not None
        return head + b"\r\n" if is_framed and is_plain else None

    def end_plain(self) -> None:
        """Prepare for the next request after the response to a plain one."""
        self._plain = None
        self._has_skipped_line = False

    def hand_over(self) -> None:
        """Let h11 continue with the plain request that is being answered, if there is one."""
        if self._plain is None:
            return
        request, self._plain = self._plain, None
        # h11 parses the head, as if the missing part were all of the body.
        self._receive_buffer.put_back(request.head_of_the_missing())
        super().next_event()
        if not request.missing:
            super().next_event()

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
    """The bytes that are not parsed yet.

    A head may arrive byte by byte, so the searches in it go on where they stopped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begin_again()

    def extract_plain(self, head_bytes_max: int) -> PlainRequest | None:
        """Extract a plain request, if the bytes begin with a whole one."""
        if self._head_end() < 0:
            return None
        found = _PLAIN_HEAD.match(self._data)
        if found is None or found.end() > head_bytes_max:
            return None
        method, target, lines = found.groups()
        plain = _plain_headers(lines)
        if plain is None:
            return None
        headers, length = plain
        self._extract(found.end())
        body = self.extract_at_most(length)
        return PlainRequest(method, target, headers, body, length - len(body))

    def extract_at_most(self, count: int) -> bytes:
        """Extract bytes, fewer if fewer have arrived."""
        return bytes(self._extract(min(count, len(self._data)))) if count else b""

    def put_back(self, data: bytes) -> None:
        """Put bytes before those that are not parsed yet."""
        self._data[:0] = data
        # Also the searches of the base class begin again.
        self._extract(0)

    def skip_empty_line(self) -> bool:
        """Remove an empty line at the beginning; return whether there was one."""
        is_there = self._data.startswith(b"\r\n")
        if is_there:
            self._extract(2)
        return is_there

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Extract the head of a request, or trailers; raise for lines that proxies may read differently."""
        if not self._data.startswith(b"\r\n"):
            end = self._head_end()
            self._require_strict_lines(end + 2 if end >= 0 else len(self._data))
        return super().maybe_extract_lines()

    def is_next_line_obviously_invalid_request_line(self) -> bool:
        """Return whether no request begins like this; the first half of an empty line may still become one."""
        return bytes(self._data[:2]) != b"\r" and super().is_next_line_obviously_invalid_request_line()

    def _extract(self, count: int) -> bytearray:
        self._begin_again()
        return super()._extract(count)

    def _begin_again(self) -> None:
        # How far no head ends; how far the lines were checked, and how many have ended there.
        self._searched = self._checked = self._line_ends = 0

    def _head_end(self) -> int:
        """Return where the empty line after a head begins, with the end of the line before it; -1 without one."""
        end = self._data.find(b"\r\n\r\n", max(0, self._searched - 3))
        if end < 0:
            self._searched = len(self._data)
        return end

    def _require_strict_lines(self, end: int) -> None:
        """Raise for lines up to here that proxies may read differently, and for too many of them."""
        # With the last byte that was checked, which may be the first one of what is searched for.
        added, begins_at = self._data[max(0, self._checked - 1) : end], 1 if self._checked else 0
        ends = added.count(b"\r\n")
        if added.count(b"\n", begins_at) != ends:
            raise h11.LocalProtocolError("a line ends with LF alone")
        if b"\n " in added or b"\n\t" in added:
            raise h11.LocalProtocolError("a header is folded over several lines")
        self._checked, self._line_ends = end, self._line_ends + ends
        if self._line_ends > HEADERS_MAX + 1:
            raise h11.LocalProtocolError("too many headers", error_status_hint=_TOO_LARGE_STATUS)


def _plain_headers(lines: bytes) -> tuple[list[tuple[bytes, bytes]], int] | None:
    """Return the headers in these lines and the length of the body; None if one of them is not plain."""
    headers: list[tuple[bytes, bytes]] = []
    hosts = lengths = length = 0
    for line in lines.split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        headers.append((name, value))
        if name == b"host":
            hosts += 1
            is_plain = _PLAIN_HOST.fullmatch(value) is not None
        elif name == b"content-length":
            lengths += 1
            is_plain = _PLAIN_LENGTH.fullmatch(value) is not None
            length = int(value) if is_plain else 0
        elif name == b"connection":
            is_plain = value.lower() == b"keep-alive"
        else:
            is_plain = name not in _NEVER_PLAIN
        if not is_plain:
            return None
    return (headers, length) if hosts == 1 and lengths <= 1 and len(headers) <= HEADERS_MAX else None
