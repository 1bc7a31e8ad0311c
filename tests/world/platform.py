"""A signed-in platform owner: a view of the world for tests of what only platform owners may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.world.signing_in import Tokens
from tests.world.world import World

PLATFORM_OWNER = "owner@example.com"


@dataclass(frozen=True)
class Platform:
    """The platform, with an owner who is signed in."""

    world: World
    owner_id: UUID
    owner: Tokens

    async def request(self, method: str, path: str, body: Any = None, *, by: Tokens | None = None) -> Answer:
        """Send a request as the owner, or as the user whose tokens are given."""
        return await self.world.client.request(
            method,
            path,
            body=body,
            token=(by or self.owner).access_token,
            address=next(self.world.addresses),
            headers={"User-Agent": "curl/8.5.0"},
        )

    async def impersonate(self, user_id: UUID, **where: str) -> Tokens:
        """Begin to impersonate a user."""
        answer = await self.request("POST", f"/api/platform/impersonate/{user_id}", {"reason": "a question", **where})
        assert answer.status == 200, answer.text
        return Tokens(answer.json["access_token"], answer.json["refresh_token"], device_token="")
