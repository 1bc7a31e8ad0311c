"""Receivers of audit entries that check each request as the documentation of their API says, and answer as it does.

They listen on a real socket and speak HTTP/1.1 over h11, one request for each connection.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import h11
import trio

TOKEN = "a-token-that-opens-the-collector"
RECEIVE_BYTES = 2**16
# The limits that the documentation of the APIs sets for one request.
DATADOG_ITEMS_MAX = 1000
SPLUNK_FIELDS = {"time", "host", "source", "sourcetype", "index", "fields", "event"}


@dataclass(frozen=True)
class Request:
    """A request with its body, decompressed."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answer: TypeAlias = tuple[int, Any]
Interface: TypeAlias = Callable[["Receiver", Request], Answer]


@dataclass
class Receiver:
    """A receiver with the interface of one product, and what it has got."""

    interface: Interface
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    # The entries that were accepted, each time they were.
    entries: list[dict[str, Any]] = field(default_factory=list)
    # The next answers; afterwards it answers as the interface does.
    failures: list[Answer | None] = field(default_factory=list)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    # For Elastic: the status with which an entry is refused.
    refused: dict[str, int] = field(default_factory=dict)
    # Each answer claims to be one byte longer than it is.
    cuts_bodies_off: bool = False
    got_some: trio.Event = field(default_factory=trio.Event)
    # It answers nothing before this is set.
    may_answer: trio.Event = field(default_factory=trio.Event)

    def __post_init__(self) -> None:
        self.may_answer.set()

    @property
    def url(self) -> str:
        """The URL of the receiver, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ids(self) -> list[str]:
        """The ids of the accepted entries."""
        return [entry["id"] for entry in self.entries]

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer one request."""
        connection = h11.Connection(h11.SERVER)
        async with stream:
            request = await _received(connection, stream)
            if request is None:
                return
            self.requests.append(request)
            await self.may_answer.wait()
            failure = self.failures.pop(0) if self.failures else self.interface(self, request)
            if failure is None:
                # The connection breaks without an answer.
                return
            status, content = failure
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            length = len(body) + self.cuts_bodies_off
            headers = [("content-length", str(length)), ("connection", "close")]
            await stream.send_all(
                (connection.send(h11.Response(status_code=status, headers=headers)) or b"")
                + (connection.send(h11.Data(data=body)) or b"")
            )
            if self.entries:
                self.got_some.set()


async def _received(connection: h11.Connection, stream: trio.SocketStream) -> Request | None:
    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(RECEIVE_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode(): value.decode() for name, value in head.headers}
            if headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            return Request(head.method.decode(), head.target.decode(), headers, body)
        else:
            return None


@asynccontextmanager
async def receiving(interface: Interface) -> AsyncGenerator[Receiver]:
    """Run a receiver on a free port."""
    receiver = Receiver(interface)
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, receiver.serve, 0, host="127.0.0.1"))
        receiver.port = listeners[0].socket.getsockname()[1]
        yield receiver
        nursery.cancel_scope.cancel()


def json_lines(receiver: Receiver, request: Request) -> Answer:
    """Take JSON lines, with a bearer token."""
    assert (request.method, request.headers["content-type"]) == ("POST", "application/x-ndjson")
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return 401, {"error": "unauthorized"}
    assert request.body.endswith(b"\n")
    receiver.entries += [json.loads(line) for line in request.body.splitlines()]
    return 204, b""


def splunk(receiver: Receiver, request: Request) -> Answer:
    """Take events as the HTTP Event Collector documents `services/collector/event`: objects, one after the other."""
    assert (request.method, request.target) == ("POST", "/services/collector/event")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme != "Splunk":
        return 401, {"text": "Token is required", "code": 2}
    if token != TOKEN:
        return 403, {"text": f"Invalid token {token}", "code": 4}
    text, position, taken = request.body.decode(), 0, []
    while position < len(text):
        value, position = json.JSONDecoder().raw_decode(text, position)
        while text[position : position + 1].isspace():
            position += 1
        if not value.get("event"):
            return 400, {"text": "Event field is required", "code": 12, "invalid-event-number": len(taken)}
        assert value.keys() <= SPLUNK_FIELDS
        assert isinstance(value["time"], int | float)
        taken.append(value)
    receiver.documents |= {value["event"]["id"]: value for value in taken}
    receiver.entries += [value["event"] for value in taken]
    return 200, {"text": "Success", "code": 0}


def datadog(receiver: Receiver, request: Request) -> Answer:
    """Take logs as the Datadog API documents `POST /api/v2/logs`: an array of items with a message."""
    assert (request.method, request.target) == ("POST", "/api/v2/logs")
    assert request.headers["content-type"] == "application/json"
    if request.headers.get("dd-api-key") != TOKEN:
        return 403, {"errors": [{"status": "403", "title": "Forbidden", "detail": "API key is invalid"}]}
    items = json.loads(request.body)
    assert isinstance(items, list)
    assert len(items) <= DATADOG_ITEMS_MAX
    for item in items:
        assert all(isinstance(item[name], str) for name in ("message", "ddsource", "ddtags", "service", "status"))
    told = [item["audit"] if "audit" in item else item["sign_in"] for item in items]
    receiver.documents |= {one["id"]: item for one, item in zip(told, items, strict=True)}
    receiver.entries += told
    return 202, {}


def elastic(receiver: Receiver, request: Request) -> Answer:
    """Take documents as the bulk API documents: a line with the action, a line with the source, a line end last."""
    assert (request.method, request.target.endswith("/_bulk")) == ("POST", True)
    assert request.headers["content-type"] == "application/x-ndjson"
    if request.headers.get("authorization") != f"ApiKey {TOKEN}":
        return 401, {"error": {"type": "security_exception", "reason": "missing authentication"}, "status": 401}
    assert request.body.endswith(b"\n")
    lines = [json.loads(line) for line in request.body.splitlines()]
    items: list[dict[str, Any]] = []
    for action, document in zip(lines[::2], lines[1::2], strict=True):
        place = action["create"]
        assert place.keys() == {"_index", "_id"}
        assert document["@timestamp"] == document["created_at"]
        items.append({"create": {**place, **_created(receiver, place["_id"], document)}})
    has_errors = any(item["create"]["status"] >= 400 for item in items)
    return 200, {"took": 3, "errors": has_errors, "items": items}


def _created(receiver: Receiver, document_id: str, document: dict[str, Any]) -> dict[str, Any]:
    if document_id in receiver.refused:
        error = {"type": "mapper_parsing_exception", "reason": "failed to parse field [details.n]"}
        return {"status": receiver.refused[document_id], "error": error}
    if document_id in receiver.documents:
        error = {"type": "version_conflict_engine_exception", "reason": "document already exists"}
        return {"status": 409, "error": error}
    receiver.documents[document_id] = document
    receiver.entries.append(document)
    return {"status": 201, "result": "created"}
