"""Looks at the replicas every second, so that one that lags or died is left, and taken back when it follows again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from actors.mailboxes import Mailbox
from core.errors import ServiceUnavailable
from core.platform import system

if TYPE_CHECKING:
    from ports.database import Database
    from ports.platform.operation import ReplicaSet

LOOK_SECONDS: Final = 1.0


class ReplicaWatcher:
    """An actor of each process; it has no unfinished work, so it needs no draining."""

    def __init__(self, *, database: Database, replicas: ReplicaSet) -> None:
        self._database = database
        self._replicas = replicas
        self.box = Mailbox()

    async def run(self) -> NoReturn:
        """Look at the replicas, until cancelled."""
        while True:
            await self.look()
            await self.box.receive(LOOK_SECONDS)

    async def look(self) -> None:
        """Compare the replicas with the primary; while that is away, no request is served and none reads elsewhere."""
        try:
            place = await self._database.read(system.primary_place)
        except ServiceUnavailable:
            # The log has the reason; it is compared at the next look.
            return
        await self._replicas.look(place)
