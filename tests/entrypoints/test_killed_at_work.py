"""kill -9 while a payment provider, a directory, browsers and new users are served: nothing is lost, nothing doubled.

Mails and webhooks are delivered at least once: one that was accepted and not yet recorded when the server was killed
comes again, with the same Message-ID and the same webhook-id, so that its receiver can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from tests.clock import SettableClock
from tests.entrypoints.killed_server import KilledServer
from tests.entrypoints.saml_work import REFUSED, Browser, Employees
from tests.entrypoints.work import Buyer, Client, DirectoryClient, ProviderEvents, Registrant
from tests.entrypoints.workplace import SENDER, TOLD, begin_work, outside
from tests.mail_server import PostOffice
from tests.payment_provider import PaymentProvider
from tests.processes import Services
from tests.receiver import Receiver
from tests.waiting import eventually
from tests.world.builder import Builder
from tests.world.fixtures import builder

__all__ = ["builder"]

KILLS = 5
# What each client has had acknowledged since the last start when the server is killed.
PIECES = 2
WORK_SECONDS_MAX = 180.0
SETTLED_SECONDS_MAX = 180.0


@pytest.fixture
def clock() -> SettableClock:
    """The time of the server, whose processes have no other."""
    return SettableClock(datetime.now(UTC))


async def has_worked(clients: Sequence[Client], before: Sequence[int]) -> bool:
    """Return whether each client has enough acknowledgements."""
    return all(client.done >= done + PIECES for client, done in zip(clients, before, strict=True))


async def work_and_be_killed(server: KilledServer, clients: Sequence[Client]) -> None:
    """Let the clients work while the server is killed and started again."""
    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(client.run)
        for _ in range(KILLS):
            before = [client.done for client in clients]
            await eventually(partial(has_worked, clients, before), seconds_max=WORK_SECONDS_MAX)
            await server.kill()
            await server.start()
        for client in clients:
            client.is_ending = True


async def settle(server: KilledServer, builder: Builder) -> None:
    """Kill the server once more, let the leases of those that were killed end, and wait until all is delivered."""
    await server.kill()
    for table in ("mails", "webhook_queues"):
        builder.connection.execute(f"UPDATE {table} SET leased_until = now() WHERE leased_until > now()".encode())
    await server.start()

    async def is_delivered() -> bool:
        waiting = """
            SELECT (SELECT count(*) FROM mails WHERE state IN ('queued', 'routed'))
                   + (SELECT count(*) FROM events WHERE position = 0)
                   + (SELECT count(*) FROM webhook_deliveries WHERE next_retry_at IS NOT NULL)
            """
        return builder.value(waiting) == 0

    await eventually(is_delivered, seconds_max=SETTLED_SECONDS_MAX)


@pytest.mark.long
async def test_kills_during_billing_scim_saml_and_mail_lose_and_double_nothing(
    services: Services, builder: Builder
) -> None:
    async with outside() as around:
        server = KilledServer(services, **around.settings)
        await server.start()
        working = await begin_work(server, builder, around.receiver)

        await work_and_be_killed(server, working.all)
        await settle(server, builder)

        check_billing(builder, working.provider_events)
        check_checkouts(builder, working.buyers, around.provider)
        check_directory(builder, working.acme_id, working.directories)
        check_sign_ins(builder, working.browsers)
        await check_first_sign_ins(builder, working.employees)
        check_mails(builder, working.registrants, working.directories, around.post_office)
        check_webhooks(builder, working.acme_id, around.receiver)
        assert server.lost > 0
        await server.close()


def counted(builder: Builder, query: str, *values: Any) -> Counter[Any]:
    """Return how often each row comes."""
    return Counter(builder.rows(query, *values))


def check_billing(builder: Builder, clients: Sequence[ProviderEvents]) -> None:
    """Each event is stored once, and each subscription exists once, with one record of each change."""
    events = [event for client in clients for event in client.events]
    statuses = {name: status for client in clients for name, status in client.statuses.items()}
    records = Counter(
        (name, f"subscription.{change}")
        for name, status in statuses.items()
        for change in ("created", "updated", *(["canceled"] if status == "canceled" else []))
    )

    assert counted(builder, "SELECT id FROM billing_events") == Counter((event,) for event in events)
    assert sorted(builder.rows("SELECT id, outcome FROM billing_subscriptions")) == sorted(
        (name, "applied") for name in statuses
    )
    stored = builder.rows(
        """
        SELECT b.id, s.status
        FROM   billing_subscriptions b JOIN subscriptions s USING (organization_id, service_id, user_id)
        """
    )
    spelled = {"canceled": "cancelled"}
    assert sorted(stored) == sorted((name, spelled.get(status, status)) for name, status in statuses.items())
    told = "SELECT data->>'billing_subscription_id', type FROM events WHERE type LIKE 'subscription.%'"
    audited = "SELECT details->>'billing_subscription_id', action FROM audit_entries WHERE action LIKE 'subscription.%'"
    assert counted(builder, told) == records
    assert counted(builder, audited) == records


def check_checkouts(builder: Builder, clients: Sequence[Buyer], provider: PaymentProvider) -> None:
    """The provider made one customer, and one page for each checkout, all of which are known.

    Where an answer was lost after the checkout was finished, the repeated request begins another one.
    """
    sessions = [session for client in clients for session in client.sessions]
    made = [page["id"] for page in provider.made("checkout.session")]

    assert len(provider.made("customer")) == 1
    assert len(sessions) == len(set(sessions))
    assert set(sessions) <= set(made)
    assert counted(builder, "SELECT session_id FROM billing_checkouts") == Counter((session,) for session in made)
    assert len(made) - len(sessions) <= sum(client.repeated for client in clients)


def check_directory(builder: Builder, acme_id: UUID, clients: Sequence[DirectoryClient]) -> None:
    """Each user has one account and one membership, and one record of each change."""
    users = {email: user for client in clients for email, user in client.users.items()}
    present = {email: user for email, user in users.items() if not user.is_removed}
    records = Counter(
        (user.id, change)
        for user in users.values()
        for change, has_happened in (
            ("user.joined", True),
            ("user.deactivated", user.is_suspended),
            ("user.removed", user.is_removed),
        )
        if has_happened
    )

    found = builder.rows(
        """
        SELECT u.email, u.id::text, m.suspended_at IS NOT NULL
        FROM   scim_profiles p
               JOIN users u ON u.id = p.user_id
               JOIN memberships m ON m.user_id = u.id AND m.organization_id = p.organization_id
        """
    )
    assert sorted(found) == sorted((email, user.id, user.is_suspended) for email, user in present.items())
    accounts = "SELECT email FROM users WHERE email LIKE 'employee-%'"
    assert counted(builder, accounts) == Counter((email,) for email in present)
    changes = ["user.joined", "user.deactivated", "user.removed"]
    audited = "SELECT target_id, action FROM audit_entries WHERE organization_id = %s AND action = ANY(%s)"
    assert counted(builder, audited, acme_id, changes) == records
    told = "SELECT data->>'user_id', type FROM events WHERE organization_id = %s AND type = ANY(%s)"
    assert counted(builder, told, acme_id, changes) == records
    signed_up = "SELECT data->>'user_id' FROM events WHERE type = 'user.signup.success' AND data->>'provider' = 'scim'"
    assert counted(builder, signed_up) == Counter((user.id,) for user in users.values())


def check_sign_ins(builder: Builder, clients: Sequence[Browser]) -> None:
    """Each request was answered once, with one session, one log entry and one event; each assertion has its session."""
    indexes = [index for client in clients for index in client.indexes]
    requests = sum(client.done for client in clients)

    sessions = [session for (session,) in builder.rows("SELECT id::text FROM sessions WHERE provider = 'saml'")]
    assert len(indexes) == len(set(indexes))
    assert set(indexes) <= set(sessions)
    assert len(sessions) == requests
    for query in (
        "SELECT count(*) FROM saml_sessions p JOIN sessions s ON s.id = p.session_id AND s.provider = 'saml'",
        "SELECT count(DISTINCT message_id) FROM saml_requests WHERE answered_at IS NOT NULL",
        "SELECT count(*) FROM saml_requests",
        "SELECT count(*) FROM login_events WHERE provider = 'saml' AND success",
        "SELECT count(*) FROM events WHERE type = 'user.login.success' AND data->>'provider' = 'saml'",
    ):
        assert builder.value(query) == requests, query


async def check_first_sign_ins(builder: Builder, clients: Sequence[Employees]) -> None:
    """Each employee who signed in has one account, identity, session, log entry and event; the others all or none.

    No answer of the identity provider is taken twice.
    """
    signed_in = {email: is_told for client in clients for email, is_told in client.signed_in.items()}
    accounts = counted(builder, "SELECT email FROM users WHERE email LIKE 'employed-%'")

    assert set(accounts.values()) == {1}
    assert {(email,) for email, is_told in signed_in.items() if is_told} <= accounts.keys() <= {(e,) for e in signed_in}
    for query in (
        "SELECT email FROM identities",
        "SELECT email FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.provider = 'upstream'",
        "SELECT email FROM login_events e JOIN users u ON u.id = e.user_id WHERE e.provider = 'upstream' AND e.success",
        "SELECT actor_email FROM events WHERE type = 'user.login.success' AND data->>'provider' = 'upstream'",
        "SELECT actor_email FROM events WHERE type = 'user.signup.success' AND data->>'provider' = 'upstream'",
    ):
        assert counted(builder, query) == accounts, query
    for client in clients:
        assert (await client.post(client.taken[-1])).status == REFUSED


def check_mails(
    builder: Builder, clients: Sequence[Registrant], directories: Sequence[DirectoryClient], post_office: PostOffice
) -> None:
    """Each mail arrived, all its copies with its own Message-ID; a registration that was not repeated caused one.

    The rows of the mails to a deleted account are deleted with it.
    """
    mails = builder.rows("SELECT id, recipient, state FROM mails WHERE state != 'discarded'")
    domain = SENDER.partition("@")[2]
    sent = {f"<{mail_id}@{domain}>": (recipient,) for mail_id, recipient, _ in mails}
    arrived = {one.message["Message-ID"]: one.recipients for one in post_office.received}
    others = Counter(recipient for name, [recipient] in arrived.items() if name not in sent)
    removed = {email for client in directories for email, user in client.users.items() if user.is_removed}

    assert {state for _, _, state in mails} == {"sent"}
    assert {name: recipients for name, recipients in arrived.items() if name in sent} == sent
    assert set(others) <= removed
    assert set(others.values()) <= {1}
    caused = Counter(recipient for _, recipient, _ in mails)
    for client in clients:
        for email, is_second in client.registered.items():
            assert caused[email] >= 2 if is_second else caused[email] == 1, email


def check_webhooks(builder: Builder, acme_id: UUID, receiver: Receiver) -> None:
    """Each event arrived, all its copies with the same webhook-id."""
    events = builder.rows("SELECT id::text FROM events WHERE organization_id = %s AND type = ANY(%s)", acme_id, TOLD)
    arrived = {(one.payload["id"], one.headers["webhook-id"]) for one in receiver.received}

    assert sorted(event for event, _ in arrived) == sorted(event for (event,) in events)
    assert len({message for _, message in arrived}) == len(arrived)
