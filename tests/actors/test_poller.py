"""The poller: one process polls for all, the others hear what it announces, and take over when it is gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.event_sequencer import MemoryFeedWaiters
from actors.live_processes import HELD_SECONDS, MemoryLiveProcesses
from actors.poller import (
    BUSY_FOR_SECONDS,
    BUSY_SECONDS,
    IDLE_SECONDS,
    REOPEN_SECONDS_MAX,
    SILENCE_SECONDS_MAX,
    Poller,
)
from adapters.prometheus import PrometheusMetrics
from core.billing.provider import BillingMode
from core.errors import ServiceUnavailable
from ports.database import Database
from ports.listening import LIVE, ListeningFailed, Polled, PollingRole, Word
from ports.mailboxes import WorkKind

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
SHORT_SECONDS = 0.01


def now() -> datetime:
    """The present in virtual time."""
    return BEGINNING + timedelta(seconds=trio.current_time())


class Server:
    """A fake PostgreSQL: what is due, who holds the lock, and the connections that listen."""

    def __init__(self) -> None:
        self.due: dict[str, datetime] = {}
        self.connections: list[Connection] = []
        self.holder: Connection | None = None
        self.polls: list[tuple[str, float]] = []
        self.clock_behind = timedelta()
        # Processes besides the test's own.
        self.others = 0
        self.refuses_listening: str | None = None
        self.is_away = False

    def announce(self, *words: str) -> None:
        """Announce to all connections, as NOTIFY does."""
        for connection in self.connections:
            if connection is not self.holder or Word.POLLED not in words:
                connection.receive(frozenset(words))

    def polled(self, name: str) -> Mapping[str, datetime]:
        """Record a poll."""
        self.polls.append((name, trio.current_time()))
        return dict(self.due)

    def since(self, moment: float) -> list[str]:
        """Return which processes have polled since then."""
        return [name for name, at in self.polls if at >= moment]


class Connection:
    """A fake of the port `ListeningConnection`."""

    def __init__(self, server: Server, name: str) -> None:
        self._server, self._name = server, name
        self._heard: list[frozenset[str]] = []
        self._is_heard = trio.Event()
        self.is_lost = False
        self.hangs = False

    def receive(self, words: frozenset[str]) -> None:
        self._heard.append(words)
        self._is_heard.set()

    async def _round_trip(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.hangs:
            await trio.sleep_forever()
        if self.is_lost:
            raise ListeningFailed("the connection is lost")

    async def try_to_lead(self) -> bool:
        await self._round_trip()
        self._server.holder = self._server.holder or self
        return self._server.holder is self

    async def poll(self, now: datetime) -> Polled:
        await self._round_trip()
        due, live = self._server.polled(self._name), len(self._server.connections) + self._server.others
        due_now = (work for work, due_at in due.items() if due_at <= now)
        self._server.announce(Word.POLLED, f"{LIVE}{live}", *due_now)
        return Polled(due, processes=live)

    async def hear(self, seconds: float) -> Sequence[frozenset[str]]:
        if not self._heard and not self.is_lost:
            self._is_heard = trio.Event()
            with trio.move_on_after(seconds):
                await self._is_heard.wait()
        await self._round_trip()
        heard, self._heard = self._heard, []
        return heard

    async def leave(self) -> None:
        await self._round_trip()
        self._server.holder = None
        self._server.announce(Word.LEFT)

    def lose(self) -> None:
        """End the session, as when the server or the network fails."""
        self.is_lost = True
        self._is_heard.set()
        if self._server.holder is self:
            self._server.holder = None


class Keeper:
    """A fake of the port `PeriodKeeping`: the roles that it was given, and what is due since when."""

    def __init__(self) -> None:
        self.roles: list[PollingRole | None] = []
        self.told: dict[WorkKind, datetime] = {}

    def enter(self, role: PollingRole | None) -> None:
        if self.roles[-1:] != [role]:
            self.roles.append(role)

    def tell_due(self, work: WorkKind, since: datetime) -> None:
        self.told[work] = since


class Process:
    """A process with a poller, and fakes of the ports `Listening` and `Database`."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.name = server, name
        self.keeper, self.waiters = Keeper(), MemoryFeedWaiters()
        self.processes = MemoryLiveProcesses()
        self.metrics = PrometheusMetrics(version="test")
        self.scope = trio.CancelScope()
        self.connection: Connection | None = None
        self.poller = Poller(
            listening=self,
            mode=BillingMode.SANDBOX,
            clock=lambda: now() - server.clock_behind,
            database=cast("Database", cast("Any", self)),
            keeper=self.keeper,
            waiters=self.waiters,
            processes=self.processes,
            metrics=self.metrics,
        )

    async def run(self) -> None:
        with self.scope:
            await self.poller.run()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Connection]:
        await trio.lowlevel.checkpoint()
        if self.server.refuses_listening is not None:
            raise ListeningFailed(self.server.refuses_listening)
        self.connection = Connection(self.server, self.name)
        self.server.connections.append(self.connection)
        try:
            yield self.connection
        finally:
            self.server.connections.remove(self.connection)
            self.connection.lose()

    async def read(self, _use_case: object, *_arguments: object) -> Mapping[str, datetime]:
        await trio.lowlevel.checkpoint()
        if self.server.is_away:
            raise ServiceUnavailable(retry_after_seconds=1)
        return self.server.polled(f"{self.name} alone")

    def is_told(self, work: WorkKind = WorkKind.DELIVERIES) -> bool:
        """Return whether this process got a message that work is due, and forget it."""
        return self.keeper.told.pop(work, None) is not None

    @property
    def role(self) -> str:
        """What its metric says."""
        lines = self.metrics.exposition().decode().splitlines()
        [role] = [line for line in lines if line.startswith("sso_polling_processes{") and line.endswith(" 1.0")]
        return role.split('"')[1]

    def overdue(self, work: str) -> float:
        """Return for how long its metric says that this kind of work has been due."""
        lines = self.metrics.exposition().decode().splitlines()
        [value] = [line for line in lines if line.startswith(f'sso_work_overdue_seconds{{work="{work}"}}')]
        return float(value.rpartition(" ")[2])


@pytest.fixture
def server() -> Server:
    return Server()


async def started(server: Server, nursery: trio.Nursery, *names: str) -> list[Process]:
    """Start processes, the first of which polls."""
    processes = [Process(server, name) for name in names]
    for process in processes:
        nursery.start_soon(process.run)
        await trio.sleep(SHORT_SECONDS)
    await trio.sleep(IDLE_SECONDS + SHORT_SECONDS)
    return processes


async def test_one_process_polls_and_what_is_due_is_told_in_all(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")
    assert (first.role, second.role) == ("polling", "listening")
    assert not first.is_told()
    server.due["deliveries"] = now()

    await trio.sleep(IDLE_SECONDS)

    assert (first.is_told(), second.is_told()) == (True, True)
    assert not second.is_told(WorkKind.MAIL)
    assert {name for name, _ in server.polls} == {"first"}


async def test_the_process_that_polls_tells_for_how_long_work_has_been_due(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")
    server.due |= {"deliveries": now() - timedelta(hours=1), "mail": now() + timedelta(hours=1), "unknown": now()}
    await trio.sleep(IDLE_SECONDS)

    late = (first.overdue("deliveries"), second.overdue("deliveries"))
    first.scope.cancel()
    await trio.sleep(2 * IDLE_SECONDS)
    server.due.clear()
    taken_over = second.overdue("deliveries")
    await trio.sleep(2 * IDLE_SECONDS)

    assert late == (pytest.approx(3600, abs=2 * IDLE_SECONDS), 0.0)
    assert (first.overdue("mail"), first.overdue("sealing")) == (0.0, 0.0)
    assert taken_over > 3600
    assert second.overdue("deliveries") == 0.0


async def test_nothing_due_is_asked_seldom_and_what_is_due_more_often(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await started(server, nursery, "first", "second")
    server.polls.clear()
    await trio.sleep(100 * IDLE_SECONDS)
    idle = len(server.polls)
    server.due["deliveries"] = now()
    await trio.sleep(IDLE_SECONDS)
    server.polls.clear()

    await trio.sleep(100 * BUSY_SECONDS)

    assert idle == pytest.approx(100, abs=1)
    assert len(server.polls) == pytest.approx(100, abs=1)


async def test_a_clock_that_is_set_back_makes_nobody_ask_more_often_once_nothing_is_due(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server.due["deliveries"] = BEGINNING
    await started(server, nursery, "first", "second")
    server.due.clear()

    server.clock_behind = timedelta(hours=1)
    await trio.sleep(BUSY_FOR_SECONDS)
    server.polls.clear()
    await trio.sleep(100 * IDLE_SECONDS)

    assert len(server.polls) == pytest.approx(100, abs=1)


async def test_a_retry_is_looked_for_at_its_time(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [process] = await started(server, nursery, "first")
    polled_at = server.polls[-1][1]
    server.due |= {"deliveries": BEGINNING + timedelta(seconds=polled_at + 1.3 * IDLE_SECONDS)}

    await trio.sleep_until(polled_at + 1.3 * IDLE_SECONDS - SHORT_SECONDS)
    early = process.is_told()
    await trio.sleep(2 * SHORT_SECONDS)

    assert (early, process.is_told()) == (False, True)


async def test_another_process_takes_over_at_once_from_one_that_stops(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")

    first.scope.cancel()
    await trio.sleep(SHORT_SECONDS)

    assert second.role == "polling"
    assert second.keeper.roles[-1] is PollingRole.POLLING


async def test_another_process_takes_over_from_one_that_died(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")
    assert first.connection is not None
    # Without the announcement of its end.
    first.connection.lose()
    first.scope.cancel()
    server.due["deliveries"] = now()

    await trio.sleep(SILENCE_SECONDS_MAX + SHORT_SECONDS)

    assert second.role == "polling"
    assert second.is_told()


async def test_while_the_process_that_polls_hangs_the_others_poll_alone_until_it_goes_on(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")
    assert first.connection is not None
    first.connection.hangs = True
    server.due["deliveries"] = now()
    await trio.sleep(SILENCE_SECONDS_MAX + 2 * SHORT_SECONDS)
    assert (second.role, second.is_told()) == ("alone", True)
    began_at = trio.current_time()
    await trio.sleep(10 * IDLE_SECONDS)
    assert server.since(began_at).count("second alone") == len(server.since(began_at)) >= 10

    # As after SIGCONT.
    server.announce(Word.POLLED)
    await trio.sleep(SHORT_SECONDS)

    assert (second.role, second.keeper.roles[-1]) == ("listening", PollingRole.LISTENING)


async def test_a_process_that_cannot_listen_polls_alone_says_so_once_and_tries_again(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    server.refuses_listening = "the reason"
    with capture_logs() as lines:
        [process] = await started(server, nursery, "first")
        server.due["deliveries"] = now()
        await trio.sleep(10 * REOPEN_SECONDS_MAX)
    assert (process.role, process.is_told()) == ("alone", True)
    assert lines == [{"event": "polling.alone", "reason": "the reason", "log_level": "warning"}]
    server.refuses_listening = None

    with capture_logs() as lines:
        await trio.sleep(REOPEN_SECONDS_MAX + SHORT_SECONDS)

    assert process.role == "polling"
    # Processes take turns whenever one starts or stops; the metric shows the role.
    assert [(line["event"], line["log_level"]) for line in lines] == [("polling.changed", "debug")]


async def test_a_lost_connection_is_replaced_and_meanwhile_the_process_polls_alone(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [process] = await started(server, nursery, "first")
    assert process.connection is not None
    process.connection.lose()
    await trio.sleep(SHORT_SECONDS)
    meanwhile = process.role

    await trio.sleep(2 * IDLE_SECONDS)

    assert (meanwhile, process.role) == ("alone", "polling")


async def test_without_a_database_the_actors_look_for_themselves(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [process] = await started(server, nursery, "first")
    answered = list(process.keeper.roles)
    assert process.connection is not None
    server.is_away, server.refuses_listening = True, "it is away"
    process.connection.lose()
    await trio.sleep(SHORT_SECONDS)
    away = list(process.keeper.roles)
    server.is_away, server.refuses_listening = False, None
    await trio.sleep(REOPEN_SECONDS_MAX)

    assert (answered, away) == ([PollingRole.POLLING], [PollingRole.POLLING, None])
    assert process.keeper.roles[-1] is PollingRole.POLLING


async def test_a_poller_that_crashes_leaves_the_actors_to_look_for_themselves(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [process] = await started(server, nursery, "first")

    process.scope.cancel()
    await trio.sleep(SHORT_SECONDS)

    assert process.keeper.roles == [PollingRole.POLLING, None]


async def test_actors_are_told_since_when_their_work_is_due(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = await started(server, nursery, "first", "second")
    since = now() - timedelta(hours=1)
    server.due["invitations"] = since

    await trio.sleep(IDLE_SECONDS)

    # The announcement says that it is due, and not since when.
    assert first.keeper.told == {WorkKind.INVITATIONS: since}
    assert list(second.keeper.told) == [WorkKind.INVITATIONS]


async def test_requests_that_wait_for_events_are_woken_by_other_processes(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    processes = await started(server, nursery, "first", "second")
    for process in processes:
        began_at = trio.current_time()
        async with trio.open_nursery() as requests:
            requests.start_soon(process.waiters.wait, 20.0)
            await trio.sleep(SHORT_SECONDS)
            server.announce(Word.FEED)
        assert trio.current_time() == began_at + SHORT_SECONDS


async def test_all_processes_hear_how_many_there_are(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    first, second = processes = await started(server, nursery, "first", "second")
    server.others = 2
    await trio.sleep(IDLE_SECONDS)
    more = [process.processes.number for process in processes]
    second.scope.cancel()
    await trio.sleep(IDLE_SECONDS)

    assert (more, first.processes.number) == ([4, 4], 3)
    assert "sso_live_processes 3.0" in first.metrics.exposition().decode().splitlines()


async def test_the_number_of_processes_holds_without_the_database_and_until_all_may_be_back(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    [process] = await started(server, nursery, "first")
    server.others = 3
    await trio.sleep(IDLE_SECONDS)
    assert process.connection is not None
    server.is_away, server.refuses_listening = True, "it is away"
    process.connection.lose()
    await trio.sleep(10 * HELD_SECONDS)
    away = process.processes.number

    # The others are not back yet.
    server.is_away, server.refuses_listening, server.others = False, None, 1
    await trio.sleep(REOPEN_SECONDS_MAX + IDLE_SECONDS)
    returned = process.processes.number
    server.others = 4
    await trio.sleep(IDLE_SECONDS)
    joined = process.processes.number
    server.others = 1
    await trio.sleep(HELD_SECONDS)

    assert (away, returned, joined, process.processes.number) == (4, 4, 5, 2)


async def test_work_that_only_a_newer_version_knows_is_ignored(
    server: Server, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    _, process = await started(server, nursery, "first", "second")

    server.announce(Word.POLLED, "fax", "mail")
    await trio.sleep(SHORT_SECONDS)

    assert process.is_told(WorkKind.MAIL)
