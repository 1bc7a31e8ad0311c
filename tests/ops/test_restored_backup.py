"""The effects of restoring an older backup are those in the table of its runbook."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest

from tests.entrypoints.site import BASE_URL, Site
from tests.processes import Commands, Services, commands, services
from tests.waiting import wait_until

__all__ = ["commands", "services"]

# It starts servers, which takes seconds; CI runs it.
pytestmark = pytest.mark.long

OWNER: Final = "root@example.com"
PASSWORD: Final = "correct horse battery"
ACME: Final = "/api/organizations/acme"
SETTINGS: Final = {
    "DEV": "on",
    "BASE_URL": BASE_URL,
    "OWNER_EMAIL": OWNER,
    "OWNER_PASSWORD": PASSWORD,
    "AUTO_APPROVE": "on",
}


class Webhooks(ThreadingHTTPServer):
    """A receiver that refuses every delivery until it is ready; `ids` has those that it has taken."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_ready = False
        self.ids: list[str] = []
        self.refused: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        hooks = self.server
        assert isinstance(hooks, Webhooks), "only that server has this handler"
        (hooks.ids if hooks.is_ready else hooks.refused).append(self.headers["webhook-id"])
        self.send_response(200 if hooks.is_ready else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the library
        """Say nothing."""


@contextmanager
def receiver() -> Generator[Webhooks]:
    """Run a receiver."""
    with Webhooks() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def log_in(site: Site) -> dict[str, str]:
    return site.ask("POST", "/api/auth/login", {"email": OWNER, "password": PASSWORD})


def rename(site: Site, token: str, name: str) -> None:
    site.ask("PATCH", ACME, {"name": name}, token=token)


def redeliver(site: Site, token: str, path: str, hooks: Webhooks, *, waiting: int) -> None:
    """Let the receiver be ready, and send what waits for a later attempt at once."""
    # Listed while the receiver refuses: afterwards, an attempt that was due by itself may have delivered one.
    deliveries = site.ask("GET", f"{path}/deliveries?delivered=false", token=token)["deliveries"]
    assert len(deliveries) == waiting
    hooks.is_ready = True
    for one in deliveries:
        site.ask("POST", f"{path}/deliveries/{one['id']}/redeliver", token=token)


def events_after(site: Site, token: str, cursor: str | None) -> tuple[list[str], str]:
    query = f"?after={cursor}" if cursor else ""
    page = site.ask("GET", f"{ACME}/events{query}", token=token)
    return [event["id"] for event in page["events"]], page["next_cursor"]


def mailed_link(site: Site) -> str:
    """Have a link mailed that signs in, and return its token."""
    site.ask("POST", "/api/auth/magic-link/request", {"email": OWNER})
    found: list[str] = []

    def arrived() -> bool:
        mailbox = site.call("GET", "/dev/mailbox").content.decode()
        found[:] = re.findall(r"/auth/magic-link\?token=([A-Za-z0-9_-]+)", mailbox)
        return bool(found)

    wait_until(arrived)
    return found[0]


def test_a_restored_backup_does_what_the_runbook_says(services: Services, commands: Commands) -> None:
    with receiver() as hooks:
        site = Site(services.ready(**SETTINGS))
        idle, busy = log_in(site), log_in(site)
        token = idle["access_token"]
        site.ask("POST", "/api/organizations", {"name": "Acme", "slug": "acme"}, token=token)
        hook = {"name": "hook", "url": f"http://127.0.0.1:{hooks.server_port}/", "events": ["organization.updated"]}
        webhook = f"{ACME}/webhooks/{site.ask('POST', f'{ACME}/webhooks', hook, token=token)['id']}"
        rename(site, token, "Acme Ltd")
        wait_until(lambda: bool(hooks.refused))
        link = mailed_link(site)

        written = commands.run("backup", "backup.tar")
        assert written.returncode == 0, written.stderr

        # After the backup: a token is exchanged, a link and a delivery do their work, a session begins, events follow.
        exchanged = site.ask("POST", "/api/auth/refresh", {"refresh_token": busy["refresh_token"]})
        site.ask("POST", "/api/auth/magic-link/verify", {"token": link})
        assert site.call("POST", "/api/auth/magic-link/verify", {"token": link}).status == 401
        later = log_in(site)
        # Making the webhook was the other event.
        redeliver(site, token, webhook, hooks, waiting=2)
        wait_until(lambda: len(set(hooks.ids)) == 2)
        before, cursor = events_after(site, token, None)
        assert set(hooks.ids) <= set(before)
        assert site.service.stop() == 0

        hooks.is_ready = False
        known = sorted(set(hooks.ids))
        hooks.ids.clear()
        restored = commands.run("restore", "--replace", "backup.tar")
        assert restored.returncode == 0, restored.stderr
        site = Site(services.ready(**SETTINGS))

        # The idle session goes on; the one whose token was exchanged ends; the later one is unknown.
        fresh = site.ask("POST", "/api/auth/refresh", {"refresh_token": idle["refresh_token"]})
        assert site.call("GET", "/api/user", token=busy["access_token"]).status == 200
        assert site.call("POST", "/api/auth/refresh", {"refresh_token": exchanged["refresh_token"]}).status == 401
        assert site.call("GET", "/api/user", token=busy["access_token"]).status == 401
        assert site.call("GET", "/api/user", token=later["access_token"]).status == 401
        # The link works once more, and no more than that.
        site.ask("POST", "/api/auth/magic-link/verify", {"token": link})
        assert site.call("POST", "/api/auth/magic-link/verify", {"token": link}).status == 401
        # The deliveries that waited come again, with the ids by which the receiver knows them.
        token = fresh["access_token"]
        redeliver(site, token, webhook, hooks, waiting=2)
        wait_until(lambda: sorted(set(hooks.ids)) == known)
        # A reader of the feed misses no new event, and gets none a second time.
        rename(site, token, "Acme plc")
        wait_until(lambda: bool(events_after(site, token, cursor)[0]))
        found, _ = events_after(site, token, cursor)
        assert not set(found) & set(before)
        wait_until(lambda: hooks.ids[-1] in events_after(site, token, cursor)[0])
        assert site.service.stop() == 0

        # A restore that ends sessions as well leaves no user signed in.
        ended = commands.run("restore", "--replace", "--end-sessions", "backup.tar")
        assert "Sessions ended: 2." in ended.stdout
        site = Site(services.ready(**SETTINGS))
        assert site.call("POST", "/api/auth/refresh", {"refresh_token": idle["refresh_token"]}).status == 401
        assert site.call("POST", "/api/auth/magic-link/verify", {"token": link}).status == 401
        log_in(site)
