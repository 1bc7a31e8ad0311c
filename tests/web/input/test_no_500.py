"""No input causes a 500: hostile requests to every route, with a real database.

New routes are included automatically, with hostile path parameters, ids, queries, headers and bodies.
"""

import ipaddress
import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote, quote_from_bytes
from uuid import UUID

import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from ports.unit_of_work import UnitOfWork
from tests.web.probe import PEER, ask

EXAMPLES = 4 * settings().max_examples
ORIGIN = "https://app.example.com"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "--", "*")
ID = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"

probes = Routes("probes", "Routes of this test, which take every kind of input.")


class Item(msgspec.Struct):
    """A struct inside a body."""

    id: UUID
    at: datetime | None = None
    kind: Literal["a", "b"] = "a"


class Everything(msgspec.Struct):
    """A body with every kind of field."""

    email: str = ""
    count: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    ratio: float = 0.0
    is_open: bool = False
    items: list[Item] = []
    names: dict[str, str] = {}
    anything: Any = None


class Search(Paged):
    """A query with every kind of field."""

    q: str = ""
    id: UUID | None = None
    filter: Literal["a", "b"] | None = None
    offset: int | None = None


@probes.post("/api/probes/:word/items/:item_id")
@public
async def probe(call: Call, word: str, item_id: UUID, body: Everything, query: Search) -> Everything:
    """Query the database with every text of the request."""
    await call.read(query_with, [word, query.q, body.email, *body.names, *body.names.values()])
    return body


def query_with(uow: UnitOfWork, texts: list[str]) -> None:
    for text in texts:
        uow.users.by_email(text)


routes = [*capabilities.routes(is_development=True), *probes.routes]


@dataclass(frozen=True)
class Hostile:
    """A hostile request."""

    call: tuple[str, str]
    query: str
    headers: list[tuple[bytes, bytes]]
    data: bytes | list[bytes]
    peer: str | None


words = st.one_of(
    st.sampled_from([ID, ID.upper(), "a", ".", "..", "%", "%00", "%ff", "%zz", "%2F", "%2e%2e%2f", "*", ":", ";", "~"]),
    st.text(max_size=20).map(quote),
    st.binary(max_size=20).map(quote_from_bytes),
    st.integers().map(str),
    st.just("x" * 5000),
)


def filled(template: str) -> st.SearchStrategy[str]:
    """Return a strategy that puts a hostile text in place of each parameter of a path."""
    parts = [words if part.startswith(":") else st.just(part) for part in template.split("/")]
    return st.tuples(*parts).map("/".join)


any_path = st.one_of(
    st.lists(words, max_size=5).map(lambda parts: "/" + "/".join(parts)),
    st.from_regex(re.compile(r"/[!-~]*", re.ASCII), fullmatch=True).map(lambda path: path.replace("?", "")),
)
# Mostly existing routes, so that the input is decoded.
calls = st.one_of(
    st.sampled_from(routes).flatmap(lambda route: st.tuples(st.just(route.method), filled(route.path))),
    st.just(("POST", f"/api/probes/word/items/{ID}")),
    st.tuples(st.sampled_from(METHODS), st.sampled_from(routes).flatmap(lambda route: filled(route.path)) | any_path),
)
names = st.sampled_from(["limit", "page", "offset", "id", "filter", "q", "a[]", "%00", ""])
queries = st.one_of(
    st.just(""),
    st.lists(st.tuples(names, words).map("=".join), max_size=5).map("&".join),
    st.from_regex(re.compile(r"[!-~]*", re.ASCII), fullmatch=True),
)
texts = st.text() | st.sampled_from(["\x00", "a\x00b", "\ud800", "\udfff", "", "x" * 5000])
keys = st.text(max_size=10) | st.sampled_from(list(Everything.__struct_fields__))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.sampled_from([ID, "2026-01-31T12:00:00Z", 2**63, 10**400, -1]),
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(keys, inside, max_size=5),
    max_leaves=10,
)
# Valid bodies, which reach the database.
valid_bodies = st.fixed_dictionaries(
    {},
    optional={
        "email": texts,
        "count": st.integers(0, 2**63 - 1),
        "items": st.lists(st.fixed_dictionaries({"id": st.uuids().map(str)}), max_size=2),
        "names": st.dictionaries(texts, texts, max_size=2),
        "anything": json_values,
    },
)
bodies = st.one_of(
    valid_bodies.map(lambda value: json.dumps(value).encode()),
    st.just(b""),
    st.binary(),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(keys, json_values, max_size=5).map(lambda value: json.dumps(value).encode()),
    st.just(b"[" * 2000 + b"]" * 2000),
    st.lists(st.binary(), max_size=3),
)
# Possible headers: h11 refuses NUL and line breaks.
header_bytes = st.binary(max_size=50).map(lambda data: re.sub(rb"[\x00\r\n]", b"", data).strip())
headers = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(
                [
                    *(b"accept", b"accept-encoding", b"authorization", b"connection", b"content-encoding"),
                    *(b"content-length", b"content-type", b"cookie", b"expect", b"forwarded", b"host", b"if-match"),
                    *(b"if-modified-since", b"if-none-match", b"if-range", b"origin", b"range", b"referer"),
                    *(b"remote-addr", b"te", b"transfer-encoding", b"upgrade", b"user-agent", b"x-api-key"),
                    *(b"x-forwarded-for", b"x-forwarded-proto", b"x-http-method-override", b"x-request-id"),
                ]
            ),
            header_bytes,
        ),
        st.sampled_from(
            [
                (b"content-type", b"application/json"),
                (b"authorization", b"Bearer a.b.c"),
                (b"authorization", b"Bearer eyJhbGciOiJub25lIn0.e30."),
                (b"accept", b"application/json"),
                (b"accept", b"*/*;q=x, text/html;q=2;level=,,"),
                (b"origin", ORIGIN.encode()),
                (b"access-control-request-method", b"\xff"),
                (b"if-none-match", b'*, W/"x", "'),
                (b"x-forwarded-for", b"::1, 1.2.3.4:5, [::1]:x"),
            ]
        ),
    ),
    max_size=5,
)
hostile_requests = st.builds(
    Hostile,
    call=calls,
    query=queries,
    headers=headers,
    data=bodies,
    peer=st.sampled_from([PEER, "::1", "::ffff:203.0.113.7", "fe80::1%eth0", None]),
)


@pytest.mark.hypothesis
async def test_no_request_is_answered_with_500(installation: Installation) -> None:
    behind_a_proxy = replace(
        installation.settings, trusted_proxies=(ipaddress.ip_network("0.0.0.0/0"),), cors_origins=(ORIGIN,)
    )
    applications = [
        Application(installation, routes),
        Application(replace(installation, settings=behind_a_proxy), routes),
    ]

    @settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(request=hostile_requests, application=st.sampled_from(applications))
    def no_500(request: Hostile, application: Application) -> None:
        answer: Any = trio.from_thread.run(send, application, request)

        assert answer.status < 500
        assert len(answer.headers.getlist("X-Request-Id")) == 1
        if answer.status >= 400 and answer.headers["Content-Type"].startswith("application/json"):
            envelope = answer.json
            # OAuth endpoints answer in the shape of their RFC.
            if "error_description" in envelope:
                assert {"error", "error_description", "error_code", "timestamp"} == set(envelope)
            else:
                assert {"error", "error_code", "timestamp", "request_id"} <= set(envelope)
                assert envelope["request_id"] == answer.headers["X-Request-Id"]

    await trio.to_thread.run_sync(no_500)


async def send(application: Application, request: Hostile) -> Any:
    method, path = request.call
    return await ask(
        application,
        method,
        f"{path}?{request.query}",
        data=request.data,
        more_headers=request.headers,
        peer=request.peer,
    )
