"""An organization whose members have names: a view of the world for tests of what members may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.application import Answer

if TYPE_CHECKING:
    from tests.world.world import World


@dataclass(frozen=True)
class Team:
    """An organization, and its members by their names."""

    world: World
    organization_id: UUID
    slug: str
    ids: dict[str, UUID] = field(default_factory=dict[str, "UUID"])
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def path(self) -> str:
        """The path of the organization."""
        return f"/api/organizations/{self.slug}"

    def user(self, name: str, **properties: Any) -> UUID:
        """Insert a user who is no member."""
        self.ids[name] = self.world.user(f"{name}@example.com", **properties)
        return self.ids[name]

    def add(self, name: str, role: str, **properties: Any) -> UUID:
        """Insert a user who is a member."""
        self.world.member(self.organization_id, self.user(name, **properties), role)
        return self.ids[name]

    def custom_role(self, slug: str, *permissions: str) -> None:
        """Insert a custom role of the organization."""
        self.world.custom_role(self.organization_id, slug, *permissions)

    def role_of(self, name: str) -> str | None:
        """Return a user's role, or None if they are no member."""
        return self.world.role_of(self.organization_id, f"{name}@example.com")

    async def token(self, name: str) -> str:
        """Return an access token of a user, who signs in the first time."""
        if name not in self.tokens:
            self.tokens[name] = (await self.world.sign_in(f"{name}@example.com")).access_token
        return self.tokens[name]

    async def request(self, name: str, method: str, path: str, **options: Any) -> Answer:
        """Send a request below the organization's path as a user."""
        return await self.world.client.request(method, self.path + path, token=await self.token(name), **options)
