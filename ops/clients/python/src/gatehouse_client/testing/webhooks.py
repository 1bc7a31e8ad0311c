"""A receiver of webhooks: a real server on this machine, to which the instance delivers."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from gatehouse_client.testing.requests import KitFailed

WAIT_SECONDS_MAX: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What was delivered: headers and body as they came, to verify, and the event in it."""

    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    event: dict[str, Any]

    @property
    def type(self) -> str:
        """The type of the event."""
        return self.event["event"]


class WebhookReceiver:
    """Receives the webhooks of one organization; `answers_with` is the status that it answers."""

    def __init__(self) -> None:
        self.secret = ""
        self.answers_with: int = HTTPStatus.NO_CONTENT
        self._deliveries: list[Delivery] = []
        self._news = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                receiver._receive(dict(self.headers.items()), body)
                self.send_response(receiver.answers_with)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The address to which to deliver."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/webhooks"

    @property
    def deliveries(self) -> list[Delivery]:
        """What has come so far, the oldest first."""
        with self._news:
            return list(self._deliveries)

    def wait_for(self, event_type: str, *, number: int = 1) -> Delivery:
        """Return the first, or another one, of the deliveries of a type, when it has come."""

        def found() -> list[Delivery]:
            return [one for one in self._deliveries if one.type == event_type]

        with self._news:
            if not self._news.wait_for(lambda: len(found()) >= number, WAIT_SECONDS_MAX):
                come = ", ".join(one.type for one in self._deliveries) or "nothing"
                raise KitFailed(f"no {event_type} came in {WAIT_SECONDS_MAX:g} s, but {come}")
            return found()[number - 1]

    def close(self) -> None:
        """Stop receiving."""
        self._server.shutdown()
        self._server.server_close()

    def _receive(self, headers: dict[str, str], body: bytes) -> None:
        with self._news:
            self._deliveries.append(Delivery(headers=headers, body=body, event=json.loads(body)))
            self._news.notify_all()
