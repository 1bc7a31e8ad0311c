"""Invitations for tests: an organization with an owner who invites, the letters, and what became of an invitation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from core.mail import mail

if TYPE_CHECKING:
    from datetime import timedelta

    from core.mail.mail import MailMessage
    from entrypoints.installation import Installation
    from tests.application import Answer
    from tests.sign_ins import Door, Entered

ACME = "/api/organizations/acme/invitations"
OWNER = "olga@example.com"
GUEST = "guest@example.com"
MAILS_MAX = 1000


@dataclass(frozen=True)
class Invitation:
    """An invitation as its letter and its creation show it."""

    id: UUID
    token: str
    proof: str
    answer: dict[str, Any]

    @property
    def link(self) -> str:
        """What follows the path of the mailed link."""
        return f"?token={self.token}&proof={self.proof}"


@dataclass
class Hosts:
    """An organization whose owner invites."""

    door: Door
    installation: Installation
    organization_id: UUID
    owner_id: UUID
    owner: Entered

    async def messages(self) -> list[MailMessage]:
        """Give the letters that have left since the last look."""
        return [one.message for one in await self.installation.database.transact(mail.claim, MAILS_MAX)]

    async def ask(self, email: str = GUEST, role: str = "member", *, token: str | None = None) -> Answer:
        """Try to invite somebody."""
        return await self.door.client.post(
            ACME, body={"email": email, "role": role}, token=token or self.owner.access_token
        )

    async def invite(self, email: str = GUEST, role: str = "member") -> Invitation:
        """Invite somebody, and take the letter."""
        answer = await self.ask(email, role)
        assert answer.status == 200, answer.text
        # Those of earlier ones come again when the lease of the last look has ended.
        [message] = [one for one in await self.messages() if one.values["token"] == answer.json["token"]]
        return Invitation(
            id=UUID(answer.json["invitation"]["id"]),
            token=message.values["token"],
            proof=message.values["proof"],
            answer=answer.json,
        )

    async def accept(self, invitation: Invitation, *, is_proved: bool = False) -> Answer:
        """Accept, as somebody who has the token, or the whole link."""
        proof = {"proof": invitation.proof} if is_proved else {}
        return await self.door.client.post("/api/invitations/accept", body={"token": invitation.token, **proof})

    async def decline(self, invitation: Invitation) -> Answer:
        """Decline."""
        return await self.door.client.post("/api/invitations/decline", body={"token": invitation.token})

    async def revoke(self, invitation: Invitation) -> Answer:
        """Withdraw an invitation."""
        return await self.door.client.post(f"{ACME}/{invitation.id}", token=self.owner.access_token)

    async def accept_on_behalf(self, invitation: Invitation) -> Answer:
        """Accept in the place of whoever is invited."""
        return await self.door.client.post(f"{ACME}/{invitation.id}/accept", token=self.owner.access_token)

    async def later(self, by: timedelta) -> None:
        """Let time pass, after which the owner signs in again."""
        self.door.clock.advance(by)
        self.owner = await self.door.enter(OWNER)

    def status(self, invitation: Invitation) -> str:
        """Say what became of an invitation."""
        return self.door.value("SELECT status FROM invitations WHERE id = %s", invitation.id)

    def role_of(self, email: str = GUEST) -> str | None:
        """Say with which role the account of an address is a member."""
        rows = self.door.rows(
            "SELECT role FROM memberships m JOIN users u ON u.id = m.user_id"
            " WHERE u.email = %s AND m.organization_id = %s",
            email,
            self.organization_id,
        )
        return rows[0][0] if rows else None

    def set_status(self, status: str) -> None:
        """Bring the organization into another state."""
        self.door.rows("UPDATE organizations SET status = %s WHERE id = %s RETURNING id", status, self.organization_id)

    def audited(self, action: str) -> list[tuple[Any, ...]]:
        """List the audit entries of an action: target, actor, details, and the address that it came from."""
        return self.door.rows(
            "SELECT target_id, actor_user_id, details, ip_address FROM audit_entries"
            " WHERE organization_id = %s AND action = %s ORDER BY id",
            self.organization_id,
            action,
        )

    async def role(self, slug: str, *permissions: str) -> Entered:
        """Make a custom role, and let somebody in who has it."""
        self.custom_role(slug, *permissions)
        self.door.member(self.organization_id, self.door.account(f"{slug}@example.com"), slug)
        return await self.door.enter(f"{slug}@example.com")

    def custom_role(self, slug: str, *permissions: str) -> None:
        """Make a custom role."""
        self.door.rows(
            "INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)"
            " VALUES (%s, %s, %s, %s, now(), now()) RETURNING slug",
            self.organization_id,
            slug,
            slug,
            list(permissions),
        )


@pytest.fixture
async def hosts(door: Door, installation: Installation) -> Hosts:
    """An organization whose owner invites."""
    organization_id, owner_id = door.organization(), door.account(OWNER)
    door.member(organization_id, owner_id, "owner")
    return Hosts(door, installation, organization_id, owner_id, await door.enter(OWNER))
