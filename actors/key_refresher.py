"""Keeps the key ring of this process as young as the stored keys: looks every half minute, and sooner when asked.

Any replica may rotate the keys. The next key is published before it signs, so a ring that is half a minute old knows
every key that signs, unless there were two rotations meanwhile; for those there is `catch_up`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from core.errors import ServiceUnavailable
from core.sessions import signing_keys

if TYPE_CHECKING:
    from ports.database import Database
    from ports.sessions.tokens import KeyRing

PERIOD_SECONDS = 30.0
# Anybody can name an unknown key as often as they like; that costs one query in this time, however many ask.
PAUSE_SECONDS = 1.0
# The rest of a pause, and a query.
CATCH_UP_SECONDS_MAX = 3.0

log = structlog.get_logger(__name__)


class KeyRefresher:
    """An actor, and the port `KeyRefresh`."""

    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring
        self._is_asked = trio.Event()
        self._has_looked = trio.Event()
        self._is_database_away = False

    async def run(self) -> None:
        """Look again and again, at intervals between the pause and the period."""
        while True:
            await self._look()
            await trio.sleep(PAUSE_SECONDS)
            with trio.move_on_after(PERIOD_SECONDS - PAUSE_SECONDS):
                await self._is_asked.wait()

    async def refresh(self) -> None:
        """Look once, for a start that must not go on without keys; raise `ServiceUnavailable`."""
        self._ring.load(await self._database.read(signing_keys.published))

    def request_refresh(self) -> None:
        """Ask for a look soon; requests that come before it share it."""
        self._is_asked.set()

    async def catch_up(self) -> None:
        """Wait until the stored keys have been read anew, or for as long as that should take."""
        # A look that has begun may have read already, so it is the one after it that counts.
        has_looked = self._has_looked
        self.request_refresh()
        with trio.move_on_after(CATCH_UP_SECONDS_MAX):
            await has_looked.wait()

    async def _look(self) -> None:
        # Both are replaced before the query, so that whoever asks from here on is answered by the next look.
        has_looked = self._has_looked
        self._is_asked, self._has_looked = trio.Event(), trio.Event()
        try:
            await self.refresh()
        except ServiceUnavailable:
            # The keys of before still check, and sign for a while (core/sessions/signing_keys.py says how long).
            if not self._is_database_away:
                log.warning("signing_keys.not_refreshed")
            self._is_database_away = True
        else:
            self._is_database_away = False
        has_looked.set()
