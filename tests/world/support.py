"""A person of the platform's support who is signed in: a view of the world for tests of what support may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer
from tests.world.platform import Platform
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

HELPER = "helper@example.com"
SUPPORT_PATH = "/api/platform/support"


@dataclass(frozen=True)
class SupportDesk:
    """The platform, with an owner and a person of its support, who has signed in with a second factor."""

    platform: Platform
    person: Person

    @property
    def world(self) -> World:
        return self.platform.world

    async def request(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request as support."""
        return await self.world.client.request(method, path, body=body, token=self.person.token)

    async def has_power(self) -> bool:
        """Return whether support may do what it is there for."""
        answer = await self.request("GET", "/api/platform/tiers")
        assert answer.status in {200, 403}, answer.text
        return answer.status == 200


async def open_desk(platform: Platform) -> SupportDesk:
    """Insert a person with a second factor, and let the owner appoint them."""
    person = insert_person(platform.world, HELPER)
    await person.turn_mfa_on()
    answer = await platform.request("POST", SUPPORT_PATH, {"email": HELPER})
    assert answer.status == 200, answer.text
    return SupportDesk(platform, person)
