"""A product that runs beside the tests: each of its pages leads a browser to sign in, and says then who it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from gatehouse_client import SignIn
from gatehouse_client.cookies import Cookie
from gatehouse_client.testing import GatehouseKit

CALLBACK = "/callback"


@contextmanager
def running_product(gatehouse: GatehouseKit) -> Iterator[str]:
    """Run the product `shop`, which has the clock of the instance, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        home = f"http://localhost:{server.server_address[1]}"
        shop = gatehouse.product("shop", redirect_uris=[f"{home}{CALLBACK}"], customers=["bolt"])
        Handler.sign_in = SignIn(
            gatehouse.base_url,
            client_id=shop.client_id,
            client_secret=shop.client_secret,
            redirect_uri=shop.redirect_uri,
            cookie_secret="only for these tests, of 32 bytes",
            clock=gatehouse.clock,
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield home
        server.shutdown()
        Handler.sign_in.close()


class Handler(BaseHTTPRequestHandler):
    """Answers a browser."""

    sign_in: SignIn

    def do_GET(self) -> None:
        """Answer the callback, and any other path as a page."""
        parts = urlsplit(self.path)
        cookies = {name: one.value for name, one in SimpleCookie(self.headers.get("Cookie", "")).items()}
        if parts.path == CALLBACK:
            done = self.sign_in.finish(dict(parse_qsl(parts.query)), cookies.get(self.sign_in.steps.sign_in_cookie))
            self._lead_to(done.return_to, *done.cookies)
        elif (session := self.sign_in.session(cookies.get(self.sign_in.steps.session_cookie))) is None:
            begun = self.sign_in.start(self.path)
            self._lead_to(begun.url, begun.cookie)
        else:
            caller = session.caller
            text = f"{parts.path} {caller.email} of {caller.customer.slug if caller.customer else 'nobody'}"
            self.send_response(HTTPStatus.OK)
            self.end_headers()
            self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing of a request."""

    def _lead_to(self, address: str, *cookies: Cookie) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", address)
        for cookie in cookies:
            self.send_header("Set-Cookie", cookie.header)
        self.end_headers()
