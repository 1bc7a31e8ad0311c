"""A service that is not open to everyone: its organization, whose owner changes it, and people who come to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from tests.application import Answer
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import Tokens, claims_of
from tests.world.team import Team
from tests.world.world import World

TEXT = "You may not use this application with this account. Ask an administrator of the organization for access."


@dataclass(frozen=True)
class ClosedService:
    """The service `shop` of Acme, with roles of its own; `olga` owns Acme, `mia` is a member, `sam` a stranger."""

    world: World
    party: RelyingParty
    team: Team

    async def change(self, who: str = "olga", **changes: Any) -> Answer:
        """Change the service as a member."""
        return await self.team.request(who, "PATCH", "/services/shop", body=changes)

    async def close(self, access: str = "members", *subjects: str, **roles: list[str]) -> None:
        """Set who may sign in; `roles` has the roles of subjects by the subjects' names in the team."""
        named = {f"user:{self.team.ids[name]}": given for name, given in roles.items()}
        assigned = [{"subject": subject, "roles": []} for subject in subjects]
        assigned += [{"subject": subject, "roles": given} for subject, given in named.items()]
        answer = await self.change(access=access, assignments=assigned)
        assert answer.status == 200, answer.text

    async def log_in(self, name: str) -> Answer:
        """Sign in to the service by JSON."""
        return await self.world.log_in(f"{name}@example.com", org_slug="acme", service_slug="shop")

    async def tokens(self, name: str) -> Tokens:
        """Sign in to the service, and return the tokens."""
        return await self.world.sign_in(f"{name}@example.com", org_slug="acme", service_slug="shop")

    async def me(self, tokens: Tokens) -> Answer:
        """Read the account with the token of the service."""
        return await self.world.client.get("/api/user", token=tokens.access_token)

    async def introspect(self, tokens: Tokens) -> dict[str, Any]:
        """Return what introspection tells the service about a token."""
        return (await self.party.post("/auth/introspect", {"token": tokens.access_token})).json

    async def troubles(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what those who look after the service read of requests that were refused in its name."""
        answer = await self.team.request("olga", "GET", "/services/shop/problems")
        return [(one["kind"], one["details"]) for one in answer.json["problems"]]

    def is_live(self, tokens: Tokens) -> bool:
        """Return whether the session of tokens has not been ended."""
        session_id = claims_of(tokens.access_token)["sid"]
        return self.world.value("SELECT revoked_at FROM sessions WHERE id = %s", session_id) is None

    def users(self) -> int:
        """How many end users the service has."""
        return self.world.value("SELECT count(*) FROM service_users WHERE service_id = %s", self.party.service_id)


def insert_closed_service(world: World) -> ClosedService:
    """Insert Acme with its people, and its service, which is open yet."""
    party = insert_relying_party(world)
    role_ids = {name: str(world.new_id()) for name in ("editor", "reader")}
    party.set(
        roles=Jsonb([{"name": name, "title": name.title(), "description": ""} for name in role_ids]),
        role_ids=Jsonb(role_ids),
    )
    team = Team(world, party.organization_id, "acme")
    team.add("olga", "owner")
    team.add("mia", "member")
    team.user("sam")
    return ClosedService(world, party, team)
