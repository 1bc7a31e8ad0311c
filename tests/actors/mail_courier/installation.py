"""The mail courier in virtual time, with a real database and a fake mail server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from actors.mail_couriers import (
    MailCourier,
)
from actors.supervision import Supervisor
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.mail import mail as messages
from core.mail.mail import MailTemplate, RenderedMail
from core.sessions.origins import Origin
from entrypoints.pages.frame.languages import LANGUAGES
from ports.database import Database
from ports.mailboxes import Due, WorkKind
from tests.clock import SettableClock
from tests.mailboxes import LocalMailboxes, RecordedMailboxes

# Longer than the longest wait of a mail in these tests.
VIRTUAL_SECONDS_MAX = 4 * 3600


class Crash(Exception):
    """A failure that the code does not expect."""


class Steps:
    """Counts the courier's steps, and raises an error once, at the step that the test has chosen."""

    def __init__(self) -> None:
        self.has_raised = False
        self._raise_at: tuple[str, int] | None = None
        self._error: type[BaseException] = Crash
        self._taken: Counter[str] = Counter()

    def raise_at(self, step: str, nth: int = 1, error: type[BaseException] = Crash) -> None:
        self._raise_at, self._error = (step, nth), error

    def take(self, step: str) -> None:
        self._taken[step] += 1
        if (step, self._taken[step]) == self._raise_at:
            self.has_raised = True
            raise self._error(step)


class FakeMailServer:
    """A mail server that accepts every mail, unless the test has set a reaction for the address."""

    def __init__(self, steps: Steps) -> None:
        self.delivered: list[str] = []
        self.ids: list[UUID] = []
        self.reactions: dict[str, Callable[[], Awaitable[None]]] = {}
        self.concurrent = 0
        self.concurrent_max = 0
        self._steps = steps

    async def send(self, mail_id: UUID, to: str, rendered: RenderedMail) -> None:
        self.concurrent += 1
        self.concurrent_max = max(self.concurrent_max, self.concurrent)
        try:
            await trio.lowlevel.checkpoint()
            self._steps.take("before acceptance")
            if to in self.reactions:
                await self.reactions[to]()
            self.delivered.append(to)
            self.ids.append(mail_id)
            self._steps.take("after acceptance")
        finally:
            self.concurrent -= 1


class SteppedDatabase:
    """A database whose transactions begin and end with a step; it can be away for some calls of a use case."""

    def __init__(self, database: PostgresDatabase, steps: Steps) -> None:
        self.outages: dict[str, int] = {}
        self.calls: list[str] = []
        self._database = database
        self._steps = steps

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        name: str = getattr(use_case, "func", use_case).__name__
        self.calls.append(name)
        self._steps.take(f"before {name}")
        if self.outages.get(name, 0) > 0:
            self.outages[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        result = await self.run_uncounted(use_case, *args, **kwargs)
        self._steps.take(f"after {name}")
        return result

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier called read() instead of transact()")

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the courier called step() instead of transact()")

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
        organization_credential: object = None,
        use: object = None,
    ) -> Database:
        return self

    async def run_uncounted(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a use case that does not count as a step of the courier."""
        return await self._database.transact(use_case, *args, **kwargs)

    def of_another_replica(self) -> SteppedDatabase:
        """Return the same database as of another replica, whose messages are not heard here."""
        return SteppedDatabase(replace(self._database, mailboxes=RecordedMailboxes()), self._steps)


class Installation:
    """A courier's dependencies, and the tables that it works on."""

    def __init__(self, database: PostgresDatabase, connection: Connection, mailboxes: LocalMailboxes) -> None:
        self.steps = Steps()
        self.database = SteppedDatabase(database, self.steps)
        self.mail_server = FakeMailServer(self.steps)
        self.metrics = PrometheusMetrics(version="test")
        self.mailboxes = mailboxes
        self._connection = connection

    def courier(self, *, has_gateway: bool = True) -> MailCourier:
        courier = MailCourier(
            database=self.database,
            mailboxes=self.mailboxes,
            renderer=JinjaMailRenderer(base_url="https://id.example.com", languages=LANGUAGES),
            gateway=self.mail_server if has_gateway else None,
            metrics=self.metrics,
        )
        self.mailboxes.boxes[courier.work_kind] = courier.box
        return courier

    async def queue(self, *recipients: str) -> None:
        """Queue mails as a request to this process does."""
        for to in recipients:
            await self.database.run_uncounted(messages.send, to, MailTemplate.TEST)

    async def queue_elsewhere(self, *recipients: str) -> None:
        """Queue mails as another replica does."""
        for to in recipients:
            await self.database.of_another_replica().run_uncounted(messages.send, to, MailTemplate.TEST)

    def states(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT recipient, state FROM mails").fetchall())

    def row(self, to: str) -> dict[str, Any]:
        row = self._connection.execute("SELECT to_jsonb(mails) FROM mails WHERE recipient = %s", (to,)).fetchone()
        assert row is not None
        return row[0]

    def take_over(self, to: str) -> None:
        """Claim a mail as another courier does after the lease has ended."""
        self._connection.execute("UPDATE mails SET attempts = attempts + 1 WHERE recipient = %s", (to,))

    def age_mails(self, age: timedelta) -> None:
        mails = self._connection.execute("SELECT organization_id, id, created_at FROM mails").fetchall()
        self._connection.execute_each(
            "UPDATE mails SET created_at = %s WHERE organization_id = %s AND id = %s",
            [(created_at - age, organization_id, mail_id) for organization_id, mail_id, created_at in mails],
        )

    async def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Let virtual time pass until the condition is true."""
        for _ in range(VIRTUAL_SECONDS_MAX):
            if is_true():
                return
            # As the poller does.
            self.mailboxes.send(WorkKind.MAIL, Due())
            await trio.sleep(1)
        raise AssertionError("the condition is still false after the maximum of virtual time")

    async def run_courier(self, until: Callable[[], bool]) -> None:
        """Run a supervised courier until the condition is true, and stop it properly."""
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=SettableClock(), metrics=self.metrics)
            courier = self.courier()
            supervisor.supervise("mail_courier", courier.run, courier.box)
            await self.wait_until(until)
            await supervisor.stop()

    def all_sent(self) -> bool:
        return set(self.states().values()) == {"sent"}


@pytest.fixture
def clock(autojump_clock: MockClock) -> Callable[[], datetime]:
    """The clock of the transactions, which shows the virtual time."""
    return lambda: datetime(2026, 2, 3, tzinfo=UTC) + timedelta(seconds=autojump_clock.current_time())


@pytest.fixture
def mailboxes() -> LocalMailboxes:
    return LocalMailboxes()


@pytest.fixture
async def installation(database: PostgresDatabase, connection: Connection, mailboxes: LocalMailboxes) -> Installation:
    return Installation(database, connection, mailboxes)
