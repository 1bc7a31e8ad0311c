"""Plain requests, which h11 does not see: whatever is parsed as plain, h11 reads alike."""

from __future__ import annotations

from typing import Any, Final

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.web.serving.connection import strict_parsing
from entrypoints.web.serving.connection.strict_parsing import HEADERS_MAX, PlainRequest, StrictConnection

HEAD_BYTES_MAX: Final = 2**14
HOST: Final = b"Host: id.example.com\r\n"

names = st.sampled_from(
    [
        b"Accept",
        b"accept",
        b"Content-Length",
        b"Transfer-Encoding",
        b"Connection",
        b"Host",
        b"X-A",
        b"Expect",
        b"X A",
        b"",
    ]
)
values = st.one_of(
    st.sampled_from(
        [
            b"0",
            b"3",
            b"03",
            b"+3",
            b"3, 3",
            b"3 3",
            b"chunked",
            b"keep-alive",
            b"close",
            b"Keep-Alive, close",
            b"a.b:80",
        ]
    ),
    st.sampled_from(
        [b"a/b", b"a b", b"100-continue", b"\x01", b"\x7f", b"\xe9", b"\x00", b"a\x0bb", b"a\rb", b"a\nb", b""]
    ),
    st.binary(max_size=6),
)
headers = st.tuples(
    names, st.sampled_from([b":", b": ", b":\t", b" :", b""]), values, st.sampled_from([b"", b" ", b"\t "])
)
ends = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"\r\n "])
lines = st.builds(lambda header, end: b"".join(header) + end, headers, ends)
request_lines = st.sampled_from(
    [
        b"GET / HTTP/1.1\r\n",
        b"GET /a?b=%20#c HTTP/1.1\r\n",
        b"POST /a HTTP/1.1\r\n",
        b"HEAD /a HTTP/1.1\r\n",
        b"get / HTTP/1.1\r\n",
        b"GET  / HTTP/1.1\r\n",
        b"GET / HTTP/1.0\r\n",
        b"GET /\xe9 HTTP/1.1\r\n",
        b"GET * HTTP/1.1\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
        b"GET http://a/ HTTP/1.1\r\n",
        b"CONNECT a:1 HTTP/1.1\r\n",
        b"GET / HTTP/1.1\n",
    ]
)


def connection(data: bytes) -> StrictConnection:
    """Return a connection on which these bytes have arrived."""
    made = StrictConnection(head_bytes_max=HEAD_BYTES_MAX)
    made.receive_data(data)
    return made


def read_by_h11(data: bytes) -> tuple[bytes, bytes, list[tuple[bytes, bytes]], bytes, bytes]:
    """Return the method, the target, the headers, the body and what follows, as h11 reads them."""
    parser = connection(data)
    head, body = parser.next_event(), b""
    assert isinstance(head, h11.Request), head
    while isinstance(event := parser.next_event(), h11.Data):
        body += event.data
    assert isinstance(event, h11.EndOfMessage) or event is h11.NEED_DATA, event
    return head.method, head.target, list(head.headers), body, parser.trailing_data[0]


@given(
    line=request_lines,
    before=st.lists(lines, max_size=3),
    host=st.sampled_from([HOST, HOST, HOST, b""]),
    after=st.lists(lines, max_size=3),
    body=st.binary(max_size=8),
)
def test_h11_reads_every_plain_request_alike(
    line: bytes, before: list[bytes], host: bytes, after: list[bytes], body: bytes
) -> None:
    data = b"".join([line, *before, host, *after, b"\r\n", body])
    parser = connection(data)

    plain = parser.take_plain()

    if plain is not None:
        read = (plain.method, plain.target, plain.headers, plain.body, parser.trailing_data[0])
        assert read == read_by_h11(data)


def plain_request(data: bytes) -> tuple[StrictConnection, PlainRequest]:
    parser = connection(data)
    request = parser.take_plain()
    assert request is not None
    return parser, request


def test_the_requests_of_usual_clients_are_plain() -> None:
    _, request = plain_request(
        b"POST /a?b=c HTTP/1.1\r\nHost: id.example.com:8000\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n"
        b"Authorization:Bearer x\r\nX-Empty:\r\n\r\nab"
    )

    assert request == PlainRequest(
        b"POST",
        b"/a?b=c",
        [
            (b"host", b"id.example.com:8000"),
            (b"connection", b"Keep-Alive"),
            (b"content-length", b"2"),
            (b"authorization", b"Bearer x"),
            (b"x-empty", b""),
        ],
        b"ab",
        0,
    )


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        HOST + HOST,
        HOST + b"Content-Length: 1\r\nContent-Length: 1\r\n",
        HOST + b"Content-Length: -1\r\n",
        HOST + b"Content-Length: 1_0\r\n",
        HOST + b"Content-Length: 1234567890\r\n",
        HOST + b"Transfer-Encoding: chunked\r\n",
        HOST + b"Connection: close\r\n",
        HOST + b"Connection: keep-alive, upgrade\r\n",
        HOST + b"Upgrade: websocket\r\n",
        HOST + b"Expect: 100-continue\r\n",
        HOST + b"A: b\r\n c\r\n",
        HOST + b"A : b\r\n",
        HOST + b"A: b\n",
        HOST + b"A: \x00\r\n",
        b"Host: a b\r\n",
        HOST + b"A: b\r\n" * HEADERS_MAX,
        HOST + b"A: " + b"b" * HEAD_BYTES_MAX + b"\r\n",
    ],
)
def test_what_decides_about_the_connection_is_left_to_h11(lines: bytes) -> None:
    assert connection(b"GET / HTTP/1.1\r\n" + lines + b"\r\n").take_plain() is None


def test_a_body_arrives_in_parts_and_what_follows_is_the_next_request() -> None:
    parser, request = plain_request(b"PUT / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nab")

    assert (request.body, request.missing, parser.take_body()) == (b"ab", 3, b"")
    parser.receive_data(b"cdeGET ")

    assert (parser.take_body(), request.missing, parser.trailing_data[0]) == (b"cde", 0, b"GET ")


def test_h11_continues_with_an_exchange_that_began_plain() -> None:
    parser, _ = plain_request(b"PUT / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nab")

    parser.hand_over()
    parser.receive_data(b"cde")

    assert bytes(parser.next_event().data) == b"cde"  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(parser.next_event(), h11.EndOfMessage)
    assert parser.send(h11.Response(status_code=200, headers=[(b"content-length", b"0")]))
    assert parser.send(h11.EndOfMessage()) == b""
    parser.start_next_cycle()
    assert parser.is_between_requests


@given(
    length=st.integers(0, 12),
    arrived=st.integers(0, 12),
    taken=st.booleans(),
    is_named=st.booleans(),
    following=st.sampled_from([b"", b"GET ", b"\r\n"]),
)
def test_h11_reads_the_missing_part_of_a_body_and_no_more(
    length: int, arrived: int, taken: bool, is_named: bool, following: bytes
) -> None:
    length = length if is_named else 0
    body = b"abcdefghijkl"[:length]
    named = b"Content-Length: %d\r\n" % length if is_named else b""
    parser, request = plain_request(b"PUT / HTTP/1.1\r\nX: y\r\n" + named + HOST + b"\r\n" + body[:arrived])
    read = request.body
    if rest := body[arrived:] + following:
        parser.receive_data(rest)
    if taken:
        read += parser.take_body()

    parser.hand_over()
    while isinstance(event := parser.next_event(), h11.Data):
        read += event.data

    assert read == body
    assert isinstance(event, h11.EndOfMessage) or parser.their_state is h11.DONE
    assert parser.trailing_data[0] == following
    assert parser.our_state is h11.SEND_RESPONSE


@pytest.mark.parametrize(
    ("method", "status", "headers", "body", "sent"),
    [
        (b"GET", 200, [(b"content-length", b"2")], b"ab", b"HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\n"),
        (b"HEAD", 200, [(b"content-length", b"2")], b"", b"HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\n"),
        (b"GET", 304, [(b"etag", b'"x"')], b"", b'HTTP/1.1 304 \r\netag: "x"\r\n\r\n'),
        (b"GET", 200, [], b"ab", None),
        (b"GET", 200, [(b"content-length", b"3")], b"ab", None),
        (b"GET", 200, [(b"content-length", b"0"), (b"connection", b"close")], b"", None),
        (b"GET", 200, [(b"content-length", b"0"), (b"x", b"a\r\nb: c")], b"", None),
        (b"GET", 200, [(b"content-length", b"0"), (b"x", b"a\nb")], b"", None),
        (b"GET", 200, [(b"content-length", b"0"), (b"x", b"a\x00")], b"", None),
        (b"GET", 200, [(b"content-length", b"0"), (b"x y", b"a")], b"", None),
    ],
)
def test_a_response_is_sent_at_once_if_nothing_in_it_is_unusual(
    method: bytes, status: int, headers: list[tuple[bytes, bytes]], body: bytes, sent: bytes | None
) -> None:
    parser, _ = plain_request(method + b" / HTTP/1.1\r\n" + HOST + b"\r\n")

    assert parser.plain_response(status, headers, body) == sent


class CountingBytes(bytearray):
    """Bytes that count how many of them were searched."""

    searched = 0

    def find(self, *arguments: Any) -> int:
        self.searched += len(self) - (arguments[1] if len(arguments) > 1 else 0)
        return super().find(*arguments)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        self.searched += len(found) if isinstance(found, bytearray) else 1
        return found


class CountingPattern:
    """A pattern that counts how many bytes it was tried on."""

    def __init__(self, pattern: Any) -> None:
        self.pattern, self.searched = pattern, 0

    def match(self, data: bytearray) -> Any:
        self.searched += len(data)
        return self.pattern.match(data)


@pytest.mark.parametrize("beginning", [b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.0\r\n"], ids=["plain", "of h11"])
def test_a_head_that_arrives_byte_by_byte_is_searched_once(beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    head = beginning + HOST + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 150) for number in range(90)) + b"\r\n"
    parser, data = StrictConnection(head_bytes_max=HEAD_BYTES_MAX), CountingBytes()
    pattern = CountingPattern(strict_parsing._PLAIN_HEAD)
    monkeypatch.setattr(strict_parsing, "_PLAIN_HEAD", pattern)
    parser._receive_buffer._data = data

    for number in range(len(head)):
        assert parser.take_plain() is None
        assert parser.next_event() is h11.NEED_DATA
        parser.receive_data(head[number : number + 1])
    found = parser.take_plain() or parser.next_event()

    assert isinstance(found, PlainRequest | h11.Request)
    assert len(found.headers) == 91
    assert data.searched + pattern.searched < 20 * len(head)


@pytest.mark.parametrize(
    "wrong", [b"X: y\nHost: x\r\n\r\n", b"X: y\r\n z\r\n\r\n", b"X: y\r\n\tz\r\n\r\n", b"X: y\r\n" * 101 + b"\r\n"]
)
def test_lines_that_are_refused_are_refused_however_they_arrive(wrong: bytes) -> None:
    head = b"GET / HTTP/1.1\r\n" + HOST + wrong
    for size in (1, 2, 3, 7, len(head)):
        parser = StrictConnection(head_bytes_max=HEAD_BYTES_MAX)

        with pytest.raises(h11.RemoteProtocolError):
            deliver(parser, head, size)


def deliver(parser: StrictConnection, head: bytes, size: int) -> None:
    """Let bytes arrive that begin no plain request, so many at a time."""
    for begin in range(0, len(head), size):
        parser.receive_data(head[begin : begin + size])
        assert parser.take_plain() is None
        parser.next_event()
