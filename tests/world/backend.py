"""The backend of a service, which calls with an API key: a view of the world for tests of the service interface."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from core.services.api_keys import Permission
from tests.application import Answer
from tests.world.builder import Builder, new_id
from tests.world.world import World

PREFIX = "sk_abc123"
KEY = f"{PREFIX}_{'k' * 43}"


@dataclass(frozen=True)
class Backend:
    """A service with an API key that has every permission."""

    world: World
    organization_id: UUID
    service_id: UUID
    key: str = KEY

    def with_key(self, key: str) -> Backend:
        """Return the same backend with another key."""
        return replace(self, key=key)

    async def request(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request below `/api/service` with the key."""
        return await self.world.client.request(
            method, f"/api/service{path}", headers={"X-Api-Key": self.key}, **options
        )

    def user(self, email: str, **properties: Any) -> UUID:
        """Insert a user who is linked to the service."""
        user_id = self.world.user(email, **properties)
        self.world.link(self.organization_id, self.service_id, user_id)
        return user_id

    def own_user(self, email: str) -> UUID:
        """Insert a user whose account the organization created with a key."""
        user_id = self.user(email, is_verified=False, password_hash=None)
        self.world.connection.execute(
            "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (self.organization_id, user_id)
        )
        return user_id

    def plan(self, name: str = "Pro", **properties: Any) -> UUID:
        """Insert a plan of the service."""
        return self.world.plan(self.organization_id, self.service_id, name, **properties)


def insert_backend(world: World, org_slug: str = "acme", service_slug: str = "shop", *, key: str = KEY) -> Backend:
    """Insert an organization, its service, and a key."""
    organization_id = world.organization(org_slug)
    service = world.service(organization_id, service_slug)
    insert_key(world, organization_id, service.id, key)
    return Backend(world, organization_id, service.id, key)


def insert_key(
    world: Builder,
    organization_id: UUID,
    service_id: UUID,
    key: str,
    *,
    permissions: Iterable[str] = tuple(Permission),
    expires_at: datetime | None = None,
    made_by: UUID | None = None,
) -> UUID:
    """Insert an API key, and return its id; without a maker, the account of its maker is gone."""
    key_id = new_id()
    world.connection.execute(
        """
        INSERT INTO api_keys (id, organization_id, service_id, name, prefix, key_hash, permissions, expires_at,
                              created_at, created_by)
        VALUES (%s, %s, %s, 'backend', %s, %s, %s, %s, %s, %s)
        """,
        (
            key_id,
            organization_id,
            service_id,
            key[: len(PREFIX)],
            hashlib.sha256(key.encode()).digest(),
            [str(permission) for permission in permissions],
            expires_at,
            world.clock(),
            made_by,
        ),
    )
    return key_id
