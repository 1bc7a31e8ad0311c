"""The world of a test: users, organizations, members and services, the application, and what both leave behind.

Rows that a test only needs are inserted (`builder.py`); what it tests goes through the application. Each sign-in comes
from an address of its own, so that the limits of an address interfere only with the tests of those limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

from core.mail import mail
from core.mail.mail import MailMessage
from entrypoints.installation import Installation
from tests.application import Answer, Client
from tests.clock import SettableClock
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.signing_in import SignedInUser, Tokens
from tests.world.team import Team

MAILS_MAX = 1000


def _addresses() -> Iterator[str]:
    return (f"10.{number >> 8}.{number & 255}.1" for number in count())


@dataclass(frozen=True)
class World(Builder):
    """Inserts what a test needs, signs users in, and reads the results."""

    clock: SettableClock
    client: Client
    installation: Installation
    addresses: Iterator[str] = field(default_factory=_addresses)

    def team(self, slug: str = "acme") -> Team:
        """Insert an active organization without members, to which members are added by name."""
        return Team(self, self.organization(slug), slug)

    async def mails(self) -> list[MailMessage]:
        """Return the mails that were sent since the last call."""
        return [one.message for one in await self.installation.database.transact(mail.claim, MAILS_MAX)]

    async def mail(self) -> MailMessage:
        """Return the one mail that was sent since the last call."""
        [message] = await self.mails()
        return message

    async def register(self, email: str = EMAIL, password: str = PASSWORD, **others: Any) -> Answer:
        """Register a user."""
        return await self.client.post("/api/auth/register", body={"email": email, "password": password, **others})

    async def register_and_verify(self, email: str = EMAIL, password: str = PASSWORD) -> None:
        """Register a user, and open the link in the mail."""
        await self.register(email, password)
        [token] = [message.values["token"] for message in await self.mails() if message.to == email]
        answer = await self.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})
        assert answer.status == 200

    async def register_and_sign_in(self, email: str = EMAIL, password: str = PASSWORD) -> Tokens:
        """Register a user, verify the address, and sign in."""
        await self.register_and_verify(email, password)
        return await self.sign_in(email, password)

    async def change_address(self, token: str, email: str) -> None:
        """Ask for another address of a user, and press the button behind the link in the mail."""
        asked = await self.client.patch("/api/user", token=token, body={"email": email})
        assert asked.status == 200, asked.text
        [link] = [message.values["token"] for message in await self.mails() if message.to == email]
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        changed = await self.client.post("/auth/verify-email", data=f"token={link}".encode(), headers=form)
        assert changed.status == 200, changed.text

    async def log_in(
        self,
        email: str = EMAIL,
        password: str = PASSWORD,
        *,
        address: str | None = None,
        headers: dict[str, str] | None = None,
        **others: str,
    ) -> Answer:
        """Send a password, and return the answer, also if it is a refusal."""
        return await self.client.post(
            "/api/auth/login",
            body={"email": email, "password": password, **others},
            headers=headers,
            address=address or next(self.addresses),
        )

    async def sign_in(
        self, email: str = EMAIL, password: str = PASSWORD, *, headers: dict[str, str] | None = None, **others: str
    ) -> Tokens:
        """Sign in by password."""
        answer = await self.log_in(email, password, headers=headers, **others)
        assert answer.status == 200, answer.text
        return Tokens(**{name: answer.json[name] for name in ("access_token", "refresh_token", "device_token")})

    async def refresh(self, refresh_token: str) -> Answer:
        """Send a refresh token."""
        return await self.client.post(
            "/api/auth/refresh", body={"refresh_token": refresh_token}, address=next(self.addresses)
        )

    async def list_sessions(self, tokens: Tokens) -> Answer:
        """Send a request that every signed-in user may send."""
        return await self.client.get("/api/user/sessions", token=tokens.access_token)

    async def signed_in_user(self, email: str = EMAIL, **properties: Any) -> SignedInUser:
        """Insert a user, and sign them in."""
        return await self.sign_in_as(self.user(email, **properties), email)

    async def signed_in_member(self, organization_id: UUID, role: str = "owner", email: str = EMAIL) -> SignedInUser:
        """Insert a user with a role in an organization, and sign them in without selecting it."""
        user_id = self.user(email)
        self.member(organization_id, user_id, role)
        return await self.sign_in_as(user_id, email)

    async def signed_in_platform_owner(self, email: str = "root@example.com") -> SignedInUser:
        """Insert a platform owner, and sign them in."""
        return await self.signed_in_user(email, is_platform_owner=True)

    async def sign_in_as(self, user_id: UUID, email: str, **others: Any) -> SignedInUser:
        """Sign a user in, to an organization or a service if one is named."""
        return SignedInUser(self.client, user_id, email, await self.sign_in(email, **others))


def assert_refused(answer: Answer, status: int, code: str) -> None:
    """Assert that the answer is this refusal."""
    assert (answer.status, answer.json["error_code"]) == (status, code), answer.text
