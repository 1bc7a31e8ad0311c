"""Readers who follow audit logs, and the actor that sends them new entries."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import pytest
import trio
import trio.testing

from actors.audit_tails import PERIOD_SECONDS, AuditTailWatcher, MemoryAuditTails
from adapters.postgres.database import PostgresDatabase
from adapters.prometheus import PrometheusMetrics
from core.audit import browser, chain
from core.audit.browser import PLACES_MAX, PLATFORM_LOG, TailsTaken
from core.events.actions import AuditAction, PlatformAction
from ports.database import Database
from ports.mailboxes import Due, WorkKind
from tests.mailboxes import LocalMailboxes, RecordedMailboxes, keep_time
from tests.world.builder import Builder

LOG, OTHER = UUID(int=1), UUID(int=2)


async def test_a_reader_is_woken_by_another_position_alone(autojump_clock: trio.testing.MockClock) -> None:
    readers = MemoryAuditTails(RecordedMailboxes())
    woken: list[str] = []

    async def wait(name: str, log: UUID, seen: int) -> None:
        await readers.wait(log, seen, 20)
        woken.append(f"{name} {trio.current_time() - began_at:.0f}")

    began_at = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "told", LOG, 5)
        nursery.start_soon(wait, "known", LOG, 6)
        nursery.start_soon(wait, "other", OTHER, 5)
        await trio.testing.wait_all_tasks_blocked()
        assert set(readers.followed()) == {LOG, OTHER}
        readers.tell({LOG: 6})

    assert sorted(woken) == ["known 20", "other 20", "told 0"]
    assert readers.followed() == ()


async def test_each_log_has_its_places() -> None:
    readers = MemoryAuditTails(RecordedMailboxes())
    places = [readers.place(LOG) for _ in range(PLACES_MAX)]
    for place in places:
        place.__enter__()

    with pytest.raises(TailsTaken), readers.place(LOG):
        pass
    with readers.place(OTHER):
        pass
    places[0].__exit__(None, None, None)
    with readers.place(LOG):
        pass


async def test_without_readers_the_watcher_does_nothing_and_then_tells_them(
    database: PostgresDatabase, builder: Builder, autojump_clock: trio.testing.MockClock
) -> None:
    mailboxes = LocalMailboxes()
    readers = MemoryAuditTails(mailboxes)
    statements: list[Any] = []

    class Counted:
        """The database, which counts the transactions."""

        async def transact(self, *args: Any) -> Any:
            statements.append(args)
            return await database.transact(*args)

    acme = builder.organization()

    def record(uow: Any) -> None:
        uow.record(AuditAction.ORGANIZATION_UPDATED, acme, organization_id=acme)

    watcher = AuditTailWatcher(
        logs=readers,
        database=cast("Database", Counted()),
        metrics=PrometheusMetrics(version="1.2.3"),
        mailboxes=mailboxes,
    )
    mailboxes.boxes[WorkKind.AUDIT_TAILS] = watcher.box
    async with trio.open_nursery() as nursery:
        keep_time(nursery, watcher)
        await trio.sleep(100)
        assert statements == []
        nursery.start_soon(readers.wait, acme, 0, 20)
        nursery.start_soon(readers.wait, PLATFORM_LOG, 0, 20)
        await trio.sleep(3 * PERIOD_SECONDS)
        assert 1 <= len(statements) <= 4
        assert set(readers.followed()) == {acme, PLATFORM_LOG}
        await database.transact(record)
        await database.transact(chain.seal_next, 10)
        # As the sealer does.
        mailboxes.send(WorkKind.AUDIT_TAILS, Due())
        await trio.sleep(PERIOD_SECONDS / 10)
        assert readers.followed() == (PLATFORM_LOG,)
        nursery.cancel_scope.cancel()


async def test_the_positions_are_those_of_the_chains_and_of_the_platform(
    database: PostgresDatabase, builder: Builder
) -> None:
    acme = builder.organization()

    def record(uow: Any) -> None:
        uow.record(AuditAction.ORGANIZATION_UPDATED, acme, organization_id=acme)

    assert await database.read(browser.positions, [acme, PLATFORM_LOG]) == {}
    await database.transact(record)
    await database.transact(chain.seal_next, 10)

    assert await database.read(browser.positions, [acme, OTHER]) == {acme: 1}

    def record_for_platform(uow: Any) -> UUID:
        return uow.audit_platform(PlatformAction.USER_OPENED, acme)

    newest = await database.transact(record_for_platform)

    assert await database.read(browser.positions, [acme, PLATFORM_LOG]) == {acme: 1, PLATFORM_LOG: newest.int}
