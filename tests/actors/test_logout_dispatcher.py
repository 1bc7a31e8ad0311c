"""The dispatcher of logout tokens in virtual time, with a real database and services that may not answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from actors.dispatching import DELIVERIES_AT_ONCE_MAX
from actors.logout_dispatcher import SERVICES_AT_ONCE_MAX, LogoutDispatcher
from adapters.gateways.attempts import ATTEMPT_SECONDS_MAX
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.prometheus import PrometheusMetrics
from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX, RETRY_DELAYS, Attempt
from core.errors import ServiceUnavailable
from tests.actors.mail_courier.installation import SteppedDatabase, Steps
from tests.mailboxes import RecordedMailboxes, let_work
from tests.world.builder import Builder

SILENT = Attempt(status_code=None, body=None, error="The receiver did not answer within 15 seconds.")
TOLD = Attempt(status_code=200, body="", error=None)


@pytest.fixture
def clock(autojump_clock: MockClock) -> Callable[[], datetime]:
    """The clock of the transactions, which shows the virtual time."""
    return lambda: datetime(2026, 2, 3, tzinfo=UTC) + timedelta(seconds=autojump_clock.current_time())


class Services:
    """Services of organizations, whose receivers answer at once or not at all; a signer that may have no key."""

    def __init__(self, connection: Connection, clock: Callable[[], datetime]) -> None:
        self.connection = connection
        self.told: list[str] = []
        self.attempts_at_once: dict[str, int] = {}
        self.silent: set[str] = set()
        self.can_sign = True
        self._clock = clock
        self._builder = Builder(connection, clock)

    def organization(self, slug: str, *services: str) -> UUID:
        """Insert an organization with services, each of which has an address to post to."""
        organization_id = self._builder.organization(slug)
        for service in services:
            self._builder.service(organization_id, service)
        self.connection.execute(
            "UPDATE services SET backchannel_logout_uri = 'https://' || slug WHERE organization_id = %s",
            (organization_id,),
        )
        return organization_id

    def queue(self, organization_id: UUID, notices: int) -> None:
        """Queue notices for each service of an organization."""
        self.connection.execute(
            """
            WITH notices AS (
                INSERT INTO logout_notices (organization_id, service_id, session_id, user_id, next_retry_at, queued_at)
                SELECT organization_id, id, gen_random_uuid(), gen_random_uuid(), %(now)s, %(now)s
                FROM   services, generate_series(1, %(notices)s)
                WHERE  organization_id = %(organization_id)s)
            INSERT INTO logout_queues (service_id, organization_id, due_at)
            SELECT id, organization_id, %(now)s FROM services WHERE organization_id = %(organization_id)s
            """,
            {"organization_id": organization_id, "notices": notices, "now": self._clock()},
        )

    def waiting(self, organization_id: UUID) -> list[int]:
        """Return the attempts of each notice that is not delivered."""
        rows = self.connection.execute(
            "SELECT attempt_count FROM logout_notices WHERE organization_id = %s", (organization_id,)
        )
        return [attempts for (attempts,) in rows.fetchall()]

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        self.attempts_at_once[uri] = self.attempts_at_once.get(uri, 0) + 1
        try:
            if uri in self.silent:
                await trio.sleep(ATTEMPT_SECONDS_MAX)
                return SILENT
            await trio.lowlevel.checkpoint()
            self.told.append(uri)
            return TOLD
        finally:
            self.attempts_at_once[uri] -= 1

    def sign(self, claims: object, **options: Any) -> str:
        if not self.can_sign:
            raise ServiceUnavailable(retry_after_seconds=1)
        return "token"


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="test")


@pytest.fixture
async def services(connection: Connection, clock: Callable[[], datetime]) -> Services:
    return Services(connection, clock)


@pytest.fixture
async def dispatcher(
    services: Services,
    database: PostgresDatabase,
    clock: Callable[[], datetime],
    metrics: PrometheusMetrics,
) -> LogoutDispatcher:
    return LogoutDispatcher(
        sender=services,
        tokens=cast("Any", services),
        clock=clock,
        database=SteppedDatabase(database, Steps()),
        mailboxes=RecordedMailboxes(),
        metrics=metrics,
    )


async def test_an_organization_with_a_thousand_notices_for_silent_services_delays_no_other(
    services: Services, dispatcher: LogoutDispatcher, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    names = [f"silent-{number}" for number in range(SERVICES_AT_ONCE_MAX + 4)]
    acme, globex = services.organization("acme", *names), services.organization("globex", "quick")
    services.silent = {f"https://{name}" for name in names}
    services.queue(acme, 50)
    services.queue(globex, 1)

    nursery.start_soon(dispatcher.run)
    await trio.sleep(0.5)

    assert services.told == ["https://quick"]
    in_flight = [attempts for attempts in services.attempts_at_once.values() if attempts]
    assert in_flight == [1] * ORGANIZATION_TARGETS_MAX


async def test_a_service_with_more_notices_than_go_at_once_gets_all_of_them_within_a_period_and_each_is_measured(
    services: Services,
    dispatcher: LogoutDispatcher,
    metrics: PrometheusMetrics,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
) -> None:
    acme = services.organization("acme", "quick")
    notices = 5 * DELIVERIES_AT_ONCE_MAX
    services.queue(acme, notices)

    nursery.start_soon(dispatcher.run)
    await trio.sleep(0.5)

    assert (len(services.told), services.waiting(acme)) == (notices, [])
    assert f'{{job_type="{LogoutDispatcher.job_type}"}} {notices}.0' in metrics.exposition().decode()


async def test_a_notice_whose_sending_was_cancelled_is_sent_after_the_lease_and_counts_no_attempt(
    services: Services, dispatcher: LogoutDispatcher, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = services.organization("acme", "slow")
    services.silent = {"https://slow"}
    services.queue(acme, 1)
    with trio.move_on_after(ATTEMPT_SECONDS_MAX / 2):
        await dispatcher.run()
    cancelled = services.waiting(acme)
    services.silent.clear()

    nursery.start_soon(dispatcher.run)
    await trio.sleep(LEASE.total_seconds() - ATTEMPT_SECONDS_MAX)
    before = list(services.told)
    await trio.sleep(ATTEMPT_SECONDS_MAX)
    await let_work(dispatcher)
    await trio.sleep(0.1)

    assert (cancelled, before, services.told, services.waiting(acme)) == ([0], [], ["https://slow"], [])


async def test_a_token_that_cannot_be_signed_is_a_failed_attempt(
    services: Services, dispatcher: LogoutDispatcher, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = services.organization("acme", "quick")
    services.queue(acme, 1)
    services.can_sign = False

    nursery.start_soon(dispatcher.run)
    await trio.sleep(0.5)
    failed = services.waiting(acme)
    services.can_sign = True
    await trio.sleep(2 * RETRY_DELAYS[0].total_seconds())
    await let_work(dispatcher)
    await trio.sleep(0.1)

    assert (failed, services.told) == ([1], ["https://quick"])
