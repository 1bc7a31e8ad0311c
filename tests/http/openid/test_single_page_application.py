"""A single-page application with oidc-client-ts, in Chromium: signing in, renewing and signing out, unchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from tests.browser import Watched
from tests.peers import peer
from tests.world.builder import EMAIL, PASSWORD
from tests.world.peer_site import peer_site

pytestmark = [pytest.mark.browser, pytest.mark.long]


@contextmanager
def serving(files: dict[str, bytes]) -> Generator[str]:
    """Serve an application: these files, and its page everywhere else; return its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            body = files.get(path, files["/"])
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if path.endswith(".js") else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_oidc_client_ts_works_unchanged(
    connection: Connection,
    database_url: str,
    key_pairs: tuple[KeyPair, KeyPair],
    watch: Callable[..., Watched],
) -> None:
    library = peer("oidc-client-ts")
    script = library.programs.parent / "oidc-client-ts" / "dist" / "browser" / "oidc-client-ts.min.js"
    files = {"/": (library.files / "page.html").read_bytes(), "/oidc-client-ts.js": script.read_bytes()}
    with serving(files) as origin, peer_site(connection, database_url, key_pairs) as environment:
        connection.execute(
            "UPDATE services SET redirect_uris = %s, post_logout_redirect_uris = %s WHERE client_id = %s",
            ([f"{origin}/callback"], [f"{origin}/bye"], environment["PUBLIC_CLIENT_ID"]),
        )
        watched = watch()
        page = watched.page
        page.context.add_cookies(
            [
                {"name": "authority", "value": environment["ISSUER"], "url": origin},
                {"name": "client_id", "value": environment["PUBLIC_CLIENT_ID"], "url": origin},
            ]
        )

        page.goto(origin)
        page.click("#in")
        page.fill("#email", EMAIL)
        page.click("button[type=submit]")
        page.fill("#password", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(f"{origin}/callback**")
        page.wait_for_function("document.getElementById('state').textContent !== 'signed out'")
        signed_in = page.inner_text("#state")
        page.click("#renew")
        page.wait_for_function(f"document.getElementById('state').textContent !== {signed_in!r}")
        renewed = page.inner_text("#state")
        page.click("#out")
        page.wait_for_url(f"{origin}/bye**")
        page.wait_for_function("document.getElementById('state').textContent !== 'signed out'")

        assert signed_in == f"signed in {EMAIL} Bearer"
        assert renewed == f"renewed {EMAIL} Bearer"
        assert page.inner_text("#state") == "goodbye"
