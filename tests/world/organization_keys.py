"""Programs that call with a key of an organization: a view of the world for tests of what keys open."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.organizations.access import Capability
from tests.application import Answer
from tests.secret_watch import WATCH
from tests.world.builder import Builder, new_id
from tests.world.team import Team

PREFIX = "gk_abc123"
KEY = f"{PREFIX}_{'o' * 43}"
NEW_KEY = {"name": "Terraform", "permissions": ["services.view", "org.members.manage", "services.view"]}


@dataclass(frozen=True)
class Program:
    """A program with a key that the owner of a team has made."""

    team: Team
    key_id: UUID
    key: str = KEY

    async def request(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request below the organization's path with the key."""
        return await self.team.world.client.request(
            method, self.team.path + path, headers={"X-Api-Key": self.key}, **options
        )


def insert_program(
    team: Team, *permissions: Capability, maker: str = "owner", key: str = KEY, has_second_factor: bool = False
) -> Program:
    """Insert a key of a member of a team, with all capabilities or these, and return the program that has it."""
    key_id = insert_organization_key(
        team.world,
        team.organization_id,
        team.ids[maker],
        key,
        permissions=permissions or Capability,
        has_second_factor=has_second_factor,
    )
    return Program(team, key_id, key)


def insert_organization_key(
    builder: Builder,
    organization_id: UUID,
    maker_id: UUID,
    key: str = KEY,
    *,
    permissions: Iterable[Capability] = Capability,
    expires_at: datetime | None = None,
    has_second_factor: bool = False,
    name: str = "Terraform",
) -> UUID:
    """Insert a key of a member, and return its id."""
    key_id = new_id()
    builder.connection.execute(
        """
        INSERT INTO organization_keys (id, organization_id, created_by, name, prefix, key_hash, permissions,
                                       has_second_factor, created_at, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        """,
        (
            key_id,
            organization_id,
            maker_id,
            name,
            key[:9],
            hashlib.sha256(key.encode()).digest(),
            [permission.value for permission in permissions],
            has_second_factor,
            builder.clock(),
            expires_at,
        ),
    )
    return key_id


async def create_key(team: Team, *, by: str = "owner", **fields: Any) -> Answer:
    """Create a key as this member, and return the answer."""
    answer = await team.request(by, "POST", "/keys", body=NEW_KEY | fields)
    if answer.status == 200:
        WATCH.add(answer.json["secret"])
    return answer


async def created_key(team: Team, *, by: str = "owner", **fields: Any) -> dict[str, Any]:
    """Do the same, and return the key with its secret."""
    answer = await create_key(team, by=by, **fields)
    assert answer.status == 200, answer.text
    return answer.json


async def call_with_key(team: Team, secret: str, method: str, path: str, **options: Any) -> Answer:
    """Call a path of the team's organization with a key."""
    return await team.world.client.request(method, team.path + path, headers={"X-Api-Key": secret}, **options)
