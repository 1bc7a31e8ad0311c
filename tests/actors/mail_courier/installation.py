"""The courier in virtual time, over a real database and a mail server that reacts as a test says."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import MockClock

from actors.doorbells import MemoryDoorbells
from actors.mail_courier import (
    MailCourier,
)
from actors.supervision import Supervisor
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.mail import mail as messages
from core.mail.mail import MailTemplate
from tests.doorbells import RecordedDoorbells

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from adapters.postgres.database import PostgresDatabase
    from adapters.postgres.driver.connection import Connection
    from core.mail.mail import RenderedMail
    from core.sessions.callers import Origin
    from ports.database import Database


# Longer than anything that a letter may have to wait for here.
VIRTUAL_SECONDS_MAX = 4 * 3600


class Crash(Exception):
    """Something that nobody foresaw."""


class Steps:
    """Follows what the courier does, and strikes once, at the step that the test has chosen."""

    def __init__(self) -> None:
        self.has_struck = False
        self._strike_at: tuple[str, int] | None = None
        self._blow: type[BaseException] = Crash
        self._taken: Counter[str] = Counter()

    def strike(self, step: str, nth: int = 1, blow: type[BaseException] = Crash) -> None:
        self._strike_at, self._blow = (step, nth), blow

    def take(self, step: str) -> None:
        self._taken[step] += 1
        if (step, self._taken[step]) == self._strike_at:
            self.has_struck = True
            raise self._blow(step)


class Post:
    """A mail server that takes what it is given, unless the test has made it react otherwise to an address."""

    def __init__(self, steps: Steps) -> None:
        self.delivered: list[str] = []
        self.ids: list[UUID] = []
        self.reactions: dict[str, Callable[[], Awaitable[None]]] = {}
        self.at_once = 0
        self.at_once_max = 0
        self._steps = steps

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        self.at_once += 1
        self.at_once_max = max(self.at_once_max, self.at_once)
        try:
            await trio.lowlevel.checkpoint()
            self._steps.take("before acceptance")
            if to in self.reactions:
                await self.reactions[to]()
            self.delivered.append(to)
            self.ids.append(mail_id)
            self._steps.take("after acceptance")
        finally:
            self.at_once -= 1


class StillDatabase:
    """The database, on whose threads no virtual time passes; it can be away for some calls of a use case."""

    def __init__(self, database: PostgresDatabase, clock: MockClock, steps: Steps) -> None:
        self.absences: dict[str, int] = {}
        self.calls: list[str] = []
        self._database = database
        self._clock = clock
        self._steps = steps
        self._at_work = 0

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        name: str = getattr(use_case, "func", use_case).__name__
        self.calls.append(name)
        self._steps.take(f"before {name}")
        if self.absences.get(name, 0) > 0:
            self.absences[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        result = await self.aside(use_case, *args, **kwargs)
        self._steps.take(f"after {name}")
        return result

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier never only looks")

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier works in transactions")

    def on_behalf_of(self, origin: Origin, session_id: object = None, client_id: object = None) -> Database:
        return self

    async def aside(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a use case that is none of the courier's."""
        self._at_work += 1
        self._clock.autojump_threshold = math.inf
        try:
            return await self._database.transact(use_case, *args, **kwargs)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._clock.autojump_threshold = 0

    def deaf(self) -> StillDatabase:
        """Give the same database as another replica has it."""
        return StillDatabase(replace(self._database, doorbells=RecordedDoorbells()), self._clock, self._steps)


class Installation:
    """Everything around a courier."""

    def __init__(
        self, database: PostgresDatabase, connection: Connection, doorbells: MemoryDoorbells, clock: MockClock
    ) -> None:
        self.steps = Steps()
        self.database = StillDatabase(database, clock, self.steps)
        self.post = Post(self.steps)
        self.metrics = PrometheusMetrics(version="test")
        self._doorbells = doorbells
        self._connection = connection

    def courier(self, *, has_gateway: bool = True) -> MailCourier:
        return MailCourier(
            database=self.database,
            doorbells=self._doorbells,
            renderer=JinjaMailRenderer(base_url="https://id.example.com"),
            gateway=self.post if has_gateway else None,
            metrics=self.metrics,
        )

    async def queue(self, *recipients: str) -> None:
        """Queue letters as a request to this process does."""
        for to in recipients:
            await self.database.aside(messages.send, to, MailTemplate.TEST)

    async def queue_elsewhere(self, *recipients: str) -> None:
        """Queue letters as another replica does, whose ring is not heard here."""
        for to in recipients:
            await self.database.deaf().aside(messages.send, to, MailTemplate.TEST)

    def states(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT recipient, state FROM mails").fetchall())

    def row(self, to: str) -> dict[str, Any]:
        row = self._connection.execute("SELECT to_jsonb(mails) FROM mails WHERE recipient = %s", (to,)).fetchone()
        assert row is not None
        return row[0]

    def take_over(self, to: str) -> None:
        """Claim a letter as another courier does after the lease."""
        self._connection.execute("UPDATE mails SET attempts = attempts + 1 WHERE recipient = %s", (to,))

    def grow_old(self, age: timedelta) -> None:
        self._connection.execute("UPDATE mails SET created_at = created_at - %s", (age,))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Let virtual time pass until it is so."""
        for _ in range(VIRTUAL_SECONDS_MAX):
            if is_so():
                return
            await trio.sleep(1)
        raise AssertionError("It did not come to be so.")

    async def live(self, until: Callable[[], bool]) -> None:
        """Be a process with a supervised courier until then, and stop properly."""
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=lambda: datetime.now(UTC), metrics=self.metrics)
            courier = self.courier()
            supervisor.supervise("mail_courier", courier.run, drain=courier.drain)
            await self.until(until)
            await supervisor.stop()

    def all_sent(self) -> bool:
        return set(self.states().values()) == {"sent"}


@pytest.fixture
def autojump_clock() -> MockClock:
    """Virtual time that jumps at once, except while a transaction works."""
    return MockClock(autojump_threshold=0)


@pytest.fixture
def clock(autojump_clock: MockClock) -> Callable[[], datetime]:
    """The clock of the transactions, which is the virtual one too."""
    return lambda: datetime(2026, 2, 3, tzinfo=UTC) + timedelta(seconds=autojump_clock.current_time())


@pytest.fixture
def doorbells() -> MemoryDoorbells:
    return MemoryDoorbells()


@pytest.fixture
async def installation(
    database: PostgresDatabase, connection: Connection, doorbells: MemoryDoorbells, autojump_clock: MockClock
) -> Installation:
    return Installation(database, connection, doorbells, autojump_clock)
