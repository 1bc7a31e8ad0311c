"""The webhooks of a team: created over HTTP; events are handed on and sent when the test says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from adapters.gateways.attempts import HttpWebhookSender
from adapters.gateways.outbound import outbound_client
from core.webhooks import deliveries, sequencing
from core.webhooks.deliveries import LeasedWebhook
from core.webhooks.sequencing import SequencedBatch
from tests.application import Answer
from tests.marks import mark_due
from tests.world.builder import new_id
from tests.world.team import Team

EVENTS_MAX = 500
WEBHOOKS_MAX = 64
DELIVERIES_MAX = 8
TEST = "webhook.test"


@dataclass(frozen=True)
class Hooks:
    """A team whose owner has webhooks."""

    team: Team
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    async def request(self, method: str, path: str = "", *, by: str = "owner", **options: Any) -> Answer:
        """Send a request below the path of webhooks."""
        return await self.team.request(by, method, f"/webhooks{path}", **options)

    async def create(self, url: str, *events: str, name: str = "hook") -> str:
        """Create a webhook, and return its id; its secret is kept under that id."""
        body = {"name": name, "url": url, "events": list(events) or [TEST]}
        answer = await self.request("POST", body=body)
        assert answer.status == 200, answer.text
        self.secrets[answer.json["id"]] = answer.json["secret"]
        return answer.json["id"]

    async def change(self, webhook_id: str, **body: Any) -> Answer:
        """Change fields of a webhook."""
        return await self.request("PATCH", f"/{webhook_id}", body=body)

    async def test(self, webhook_id: str) -> str:
        """Queue a test event; return the id of its delivery."""
        answer = await self.request("POST", f"/{webhook_id}/test")
        assert answer.status == 200, answer.text
        return answer.json["delivery_id"]

    async def deliveries(self, webhook_id: str, query: str = "") -> list[dict[str, Any]]:
        """List the deliveries of a webhook, newest first."""
        answer = await self.request("GET", f"/{webhook_id}/deliveries{query}")
        assert answer.status == 200, answer.text
        return answer.json["deliveries"]

    async def feed(self, query: str = "", *, by: str = "owner") -> Answer:
        """Read the feed."""
        return await self.team.request(by, "GET", f"/events{query}")

    async def assign_positions(self) -> int:
        """Hand on all events, as the sequencer does; return how many."""
        events, has_more = 0, True
        while has_more:
            handed_on = await self.hand_on_once(EVENTS_MAX)
            events += handed_on.events
            has_more = handed_on.has_more
        return events

    async def hand_on_once(self, rows_max: int) -> SequencedBatch:
        """Hand on one batch."""
        return await self.team.world.installation.database.transact(sequencing.assign_positions, rows_max)

    async def lease(self, *, webhooks_max: int = WEBHOOKS_MAX) -> Sequence[LeasedWebhook]:
        """Lease webhooks as a dispatcher does."""
        database = self.team.world.installation.database
        return await database.transact(deliveries.lease, webhooks_max, DELIVERIES_MAX)

    async def send(self) -> int:
        """Hand on all events and send all that is due, as the dispatcher does; return how many attempts were made."""
        await self.assign_positions()
        world, attempts = self.team.world, 0
        database, clock = world.installation.database, world.clock
        async with outbound_client(world.installation.settings.outbound_allowed) as client:
            sender = HttpWebhookSender(client, version="test")
            while leased := await self.lease():
                for webhook in leased:
                    for delivery in webhook.deliveries:
                        now = clock()
                        secrets = webhook.secrets.at(now)
                        attempt = await sender.send(webhook.organization_id, webhook.url, delivery, secrets, at=now)
                        await database.transact(deliveries.record, webhook, delivery, attempt)
                        attempts += 1
                    await database.transact(deliveries.release, webhook)
        return attempts

    async def send_after(self, time: timedelta) -> int:
        """Let time pass, after which users sign in again, and send what is due then."""
        self.team.world.clock.advance(time)
        self.team.tokens.clear()
        return await self.send()

    def publish(self, *names: str, organization_id: UUID | None = None) -> None:
        """Insert events of the type `user.invited`, one for each name, as transactions do that commit in this order."""
        world = self.team.world
        # Together with its mark, as in the product: a mark without its event may be removed before the event comes.
        with world.connection.transaction():
            mark_due(world.connection, organization_id or self.team.organization_id)
            for name in names:
                world.connection.execute(
                    """
                    INSERT INTO events (id, type, organization_id, data, occurred_at)
                    VALUES (%s, 'user.invited', %s, jsonb_build_object('name', %s::text), %s)
                    """,
                    (
                        new_id(),
                        organization_id or self.team.organization_id,
                        name,
                        world.clock(),
                    ),
                )
