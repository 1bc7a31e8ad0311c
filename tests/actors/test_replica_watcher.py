"""Looking at the replicas: every second, and not while the primary is away."""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import MockClock

from actors.replica_watcher import LOOK_SECONDS, ReplicaWatcher
from adapters.postgres.database import PostgresDatabase
from core.errors import ServiceUnavailable
from core.platform.system import PrimaryPlace
from tests.mailboxes import keep_time


class Looks:
    """The port `ReplicaSet`: notes each position of the primary that it gets."""

    def __init__(self) -> None:
        self.places: list[tuple[float, PrimaryPlace]] = []

    async def look(self, primary: PrimaryPlace) -> None:
        """Note it."""
        self.places.append((trio.current_time(), primary))


class AwayAtFirst:
    """A database that is away when it is asked first."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._was_asked = False

    async def read(self, use_case: Any) -> Any:
        """Run a use case."""
        if not self._was_asked:
            self._was_asked = True
            raise ServiceUnavailable(retry_after_seconds=1)
        return await self._database.read(use_case)


async def test_the_replicas_are_compared_with_the_primary_every_second_while_it_is_there(
    database: PostgresDatabase, autojump_clock: MockClock
) -> None:
    looks = Looks()
    away: Any = AwayAtFirst(database)

    with trio.move_on_after(2.5 * LOOK_SECONDS):
        async with trio.open_nursery() as nursery:
            keep_time(nursery, ReplicaWatcher(database=away, replicas=looks))

    assert [round(at) for at, _ in looks.places] == [1, 2]
    [(_, first), (_, second)] = looks.places
    assert first.system_identifier == second.system_identifier
    assert first.position <= second.position
