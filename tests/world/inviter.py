"""An organization whose owner invites: a view of the world for tests of invitations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.world.signing_in import Tokens
from tests.world.world import World

INVITATIONS = "/api/organizations/acme/invitations"
INVITER = "olga@example.com"
GUEST = "guest@example.com"


@dataclass(frozen=True)
class Invitation:
    """An invitation, as its mail and the answer to its creation show it."""

    id: UUID
    token: str
    proof: str
    answer: dict[str, Any]

    @property
    def link(self) -> str:
        """The query of the mailed link."""
        return f"?token={self.token}&proof={self.proof}"


@dataclass
class Inviter:
    """The owner of Acme, who is signed in and invites."""

    world: World
    organization_id: UUID
    owner_id: UUID
    owner: Tokens

    async def send(
        self, email: str = GUEST, role: str = "member", *, token: str | None = None, **included: Any
    ) -> Answer:
        """Send an invitation, and return the answer, also if it is a refusal."""
        body = {"email": email, "role": role, **included}
        return await self.world.client.post(INVITATIONS, body=body, token=token or self.owner.access_token)

    async def invite(self, email: str = GUEST, role: str = "member", **included: Any) -> Invitation:
        """Invite a user, and read the mail."""
        answer = await self.send(email, role, **included)
        assert answer.status == 200, answer.text
        # Mails of earlier invitations are returned again after their lease has ended.
        [message] = [one for one in await self.world.mails() if one.values["token"] == answer.json["token"]]
        return Invitation(
            id=UUID(answer.json["invitation"]["id"]),
            token=message.values["token"],
            proof=message.values["proof"],
            answer=answer.json,
        )

    async def accept(self, invitation: Invitation, *, is_proved: bool = False) -> Answer:
        """Accept with the token, or with token and proof."""
        proof = {"proof": invitation.proof} if is_proved else {}
        return await self.world.client.post("/api/invitations/accept", body={"token": invitation.token, **proof})

    async def decline(self, invitation: Invitation) -> Answer:
        """Decline an invitation."""
        return await self.world.client.post("/api/invitations/decline", body={"token": invitation.token})

    async def revoke(self, invitation: Invitation) -> Answer:
        """Revoke an invitation."""
        return await self.world.client.post(f"{INVITATIONS}/{invitation.id}", token=self.owner.access_token)

    async def accept_on_behalf(self, invitation: Invitation) -> Answer:
        """Accept on behalf of the invited user."""
        return await self.world.client.post(f"{INVITATIONS}/{invitation.id}/accept", token=self.owner.access_token)

    async def later(self, by: timedelta) -> None:
        """Let time pass, after which the owner signs in again."""
        self.world.clock.advance(by)
        self.owner = await self.world.sign_in(INVITER)

    def status(self, invitation: Invitation) -> str:
        """Return the status of an invitation."""
        return self.world.value("SELECT status FROM invitations WHERE id = %s", invitation.id)

    def role_of(self, email: str = GUEST) -> str | None:
        """Return the role of a user in the organization, or None if they are no member."""
        return self.world.role_of(self.organization_id, email)

    def audit_entries(self, action: str) -> list[tuple[Any, ...]]:
        """List the organization's audit entries of an action: target, actor, details, and network address."""
        columns = ("target_id", "actor_user_id", "details", "ip_address")
        return self.world.audit_entries(action, *columns, organization_id=self.organization_id)

    async def sign_in_unverified_guest(self) -> str:
        """Return the access token of a user who has the address of the guest without having proved it."""
        self.world.user("thief@example.com")
        thief = (await self.world.sign_in("thief@example.com")).access_token
        self.world.set_unproved_address("thief@example.com", GUEST)
        return thief

    async def sign_in_with_role(self, slug: str, *permissions: str) -> Tokens:
        """Insert a custom role and a member who has it, and sign the member in."""
        self.world.custom_role(self.organization_id, slug, *permissions)
        self.world.member(self.organization_id, self.world.user(f"{slug}@example.com"), slug)
        return await self.world.sign_in(f"{slug}@example.com")


async def insert_inviter(world: World) -> Inviter:
    """Insert the organization and its owner, and sign the owner in."""
    organization_id, owner_id = world.organization(), world.user(INVITER)
    world.member(organization_id, owner_id, "owner")
    return Inviter(world, organization_id, owner_id, await world.sign_in(INVITER))
