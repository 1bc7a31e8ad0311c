"""Floods of events and hanging receivers of some organizations, and how much of it another organization notices."""

from __future__ import annotations

import statistics
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest
import trio

from adapters.crypto.vault import Vault, parse_master_keys
from adapters.postgres.webhooks.webhooks import PostgresWebhooks
from core.events.events import EventType
from core.secrets import Secret
from core.webhooks.webhooks import WEBHOOKS_MAX, SigningSecrets, Webhook
from tests.marks import mark_due
from tests.processes import MASTER_KEY, Services
from tests.receiver import Receiver, open_receiver
from tests.transactions import transaction_on
from tests.waiting import eventually
from tests.world.builder import PASSWORD, Builder, new_id
from tests.world.fixtures import builder

__all__ = ["builder"]

EVENTS = 3_000
HANGING_ORGANIZATIONS = 20
HANGING_RECEIVERS = 8
# They take longer than the 15 seconds after which the attempts at receivers that hang end together.
ROUNDS = 40
SECRETS = SigningSecrets(current=Secret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="))
# What a busy machine may add.
ADDED_SECONDS_MAX = 0.5
DELIVERY_SECONDS_MAX = 2.0 + ADDED_SECONDS_MAX
# A sign-in takes as long as before, except for what the receivers, in this process, take of the machine.
SIGN_IN_FACTOR_MAX = 3.0
OWNER = "owner@third.example"


def add_webhooks(builder: Builder, organization_id: UUID, url: str, count: int) -> None:
    """Insert webhooks that subscribe to invitations."""
    webhooks = PostgresWebhooks(transaction_on(builder.connection, Vault(parse_master_keys(Secret(MASTER_KEY)))))
    for number in range(count):
        webhook = Webhook(
            id=new_id(),
            name=f"hook {number}",
            url=url,
            events=[EventType.USER_INVITED.value],
            is_active=True,
            created_at=builder.clock(),
            updated_at=builder.clock(),
        )
        assert webhooks.add(organization_id, webhook, SECRETS)


def publish(builder: Builder, organization_id: UUID, events: int) -> None:
    """Insert events that wait to be handed on."""
    mark_due(builder.connection, organization_id)
    builder.connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        SELECT (left(first_id_at(now())::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
               'user.invited', %s, '{}', now() + n * interval '1 microsecond'
        FROM   generate_series(1, %s) AS n
        """,
        (organization_id, events),
    )


@asynccontextmanager
async def hanging() -> AsyncGenerator[str]:
    """A receiver that takes connections and never answers; yield its URL."""

    async def hang(stream: trio.SocketStream) -> None:
        async with stream:
            while await stream.receive_some():
                pass

    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, hang, 0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}/hook"
        nursery.cancel_scope.cancel()


class Third:
    """The third organization: its owner signs in, invites, and waits for the delivery."""

    def __init__(self, client: httpx.AsyncClient, receiver: Receiver) -> None:
        self._client = client
        self._receiver = receiver
        self._token = ""

    async def sign_in(self) -> float:
        """Sign in; return how many seconds that took."""
        began_at = trio.current_time()
        answer = await self._client.post("/api/auth/login", json={"email": OWNER, "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        self._token = answer.json()["access_token"]
        return trio.current_time() - began_at

    async def invite(self, email: str) -> float:
        """Invite a person; return after how many seconds the delivery arrived."""
        arrived = len(self._receiver.received)
        began_at = trio.current_time()
        answer = await self._client.post(
            "/api/organizations/third/invitations",
            json={"email": email, "role": "member"},
            headers={"Authorization": f"Bearer {self._token}"},
        )
        assert answer.status_code == 200, answer.text

        async def has_arrived() -> bool:
            return len(self._receiver.received) > arrived

        await eventually(has_arrived)
        return trio.current_time() - began_at


@pytest.mark.long
@pytest.mark.timing
async def test_a_flood_and_receivers_that_hang_delay_no_delivery_and_no_sign_in_of_a_third_organization(
    services: Services, builder: Builder
) -> None:
    third = builder.organization("third")
    builder.member(third, builder.user(OWNER), "owner")
    server = await trio.to_thread.run_sync(
        partial(services.ready, OUTBOUND_ALLOW="127.0.0.0/8", BASE_URL="https://id.example.com")
    )
    async with (
        hanging() as silent,
        open_receiver() as flooded,
        open_receiver() as quick,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as client,
    ):
        add_webhooks(builder, third, quick.url, 1)
        visitor = Third(client, quick)
        await visitor.sign_in()
        alone = [await visitor.sign_in() for _ in range(ROUNDS)]

        flood = builder.organization("flood")
        add_webhooks(builder, flood, flooded.url, WEBHOOKS_MAX)
        for number in range(HANGING_ORGANIZATIONS):
            organization_id = builder.organization(f"silent-{number}")
            add_webhooks(builder, organization_id, silent, HANGING_RECEIVERS)
            publish(builder, organization_id, 20)
        publish(builder, flood, EVENTS)
        sign_ins: list[float] = []
        deliveries: list[float] = []
        for number in range(ROUNDS):
            sign_ins.append(await visitor.sign_in())
            deliveries.append(await visitor.invite(f"person-{number}@example.org"))

        backlog = await trio.to_thread.run_sync(unfinished, builder)

    assert backlog > 0, "the flood was over before the end of the test"
    assert max(deliveries) < DELIVERY_SECONDS_MAX
    took = SIGN_IN_FACTOR_MAX * statistics.median(alone) + ADDED_SECONDS_MAX
    assert statistics.median(sign_ins) < took


def unfinished(builder: Builder) -> Any:
    """Return how many events and deliveries still wait."""
    return builder.value(
        """
        SELECT (SELECT count(*) FROM events WHERE position = 0)
               + (SELECT count(*) FROM webhook_deliveries WHERE next_retry_at IS NOT NULL)
        """
    )
