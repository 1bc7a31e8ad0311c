"""A Chromium, and a running server whose pages it opens.

The server runs in its own thread, because Playwright's synchronous interface needs the main thread; it is the real
server on a real port, connected as in `tests/application.py`.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import MasterKey, Vault
from adapters.domain_names import IdnaDomainNames
from adapters.geoip import NoLocations
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.pool import Pool
from adapters.postgres.transaction import Tools
from core.platform_brand import NAME_DEFAULT
from core.sessions.signing_keys import KeyPair
from entrypoints.installation import Installation
from entrypoints.server import Server, listen
from entrypoints.settings import Bind, Settings
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.routes import Route
from ports.clock import Clock
from tests.application import ReportedActors, ageless_ring, connected_installation
from tests.clock import SettableClock
from tests.ids import FollowingRandomness
from tests.mailboxes import RecordedMailboxes
from tests.waiting import WAIT_SECONDS_MAX

Prepare = Callable[[PostgresDatabase], Awaitable[None]]


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS_MAX = 120.0
IN_FLIGHT_SECONDS_MAX = 1.0
ACTION_MILLISECONDS_MAX = 60_000.0
CONNECTIONS_MAX = 2
# What Chromium says of a request for a page that it has left in the meantime.
ABANDONED = "net::ERR_ABORTED"
# What it says when a test fills in a field before the page has focused its first one.
TYPED_EARLY = "Autofocus processing was blocked because a document already has a focused element."


class Site:
    """A server that runs in a thread until it is closed.

    `name` is the host in its URL, because browsers refuse passkeys on an IP address; `others` are further settings.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        database_url: str,
        keys: tuple[KeyPair, KeyPair],
        *,
        prepare: Prepare,
        name: str = "127.0.0.1",
        clock: Clock | None = None,
        **others: Any,
    ) -> None:
        self._clock = clock or SettableClock()
        self._others = others
        self._routes = routes
        self._database_url = database_url
        self._keys = keys
        self._prepare = prepare
        self._listener = listen(Bind("127.0.0.1", 0))
        self.url = f"http://{name}:{self._listener.getsockname()[1]}"
        self._stopping = trio.Event()
        self._installation: Installation | None = None
        self._started: Queue[trio.lowlevel.TrioToken | None] = Queue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._token = self._started.get(timeout=START_SECONDS_MAX)
        assert self._token is not None, "the server did not start"

    def close(self) -> None:
        """Stop the server."""
        trio.from_thread.run_sync(self._stopping.set, trio_token=self._token)
        self._thread.join()

    def work(self, work: Callable[[Installation], Awaitable[None]]) -> None:
        """Do the work of an actor; the server runs none."""
        assert self._installation is not None, "the server did not start"
        trio.from_thread.run(work, self._installation, trio_token=self._token)

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        finally:
            # Unblocks the constructor when the start has failed.
            self._started.put(None)

    async def _serve(self) -> None:
        settings = Settings(dev=True, rate_limits=False, base_url=self.url, **self._others)
        tools = tools_at(self.url, self._clock)
        pool = Pool(self._database_url, connections_max=CONNECTIONS_MAX)
        database = PostgresDatabase(
            pool=pool, tools=tools, mailboxes=RecordedMailboxes(), wait_seconds_max=WAIT_SECONDS_MAX
        )
        await self._prepare(database)
        self._installation = installation = await connected_installation(
            database, tools.clock, settings, ReportedActors(), self._keys, ring=ageless_ring()
        )
        self._started.put(trio.lowlevel.current_trio_token())
        await Server(Application(installation, self._routes), self._listener, IN_FLIGHT_SECONDS_MAX).serve(
            self._stopping
        )
        await trio.to_thread.run_sync(pool.close)


def tools_at(url: str, clock: Clock, *, name: str = NAME_DEFAULT) -> Tools:
    """Return what the units of work of a server at this address need besides a connection; the platform has a name."""
    pepper = HmacPepper()
    pepper.load(os.urandom(PEPPER_BYTES))
    return Tools(
        clock=clock,
        randomness=FollowingRandomness(clock),
        vault=Vault([MasterKey.generate()]),
        pepper=pepper,
        domain_names=IdnaDomainNames(),
        locations=NoLocations(),
        totp=PyotpTotp(issuer=name),
        webauthn=cache(partial(PyWebAuthn, rp_id=urlsplit(url).hostname or "", rp_name=name, origin=url)),
        has_rate_limits=False,
    )


@dataclass
class Watched:
    """A page, with the problems and the requests that were recorded while it was open."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def note_message(self, message: ConsoleMessage) -> None:
        """Record what the browser says of the page, unless the test was faster than its first focus."""
        if message.text != TYPED_EARLY:
            self.problems.append(message.text)

    def note_failure(self, request: Request) -> None:
        """Record a request that failed, unless the browser gave it up because it left the page."""
        if request.failure != ABANDONED:
            self.problems.append(f"{request.url}: {request.failure}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser for the whole test run."""
    if CHROMIUM is None:
        pytest.skip("no Chromium in the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def watch(chromium: Browser) -> Iterator[Callable[..., Watched]]:
    """A function that opens a page and records its console and requests; it takes the options of a browser context."""
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> Watched:
        context = chromium.new_context(**options)
        context.set_default_timeout(ACTION_MILLISECONDS_MAX)
        contexts.append(context)
        watched = Watched(context.new_page())
        watched.page.on("console", watched.note_message)
        watched.page.on("pageerror", lambda error: watched.problems.append(str(error)))
        watched.page.on("requestfailed", watched.note_failure)
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        return watched

    yield open_page
    for context in contexts:
        context.close()
