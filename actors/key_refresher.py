"""Keeps the key ring of this process up to date: reads the stored keys every half minute, and on request.

Any replica may rotate the keys. The next key is published before it signs, so a ring that is half a minute old has
every key that signs, unless there were two rotations meanwhile; `catch_up` is for those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from actors.mailboxes import Mailbox
from core.errors import ServiceUnavailable
from core.sessions import signing_keys
from ports.mailboxes import Due

if TYPE_CHECKING:
    from ports.database import Database
    from ports.sessions.tokens import KeyRing

PERIOD_SECONDS = 30.0
# Any client can send tokens with unknown key ids; however many do, they cost one query in this time.
PAUSE_SECONDS = 1.0
# The rest of a pause, and one query.
CATCH_UP_SECONDS_MAX = 3.0

log = structlog.get_logger(__name__)


class KeyRefresher:
    """An actor, and the port `KeyRefresh`."""

    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring
        self.box = Mailbox()
        self._is_refreshed = trio.Event()
        self._is_database_away = False

    async def run(self) -> None:
        """Refresh the key ring repeatedly, at intervals between the pause and the period."""
        while True:
            await self._refresh_once()
            await self.box.receive(PERIOD_SECONDS, rest_seconds=PAUSE_SECONDS)

    async def refresh(self) -> None:
        """Read the keys once, for a start that requires them; raise `ServiceUnavailable`."""
        self._ring.load(await self._database.read(signing_keys.published))

    def request_refresh(self) -> None:
        """Request a refresh soon; all requests before it share it."""
        self.box.send(Due())

    async def catch_up(self) -> None:
        """Wait until the stored keys have been read again, at most for as long as that should take."""
        # A refresh that has begun may have read the keys already, so this waits for the next one.
        is_refreshed = self._is_refreshed
        self.request_refresh()
        with trio.move_on_after(CATCH_UP_SECONDS_MAX):
            await is_refreshed.wait()

    async def _refresh_once(self) -> None:
        # It is replaced before the query, so that requests from here on wait for the next refresh.
        is_refreshed, self._is_refreshed = self._is_refreshed, trio.Event()
        try:
            await self.refresh()
        except ServiceUnavailable:
            # The loaded keys still verify, and sign for a while (RING_AGE_MAX in core/sessions/signing_keys.py).
            if not self._is_database_away:
                log.warning("signing_keys.not_refreshed")
            self._is_database_away = True
        else:
            self._is_database_away = False
        is_refreshed.set()
