"""An organization with people in it, for tests of what its members may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from uuid import UUID

    from tests.application import Answer
    from tests.sign_ins import Door


@dataclass(frozen=True)
class Team:
    """An organization, and those who were made members of it, by their names."""

    door: Door
    organization_id: UUID
    slug: str = "acme"
    ids: dict[str, UUID] = field(default_factory=dict[str, "UUID"])
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def path(self) -> str:
        """Where the organization is."""
        return f"/api/organizations/{self.slug}"

    def account(self, name: str, **properties: Any) -> UUID:
        """Make an account."""
        self.ids[name] = self.door.account(f"{name}@example.com", **properties)
        return self.ids[name]

    def join(self, name: str, role: str, **properties: Any) -> UUID:
        """Make an account, and a member of it."""
        self.door.member(self.organization_id, self.account(name, **properties), role)
        return self.ids[name]

    async def token(self, name: str) -> str:
        """Give an access token of somebody, who signs in the first time."""
        if name not in self.tokens:
            self.tokens[name] = (await self.door.enter(f"{name}@example.com")).access_token
        return self.tokens[name]

    async def ask(self, name: str, method: str, path: str, **options: Any) -> Answer:
        """Send a request below the organization as somebody."""
        return await self.door.client.request(method, self.path + path, token=await self.token(name), **options)

    def role_of(self, name: str) -> str | None:
        """Look up what somebody is."""
        rows = self.door.rows(
            "SELECT role FROM memberships WHERE organization_id = %s AND user_id = %s",
            self.organization_id,
            self.ids[name],
        )
        return rows[0][0] if rows else None

    def custom_role(self, slug: str, *permissions: str) -> None:
        """Make a role of the organization's own."""
        self.door.connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, %s, %s, %s, now(), now())
            """,
            (self.organization_id, slug, slug.title(), list(permissions)),
        )

    def audited(self, action: str) -> list[tuple[Any, ...]]:
        """List the audit entries of an action: organization, actor, target and details."""
        return self.door.rows(
            """
            SELECT organization_id, actor_user_id, target_id, details
            FROM   audit_entries
            WHERE  action = %s
            ORDER  BY id
            """,
            action,
        )


def team_of(door: Door, slug: str = "acme") -> Team:
    """Make an active organization that nobody is in."""
    return Team(door, door.organization(slug), slug)


@pytest.fixture
def team(door: Door) -> Team:
    """An organization with an owner, an admin and a member."""
    team = team_of(door)
    team.join("owner", "owner")
    team.join("admin", "admin")
    team.join("member", "member")
    return team
