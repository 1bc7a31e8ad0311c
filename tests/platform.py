"""Platform owners at work, for tests: they sign in like everybody, and then ask for what only they may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.sign_ins import Door, Entered

if TYPE_CHECKING:
    from uuid import UUID

    from tests.application import Answer

OWNER = "owner@example.com"


@dataclass
class Platform:
    """A platform with an owner who is signed in."""

    door: Door
    owner_id: UUID
    owner: Entered

    async def ask(self, method: str, path: str, body: Any = None, *, by: Entered | None = None) -> Answer:
        """Ask as the owner, or as somebody else."""
        return await self.door.client.request(
            method,
            path,
            body=body,
            token=(by or self.owner).access_token,
            address=next(self.door.addresses),
            headers={"User-Agent": "curl/8.5.0"},
        )

    async def impersonate(self, user_id: UUID, **where: str) -> Entered:
        """Act as somebody."""
        answer = await self.ask("POST", f"/api/platform/impersonate/{user_id}", {"reason": "a question", **where})
        assert answer.status == 200, answer.text
        return Entered(answer.json["access_token"], answer.json["refresh_token"], device_token="")

    def log(self, action: str) -> list[tuple[Any, ...]]:
        """List the entries of the platform's log of an action: actor, target and details."""
        return self.door.rows(
            "SELECT actor_user_id, target_id, details FROM platform_audit_entries WHERE action = %s ORDER BY id", action
        )

    def audited(self, action: str) -> list[tuple[Any, ...]]:
        """List the entries of the organizations' logs of an action: organization, actor, target and details."""
        return self.door.rows(
            """
            SELECT organization_id, actor_user_id, target_id, details
            FROM   audit_entries
            WHERE  action = %s
            ORDER BY id
            """,
            action,
        )


@pytest.fixture
async def platform(door: Door) -> Platform:
    """A platform with an owner who is signed in."""
    owner_id = door.account(OWNER, is_platform_owner=True)
    return Platform(door, owner_id, await door.enter(OWNER))
