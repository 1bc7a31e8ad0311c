"""A payment provider for tests: the part of the Stripe API that Gatehouse uses, over HTTP on this machine.

It keeps the answer of each idempotency key as the real one does, refuses a key with other parameters, and misbehaves
as a test tells it to.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KEY = "sk_test_of_the_tests"


@dataclass(frozen=True)
class Request:
    """A request as the provider received it."""

    method: str
    path: str
    headers: Mapping[str, str]
    form: dict[str, str]

    @property
    def key(self) -> str | None:
        """The idempotency key."""
        return self.headers.get("Idempotency-Key")


@dataclass(frozen=True)
class Misbehaviour:
    """What is answered instead of the right thing; status 0 closes the connection without an answer."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    # Whether the request is executed all the same.
    is_executed: bool = False


@dataclass
class PaymentProvider:
    """The provider's data, the requests that it received, and its next misbehaviours."""

    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    misbehaviours: deque[Misbehaviour] = field(default_factory=deque[Misbehaviour])
    objects: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _answers: dict[str, tuple[dict[str, str], dict[str, Any]]] = field(
        default_factory=dict[str, tuple[dict[str, str], dict[str, Any]]]
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def misbehave(self, status: int, body: Any = None, *, times: int = 1, **options: Any) -> None:
        """Answer the next requests wrongly."""
        self.misbehaviours.extend([Misbehaviour(status, body, **options)] * times)

    def made(self, kind: str) -> list[dict[str, Any]]:
        """List the objects of a kind, such as `customer`."""
        return [one for one in self.objects.values() if one["object"] == kind]

    def answer(self, request: Request) -> tuple[int, Any, Mapping[str, str]] | None:
        """Return status, body and headers of an answer; None closes the connection."""
        with self._lock:
            self.requests.append(request)
            wrong = self.misbehaviours.popleft() if self.misbehaviours else None
            if wrong is not None and not wrong.is_executed:
                return (wrong.status, wrong.body, wrong.headers) if wrong.status else None
            status, body = self._execute(request)
            if wrong is not None:
                return (wrong.status, wrong.body, wrong.headers) if wrong.status else None
            return status, body, {}

    def _execute(self, request: Request) -> tuple[int, dict[str, Any]]:
        if request.method == "GET" and request.path == "/v1/subscriptions":
            return 200, {"object": "list", "data": self.made("subscription")[:1], "has_more": False}
        if request.method == "GET":
            found = self.objects.get(request.path.rpartition("/")[2])
            return (200, found) if found is not None else (404, _error("invalid_request_error", "resource_missing"))
        if request.method == "DELETE":
            found = self.objects.get(request.path.rpartition("/")[2])
            if found is None or found.get("status") == "canceled":
                return 404, _error("invalid_request_error", "resource_missing")
            found["status"] = "canceled"
            return 200, found
        if request.key in self._answers:
            form, kept = self._answers[request.key]
            return (200, kept) if form == request.form else (400, _error("idempotency_error", None))
        made = self._make(request)
        self.objects[made["id"]] = made
        if request.key is not None:
            self._answers[request.key] = (request.form, made)
        return 200, made

    def _make(self, request: Request) -> dict[str, Any]:
        number = len(self.objects) + 1
        match request.path:
            case "/v1/customers":
                return {"id": f"cus_{number}", "object": "customer", "form": request.form}
            case "/v1/checkout/sessions":
                url = f"https://pay.example.com/c/cs_{number}"
                return {"id": f"cs_{number}", "object": "checkout.session", "url": url, "form": request.form}
            case _:
                url = f"https://pay.example.com/p/bps_{number}"
                return {"id": f"bps_{number}", "object": "billing_portal.session", "url": url, "form": request.form}


def _error(kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"type": kind, "code": code, "message": "The text of the provider."}}


@contextmanager
def running_provider() -> Generator[PaymentProvider]:
    """Run a provider on a free port."""
    provider = PaymentProvider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Log nothing."""

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(length)
            if len(data) < length:
                # The client was killed before it had sent all; nothing of it is executed.
                self.close_connection = True
                return
            form = dict(parse_qsl(data.decode(), keep_blank_values=True))
            headers = {name.title(): value for name, value in self.headers.items()}
            answer = provider.answer(Request(self.command, urlsplit(self.path).path, headers, form))
            if answer is None:
                self.close_connection = True
                return
            status, body, more = answer
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response_only(status)
            if "Date" not in more:
                self.send_header("Date", self.date_time_string())
            for name, value in ({"Content-Type": "application/json"} | dict(more)).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
