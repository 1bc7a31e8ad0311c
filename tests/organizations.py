"""Organizations with their people, for tests of governance: who they are is put into the tables, and they sign in.

It stands on the door of `sign_ins.py`: `tenants.door` has the rest of what a test may want to put or look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from tests.sign_ins import Door

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.application import Answer, Client
    from tests.clock import SettableClock

TIERS = {
    "free": UUID("00000000-0000-7000-8000-000000000001"),
    "professional": UUID("00000000-0000-7000-8000-000000000002"),
    "enterprise": UUID("00000000-0000-7000-8000-000000000003"),
}
NO_ID = UUID("0191d3c1-0000-7000-8000-00000000000f")


@dataclass(frozen=True)
class Somebody:
    """A person who is signed in, without an organization unless they named one."""

    client: Client
    id: UUID
    email: str
    token: str
    refresh_token: str

    async def get(self, path: str, **options: Any) -> Answer:
        """Send a GET."""
        return await self.client.get(path, token=self.token, **options)

    async def post(self, path: str, body: Any = None) -> Answer:
        """Send a POST."""
        return await self.client.post(path, token=self.token, body={} if body is None else body)

    async def patch(self, path: str, body: Any) -> Answer:
        """Send a PATCH."""
        return await self.client.patch(path, token=self.token, body=body)

    async def delete(self, path: str) -> Answer:
        """Send a DELETE."""
        return await self.client.delete(path, token=self.token)


@dataclass(frozen=True)
class Tenants:
    """Makes organizations, and people with roles in them who are signed in."""

    door: Door

    def organization(self, slug: str = "acme", **columns: Any) -> UUID:
        """Make an organization, active unless `status` says otherwise."""
        return self.door.organization(slug, **columns)

    async def somebody(self, email: str = "ada@example.com", **account: Any) -> Somebody:
        """Make an account and sign in to it."""
        user_id = self.door.account(email, **account)
        return await self.enter(user_id, email)

    async def member(self, organization_id: UUID, role: str = "owner", email: str = "ada@example.com") -> Somebody:
        """Make somebody who has a role in an organization, and is signed in outside it."""
        user_id = self.door.account(email)
        self.door.member(organization_id, user_id, role)
        return await self.enter(user_id, email)

    async def platform_owner(self, email: str = "root@example.com") -> Somebody:
        """Make somebody who governs the platform."""
        return await self.somebody(email, is_platform_owner=True)

    async def enter(
        self, user_id: UUID, email: str, *, org_slug: str | None = None, service_slug: str | None = None
    ) -> Somebody:
        """Sign in to an account, to an organization or service if one is named."""
        named = {"org_slug": org_slug, "service_slug": service_slug}
        entered = await self.door.enter(email, None, **{name: slug for name, slug in named.items() if slug})
        return Somebody(self.door.client, user_id, email, entered.access_token, entered.refresh_token)

    def audited(self, organization_id: UUID) -> list[tuple[str, UUID | None, dict[str, Any]]]:
        """List an organization's audit entries, the oldest first: action, actor and details."""
        found = self.door.rows(
            "SELECT action, actor_user_id, details FROM audit_entries WHERE organization_id = %s ORDER BY id",
            organization_id,
        )
        return [(action, actor, details) for action, actor, details in found]

    def audited_by_platform(self) -> list[tuple[str, UUID | None, str, UUID | None, dict[str, Any]]]:
        """List the platform's audit entries, the oldest first: action, actor, target, organization and details."""
        found = self.door.rows(
            "SELECT action, actor_user_id, target_id, organization_id, details FROM platform_audit_entries ORDER BY id"
        )
        return [(action, actor, target, about, details) for action, actor, target, about, details in found]


@pytest.fixture
def tenants(client: Client, connection: Connection, clock: SettableClock) -> Tenants:
    """Organizations and their people."""
    return Tenants(Door(client, connection, clock))
