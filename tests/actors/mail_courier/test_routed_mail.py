"""The courier of organizations' mail servers, in virtual time with a real database and fake servers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from actors.mail_couriers import (
    MAILS_OF_LEASE_MAX,
    SEND_SECONDS_MAX,
    SERVERS_AT_ONCE_MAX,
    OldMails,
    RoutedMailCourier,
)
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.postgres.driver.connection import Connection
from core.mail import mail
from core.mail.mail import LEASE, RETRY_DELAYS, MailServerUnusable, MailTemplate, RenderedMail
from core.mail.routed_mail import WAIT_MAX
from core.mail.servers import MailServer
from entrypoints.pages.frame.languages import LANGUAGES
from ports.mailboxes import Drain
from ports.unit_of_work import UnitOfWork
from tests.actors.mail_courier.installation import Installation
from tests.mailboxes import LocalMailboxes, let_work
from tests.world.builder import Builder

RENDERER = JinjaMailRenderer(base_url="https://id.example.com", languages=LANGUAGES)


class FakeServers:
    """The mail servers of all organizations by their host; each takes every mail unless the test has set a reaction."""

    def __init__(self) -> None:
        self.delivered: dict[str, list[str]] = {}
        self.reactions: dict[str, Callable[[], Awaitable[None]]] = {}
        self.attempts = 0

    async def send(
        self, organization_id: UUID, server: MailServer, mail_id: UUID, to: str, rendered: RenderedMail
    ) -> str:
        self.attempts += 1
        await trio.lowlevel.checkpoint()
        if server.host in self.reactions:
            await self.reactions[server.host]()
        self.delivered.setdefault(server.host, []).append(to)
        return "250 OK"


class Stage:
    """Organizations with mail servers."""

    def __init__(
        self, installation: Installation, connection: Connection, clock: Callable[[], object], mailboxes: LocalMailboxes
    ) -> None:
        self.servers = FakeServers()
        self._installation = installation
        self._connection = connection
        self._builder = Builder(connection, clock)  # pyright: ignore[reportArgumentType] - it is callable alike
        self._mailboxes = mailboxes

    def courier(self) -> RoutedMailCourier:
        courier = RoutedMailCourier(
            database=self._installation.database,
            mailboxes=self._mailboxes,
            renderer=RENDERER,
            gateway=self.servers,
            metrics=self._installation.metrics,
        )
        self._mailboxes.boxes[courier.work_kind] = courier.box
        return courier

    def organization(self, slug: str) -> UUID:
        organization_id = self._builder.organization(slug)
        self._builder.member(organization_id, self._builder.user(f"owner@{slug}.example"), "owner")
        self._connection.execute(
            """
            INSERT INTO mail_servers (organization_id, host, port, tls, from_name, from_email, created_at, updated_at)
            VALUES (%s, %s, 587, 'none', 'Acme', 'post@acme.example', now(), now())
            """,
            (organization_id, slug),
        )
        return organization_id

    async def queue(self, organization_id: UUID, *recipients: str) -> None:
        def send_all(uow: UnitOfWork) -> None:
            for to in recipients:
                mail.send(
                    uow,
                    to,
                    MailTemplate.TRIAL_ENDING,
                    organization_id=organization_id,
                    service="Shop",
                    organization="Acme",
                    link="",
                )

        await self._installation.database.run_uncounted(send_all)


@pytest.fixture
def stage(
    installation: Installation, connection: Connection, clock: Callable[[], object], mailboxes: LocalMailboxes
) -> Stage:
    return Stage(installation, connection, clock, mailboxes)


async def refuse() -> None:
    raise MailServerUnusable("The mail server cannot be reached: Connection refused")


def counted(installation: Installation, outcome: str) -> float:
    """Return how many attempts the metrics count with this outcome."""
    found = re.search(
        rf'^sso_mail_attempts_total{{outcome="{outcome}",server="organization"}} (\S+)$',
        installation.metrics.exposition().decode(),
        re.MULTILINE,
    )
    assert found is not None
    return float(found[1])


async def test_a_mail_leaves_as_soon_as_it_is_committed_and_is_measured(
    stage: Stage, nursery: trio.Nursery, installation: Installation, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    nursery.start_soon(stage.courier().run)
    await trio.sleep(1)

    await stage.queue(acme, "ada@example.org")
    await trio.sleep(0.1)

    assert stage.servers.delivered == {"acme": ["ada@example.org"]}
    assert f'{{job_type="{RoutedMailCourier.job_type}"}} 1.0' in installation.metrics.exposition().decode()
    assert counted(installation, "sent") == 1


async def test_mails_that_cannot_be_decrypted_fail_and_hold_up_no_later_ones(
    stage: Stage, nursery: trio.Nursery, connection: Connection, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    await stage.queue(acme, *(f"lost-{number}@example.org" for number in range(2 * MAILS_OF_LEASE_MAX)))
    connection.execute("UPDATE mails SET values_sealed = 'x'")
    await stage.queue(acme, "ada@example.org")

    courier = stage.courier()
    nursery.start_soon(courier.run)
    for _ in range(3):
        await let_work(courier)
        await trio.sleep(1)

    assert stage.servers.delivered == {"acme": ["ada@example.org"]}
    [[failed]] = connection.execute("SELECT count(*) FROM mails WHERE state = 'failed'").fetchall()
    assert failed == 2 * MAILS_OF_LEASE_MAX


async def test_dead_and_silent_servers_delay_no_other_organization(
    stage: Stage, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    for number in range(SERVERS_AT_ONCE_MAX // 2):
        silent = stage.organization(f"silent-{number}")
        dead = stage.organization(f"dead-{number}")
        stage.servers.reactions[f"silent-{number}"] = trio.sleep_forever
        stage.servers.reactions[f"dead-{number}"] = refuse
        for organization_id in (silent, dead):
            await stage.queue(organization_id, *[f"{one}@example.org" for one in range(3)])
    acme = stage.organization("acme")
    recipients = [f"{one}@example.com" for one in range(3 * MAILS_OF_LEASE_MAX)]
    await stage.queue(acme, *recipients)

    nursery.start_soon(stage.courier().run)
    await trio.sleep(1)

    assert stage.servers.delivered == {"acme": recipients}


async def test_a_dead_server_is_tried_once_for_each_delay(
    stage: Stage, nursery: trio.Nursery, installation: Installation, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    stage.servers.reactions["acme"] = refuse
    await stage.queue(acme, *[f"{one}@example.org" for one in range(20)])
    courier = stage.courier()
    nursery.start_soon(courier.run)

    async def told_for(seconds: float) -> None:
        for _ in range(round(seconds)):
            await let_work(courier)
            await trio.sleep(1)

    await told_for(sum(delay.total_seconds() for delay in RETRY_DELAYS[:2]) + 30)
    attempts = stage.servers.attempts
    del stage.servers.reactions["acme"]
    await trio.sleep(RETRY_DELAYS[2].total_seconds())
    await told_for(10)

    assert attempts == 3
    assert counted(installation, "deferred") == 3
    assert len(stage.servers.delivered["acme"]) == 20


async def test_a_server_that_does_not_answer_in_time_has_failed(
    stage: Stage, nursery: trio.Nursery, installation: Installation, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    stage.servers.reactions["acme"] = trio.sleep_forever
    await stage.queue(acme, "ada@example.org")
    courier = stage.courier()
    nursery.start_soon(courier.run)

    await trio.sleep(SEND_SECONDS_MAX - 1)
    del stage.servers.reactions["acme"]
    before = installation.row("ada@example.org")["attempts"]
    await trio.sleep(2)

    assert (before, installation.row("ada@example.org")["attempts"]) == (1, 0)
    await trio.sleep(RETRY_DELAYS[0].total_seconds())
    await let_work(courier)
    await trio.sleep(1)
    assert stage.servers.delivered == {"acme": ["ada@example.org"]}


async def test_couriers_of_two_replicas_deliver_each_mail_once(
    stage: Stage, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    recipients = [f"{one}@example.org" for one in range(3 * MAILS_OF_LEASE_MAX)]
    await stage.queue(acme, *recipients)

    for _ in range(2):
        nursery.start_soon(stage.courier().run)
    await trio.sleep(1)

    assert sorted(stage.servers.delivered["acme"]) == sorted(recipients)


async def test_a_courier_that_drains_finishes_the_mail_in_flight_and_puts_the_others_back(
    stage: Stage, installation: Installation, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    is_sending = trio.Event()

    async def take_a_second() -> None:
        is_sending.set()
        await trio.sleep(1)

    stage.servers.reactions["acme"] = take_a_second
    await stage.queue(acme, "ada@example.org", "bob@example.org")
    courier = stage.courier()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(courier.run)
        await is_sending.wait()
        courier.box.send(Drain())

    assert installation.states() == {"ada@example.org": "sent", "bob@example.org": "routed"}
    assert installation.row("bob@example.org")["attempts"] == 0


async def test_a_mail_whose_courier_crashed_is_sent_after_the_lease(
    stage: Stage, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    async def crash() -> None:
        raise RuntimeError("an unexpected error")

    acme = stage.organization("acme")
    stage.servers.reactions["acme"] = crash
    await stage.queue(acme, "ada@example.org")
    with pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        await stage.courier().run()
    del stage.servers.reactions["acme"]

    courier = stage.courier()
    nursery.start_soon(courier.run)
    await trio.sleep(LEASE.total_seconds() - 1)
    before = dict(stage.servers.delivered)
    await trio.sleep(1)
    await let_work(courier)
    await trio.sleep(1)

    assert before == {}
    assert stage.servers.delivered == {"acme": ["ada@example.org"]}


async def test_a_mail_whose_sending_was_cancelled_is_sent_after_the_lease(
    stage: Stage, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    stage.servers.reactions["acme"] = trio.sleep_forever
    await stage.queue(acme, "ada@example.org", "bob@example.org")
    with trio.move_on_after(SEND_SECONDS_MAX / 2):
        await stage.courier().run()
    stage.servers.reactions.clear()

    courier = stage.courier()
    nursery.start_soon(courier.run)
    await trio.sleep(LEASE.total_seconds() - SEND_SECONDS_MAX)
    before = dict(stage.servers.delivered)
    await trio.sleep(SEND_SECONDS_MAX)
    await let_work(courier)
    await trio.sleep(1)

    assert before == {}
    assert sorted(stage.servers.delivered["acme"]) == ["ada@example.org", "bob@example.org"]


async def test_an_organization_with_a_thousand_mails_delays_no_other(
    stage: Stage, nursery: trio.Nursery, installation: Installation, autojump_clock: MockClock
) -> None:
    flooded, quiet = stage.organization("flooded"), stage.organization("quiet")
    await stage.queue(flooded, *[f"{one}@example.org" for one in range(1_000)])
    stage.servers.reactions["flooded"] = partial(trio.sleep, 0.1)
    await stage.queue(quiet, "ada@example.org")

    nursery.start_soon(stage.courier().run)
    await trio.sleep(0.05)
    assert stage.servers.delivered == {"quiet": ["ada@example.org"]}
    await stage.queue(quiet, "bob@example.org")
    await trio.sleep(0.1 * MAILS_OF_LEASE_MAX)

    assert stage.servers.delivered["quiet"] == ["ada@example.org", "bob@example.org"]
    assert len(stage.servers.delivered["flooded"]) == MAILS_OF_LEASE_MAX
    assert list(installation.states().values()).count("routed") == 1_000 - MAILS_OF_LEASE_MAX


async def test_a_database_that_is_away_delays_the_mail_and_repeats_none(
    stage: Stage, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    await stage.queue(acme, "ada@example.org")
    installation.database.outages = {"lease": 2, "record_sent": 2}
    courier = stage.courier()

    nursery.start_soon(courier.run)
    for _ in range(3):
        await let_work(courier)
        await trio.sleep(5)

    assert stage.servers.delivered == {"acme": ["ada@example.org"]}
    assert installation.states() == {"ada@example.org": "sent"}


async def test_what_has_waited_too_long_expires(
    stage: Stage, installation: Installation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    acme = stage.organization("acme")
    stage.servers.reactions["acme"] = refuse
    await stage.queue(acme, "ada@example.org")
    installation.age_mails(WAIT_MAX + timedelta(seconds=1))

    await OldMails(
        database=installation.database, metrics=installation.metrics, mailboxes=installation.mailboxes
    ).work()

    assert installation.row("ada@example.org")["state"] == "failed"
