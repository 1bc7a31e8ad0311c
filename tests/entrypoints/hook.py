"""A receiver of webhooks on a thread of its own, for tests that run no event loop."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

ANSWER_SECONDS_MAX = 60.0


class Hook(BaseHTTPRequestHandler):
    """Receives webhooks; `received` has the id of each that arrived."""

    received: list[str]
    timeout = ANSWER_SECONDS_MAX

    def do_POST(self) -> None:
        """Take a webhook."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(self.headers["webhook-id"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the library
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    # Their connections are closed before the test ends.
    daemon_threads = False


@contextmanager
def open_hook() -> Generator[tuple[str, list[str]]]:
    """Yield the URL of a receiver of webhooks, and the ids of those that have arrived."""
    received: list[str] = []
    server = _Server(("127.0.0.1", 0), type("ThisHook", (Hook,), {"received": received}))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", received
    finally:
        server.shutdown()
        server.server_close()
