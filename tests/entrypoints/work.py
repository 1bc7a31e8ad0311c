"""The clients of a server that is killed: what each does again and again, and what was acknowledged to it.

They share no state; each repeats what had no answer, as a payment provider, a directory and a browser do.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

from core.billing import signatures
from core.secrets import Secret
from tests.entrypoints.killed_server import Acknowledged, KilledServer
from tests.world.billing import RECEIVER
from tests.world.builder import PASSWORD, Builder
from tests.world.directory import PATCH, SCIM_JSON, TOKEN, USER

SIGNING_SECRET = Secret("whsec_of_the_killed_server")
CUSTOMER = "cus_acme"


def now() -> datetime:
    """Return the time, which the server has too."""
    return datetime.now(UTC)


@dataclass
class Client(ABC):
    """A client that does one piece of work after another; `done` counts those that were acknowledged."""

    server: KilledServer
    name: str
    done: int = 0
    is_ending: bool = False

    async def run(self) -> None:
        """Work until told to end; a piece that has begun is finished."""
        while not self.is_ending:
            await self.work(f"{self.name}-{self.done}")
            self.done += 1

    @abstractmethod
    async def work(self, name: str) -> None:
        """Do one piece of work of that name."""


@dataclass
class Registrant(Client):
    """Registers accounts; the value says whether a request without an answer had created the account already."""

    registered: dict[str, bool] = field(default_factory=dict[str, bool])

    async def work(self, name: str) -> None:
        email = f"{name}@example.org"
        body = {"email": email, "password": PASSWORD}
        acknowledged = (await self.server.request("POST", "/api/auth/register", json=body)).expect(200, 409)
        self.registered[email] = acknowledged.status == 409


@dataclass(frozen=True, kw_only=True)
class Provisioned:
    """A user that a directory has created, and what it did with them afterwards."""

    id: str
    is_suspended: bool
    is_removed: bool


@dataclass
class DirectoryClient(Client):
    """Creates users by SCIM; it suspends two of three, and removes one of those."""

    users: dict[str, Provisioned] = field(default_factory=dict[str, Provisioned])

    async def work(self, name: str) -> None:
        email = f"{name}@acme.example"
        fate = self.done % 3
        user_id = await self._create(email)
        if fate > 0:
            change = {"op": "replace", "path": "active", "value": False}
            body = {"schemas": [PATCH], "Operations": [change]}
            (await self._request("PATCH", f"/Users/{user_id}", body)).expect(200)
        if fate > 1:
            (await self._request("DELETE", f"/Users/{user_id}")).expect(204, 404)
        self.users[email] = Provisioned(id=user_id, is_suspended=fate > 0, is_removed=fate > 1)

    async def _create(self, email: str) -> str:
        body = {"schemas": [USER], "userName": email}
        created = (await self._request("POST", "/Users", body)).expect(201, 409)
        if created.status == 201:
            return created.json["id"]
        query = quote(f'userName eq "{email}"')
        [found] = (await self._request("GET", f"/Users?filter={query}")).expect(200).json["Resources"]
        return found["id"]

    async def _request(self, method: str, path: str, body: Any = None) -> Acknowledged:
        content = {} if body is None else {"content": json.dumps(body)}
        headers = {"Content-Type": SCIM_JSON}
        return await self.server.request(method, f"/scim/v2{path}", token=TOKEN, headers=headers, **content)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a service of an organization sells."""

    organization_id: UUID
    service_id: UUID
    plan_id: UUID
    price_id: str


@dataclass
class ProviderEvents(Client):
    """The payment provider, which reports subscriptions: each begins and falls due, and every other one ends."""

    builder: Builder = field(kw_only=True)
    offer: Offer = field(kw_only=True)
    events: list[str] = field(default_factory=list[str])
    # The last status that was reported of each subscription.
    statuses: dict[str, str] = field(default_factory=dict[str, str])

    async def work(self, name: str) -> None:
        buyer_id = self.builder.user(f"{name}@buyers.example")
        self.builder.member(self.offer.organization_id, buyer_id)
        stages = [("created", "active"), ("updated", "past_due")]
        if self.done % 2:
            stages.append(("deleted", "canceled"))
        for number, (change, status) in enumerate(stages):
            event = {
                "id": f"evt_{name}_{change}",
                "object": "event",
                "type": f"customer.subscription.{change}",
                "created": int((now() - timedelta(seconds=60)).timestamp()) + 10 * number,
                "livemode": False,
                "data": {"object": self._subscription(f"sub_{name}", status, buyer_id)},
            }
            await self._report(event)
            self.statuses[f"sub_{name}"] = status

    async def _report(self, event: dict[str, Any]) -> None:
        content = json.dumps(event).encode()
        signed = signatures.header_of(content, SIGNING_SECRET, at=now())
        headers = {"billing-signature": signed, "Content-Type": "application/json"}
        (await self.server.request("POST", RECEIVER, headers=headers, content=content)).expect(200)
        self.events.append(event["id"])

    def _subscription(self, subscription_id: str, status: str, buyer_id: UUID) -> dict[str, Any]:
        end = int((now() + timedelta(days=30)).timestamp())
        return {
            "id": subscription_id,
            "object": "subscription",
            "customer": CUSTOMER,
            "status": status,
            "metadata": {
                "user_id": str(buyer_id),
                "service_id": str(self.offer.service_id),
                "plan_id": str(self.offer.plan_id),
                "org_id": str(self.offer.organization_id),
            },
            "items": {"data": [{"price": {"id": self.offer.price_id}, "current_period_end": end}]},
        }


@dataclass
class Buyer(Client):
    """A member who opens checkouts; `repeated` counts the checkouts of which a request had no answer."""

    token: str = field(kw_only=True)
    path: str = field(kw_only=True)
    plan_id: UUID = field(kw_only=True)
    sessions: list[str] = field(default_factory=list[str])
    repeated: int = 0

    async def work(self, name: str) -> None:
        body = {
            "plan_id": str(self.plan_id),
            "success_url": f"https://app.example.com/thanks/{name}",
            "cancel_url": "https://app.example.com/prices",
        }
        opened = (await self.server.request("POST", self.path, token=self.token, json=body)).expect(200)
        self.sessions.append(opened.json["session_id"])
        self.repeated += opened.is_repeated
