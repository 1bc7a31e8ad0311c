"""Reading the sign-ins of a user, as the owner of an organization and as a platform owner."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.world.signing_in import SignedInUser
from tests.world.team import Team

MEMBER = "member@example.com"


async def of_team(team: Team, name: str = "member", query: str = "", *, by: str = "owner") -> Answer:
    """Return the sign-ins of a user of the team, as its owner sees them."""
    return await team.request(by, "GET", f"/users/{team.ids[name]}/sign-ins{query}")


async def reasons(team: Team, name: str = "member") -> list[tuple[str, str | None]]:
    """Return outcome and reason of the sign-ins that the owner of the team sees."""
    answer = await of_team(team, name)
    assert answer.status == 200, answer.text
    return [(shown["outcome"], shown["reason"]) for shown in answer.json["sign_ins"]]


async def everywhere(root: SignedInUser, user_id: UUID) -> list[dict[str, Any]]:
    """Return all sign-ins of a user."""
    answer = await root.get(f"/api/platform/users/{user_id}/sign-ins")
    assert answer.status == 200, answer.text
    return answer.json["sign_ins"]


async def refuse(team: Team, times: int = 1, email: str = MEMBER, **body: Any) -> None:
    """Send a wrong password for the organization."""
    for _ in range(times):
        await team.world.log_in(email, "not the password", org_slug="acme", **body)
