"""The team whose webhook subscribes, and what several causes need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.services.api_keys import Permission
from tests.application import Answer
from tests.world.inviter import GUEST, Invitation
from tests.world.organization_keys import Program
from tests.world.second_factors import Person
from tests.world.team import Team
from tests.world.world import World


@dataclass
class Stage:
    """The team whose webhook subscribes; its member is the user of the events."""

    team: Team
    # What a program with a key of the organization does instead of the owner.
    program: Program | None = None

    @property
    def world(self) -> World:
        """The world of the team."""
        return self.team.world

    @property
    def member(self) -> Person:
        """The member, with the second factor if there is one."""
        return Person(self.world, self.team.ids["member"], "member@example.com")

    async def request(self, method: str, path: str, body: Any = None, *, by: str = "owner") -> Any:
        """Send a request below the path of the organization; return the decoded answer."""
        answer = await self.send(method, path, body, by=by)
        assert answer.status in {200, 201, 204}, answer.text
        return answer.json if answer.content else None

    async def send(self, method: str, path: str, body: Any = None, *, by: str = "owner") -> Answer:
        """Send a request below the path of the organization; the program does what the owner would."""
        if self.program is not None and by == "owner":
            return await self.program.request(method, path, body=body)
        return await self.team.request(by, method, path, body=body)

    async def invite(self) -> Invitation:
        """Invite a guest."""
        answer = await self.request("POST", "/invitations", {"email": GUEST, "role": "member"})
        [message] = [one for one in await self.world.mails() if one.values.get("token") == answer["token"]]
        return Invitation(UUID(answer["invitation"]["id"]), answer["token"], message.values["proof"], answer)

    async def answer(self, verb: str) -> None:
        """Answer an invitation without signing in."""
        invitation = await self.invite()
        answer = await self.world.client.post(f"/api/invitations/{verb}", body={"token": invitation.token})
        assert answer.status == 200, answer.text

    async def create_service(self) -> None:
        """Create a service."""
        await self.request("POST", "/services", {"slug": "shop", "name": "Shop", "service_type": "web"})

    async def create_plan(self) -> str:
        """Create a service and a plan of it; return the id of the plan."""
        await self.create_service()
        return (await self.request("POST", "/services/shop/plans", {"name": "Pro", "price_cents": 990}))["id"]

    async def create_api_key(self) -> Any:
        """Create an API key of the service."""
        body = {"name": "Backend", "permissions": [str(permission) for permission in Permission]}
        return await self.request("POST", "/services/shop/api-keys", body)

    async def service_request(self, key: str, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the service's backend with its API key."""
        answer = await self.world.client.request(method, f"/api/service{path}", headers={"X-Api-Key": key}, body=body)
        assert answer.status in {200, 204}, answer.text
        return answer.json if answer.content else None

    async def subscribe(self) -> tuple[str, str]:
        """Give a user of a new service a plan; return the key of its backend and the id of the user."""
        plan_id = await self.create_plan()
        key = (await self.create_api_key())["key"]
        user = await self.service_request(key, "POST", "/users", {"email": GUEST})
        await self.service_request(key, "POST", "/subscriptions", {"user_id": user["id"], "plan_id": plan_id})
        return key, user["id"]

    async def member_request(self, method: str, path: str, body: Any = None) -> None:
        """Send a request of the member about their own account."""
        token = await self.team.token("member")
        answer = await self.world.client.request(method, path, token=token, body=body)
        assert answer.status in {200, 204}, answer.text
