"""People, organizations and services for tests, and the letters that people get.

`people` acts through the application as a person would; what no route makes yet is put into the tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from adapters.crypto.randomness import SystemRandomness
from core.mail import mail

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from core.mail.mail import MailMessage
    from entrypoints.installation import Installation
    from tests.application import Answer, Client

EMAIL = "ada@example.com"
PASSWORD = "correct horse battery"
FREE_TIER = UUID("00000000-0000-7000-8000-000000000001")
MAILS_MAX = 1000
new_id = SystemRandomness().new_id


@dataclass(frozen=True)
class Place:
    """An organization with a service."""

    organization_id: UUID
    service_id: UUID
    org_slug: str = "acme"
    service_slug: str = "shop"
    redirect_uri: str = "https://shop.example/welcome"

    @property
    def return_request(self) -> dict[str, str]:
        """What a request says that comes from there."""
        return {
            "org_slug": self.org_slug,
            "service_slug": self.service_slug,
            "redirect_uri": self.redirect_uri,
        }


@dataclass(frozen=True)
class People:
    """Registers people, signs them in, and empties their letter boxes."""

    installation: Installation
    client: Client
    connection: Connection

    async def messages(self) -> list[MailMessage]:
        """Give the letters that have left since the last look."""
        return [one.message for one in await self.installation.database.transact(mail.claim, MAILS_MAX)]

    async def message(self) -> MailMessage:
        """Give the one letter that has left since the last look."""
        [message] = await self.messages()
        return message

    async def register(self, email: str = EMAIL, password: str = PASSWORD, **others: Any) -> Answer:
        """Register somebody."""
        return await self.client.post("/api/auth/register", body={"email": email, "password": password, **others})

    async def register_and_verify(self, email: str = EMAIL, password: str = PASSWORD) -> None:
        """Register somebody, and open the link in the letter."""
        await self.register(email, password)
        [token] = [message.values["token"] for message in await self.messages() if message.to == email]
        answer = await self.client.get(f"/auth/verify-email?token={token}")
        assert answer.status == 200

    async def log_in(self, email: str = EMAIL, password: str = PASSWORD, **others: Any) -> Answer:
        """Try to sign in."""
        return await self.client.post("/api/auth/login", body={"email": email, "password": password, **others})

    async def sign_in(self, email: str = EMAIL, password: str = PASSWORD, **others: Any) -> str:
        """Sign in, and give the access token."""
        answer = await self.log_in(email, password, **others)
        assert answer.status == 200, answer.text
        return answer.json["access_token"]

    async def arrive(self, email: str = EMAIL, password: str = PASSWORD) -> str:
        """Register, verify and sign in; give the access token."""
        await self.register_and_verify(email, password)
        return await self.sign_in(email, password)

    def user_id(self, email: str = EMAIL) -> UUID:
        """Say who has an address."""
        row = self.connection.execute("SELECT id FROM users WHERE email = %s", (email,)).fetchone()
        assert row is not None
        return row[0]

    def has(self, email: str) -> bool:
        """Say whether an account has an address."""
        return self.connection.execute("SELECT FROM users WHERE email = %s", (email,)).fetchone() is not None

    def forget_password(self, email: str = EMAIL) -> None:
        """Make an account one that never had a password."""
        self.connection.execute("UPDATE users SET password_hash = NULL WHERE email = %s", (email,))

    def deactivate(self, email: str = EMAIL) -> None:
        """Deactivate an account."""
        self.connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = %s", (email,))

    def join(self, organization_id: UUID, email: str = EMAIL, role: str = "member") -> None:
        """Make somebody a member of an organization."""
        self.connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            VALUES (%s, %s, %s, %s, now())
            """,
            (new_id(), organization_id, self.user_id(email), role),
        )

    def custom_role(self, organization_id: UUID, slug: str, permissions: list[str]) -> None:
        """Make a role that an organization has for itself."""
        self.connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, %s, %s, %s, now(), now())
            """,
            (organization_id, slug, slug, permissions),
        )

    def impersonate(self, email: str = EMAIL, *, owner: str) -> None:
        """Make every session of somebody one that a platform owner began in their name."""
        self.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (owner,))
        self.connection.execute(
            "UPDATE sessions SET impersonator_id = %s WHERE user_id = %s", (self.user_id(owner), self.user_id(email))
        )

    def events(self, kind: str) -> list[tuple[Any, ...]]:
        """List the events of a type: organization, actor and data."""
        return self.connection.execute(
            "SELECT organization_id, actor_email, data FROM events WHERE type = %s ORDER BY id", (kind,)
        ).fetchall()

    def audited(self, action: str) -> list[tuple[Any, ...]]:
        """List the audit entries of an action: organization and actor."""
        return self.connection.execute(
            "SELECT organization_id, actor_user_id FROM audit_entries WHERE action = %s ORDER BY id", (action,)
        ).fetchall()


@pytest.fixture
def people(installation: Installation, client: Client, connection: Connection) -> People:
    """People who use the application."""
    return People(installation, client, connection)


@pytest.fixture
def place(connection: Connection) -> Place:
    """An active organization with a service."""
    organization_id = make_organization(connection, "acme", "Acme Ltd")
    return Place(organization_id, make_service(connection, organization_id, "shop", "Acme Shop"))


def make_organization(connection: Connection, slug: str, name: str = "An organization") -> UUID:
    """Make an active organization."""
    organization_id = new_id()
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        VALUES (%s, %s, %s, 'active', %s, now(), now())
        """,
        (organization_id, slug, name, FREE_TIER),
    )
    return organization_id


def make_service(connection: Connection, organization_id: UUID, slug: str, name: str) -> UUID:
    """Make a service with one registered address."""
    randomness = SystemRandomness()
    service_id = randomness.new_id()
    connection.execute(
        """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, redirect_uris, created_at,
                              updated_at)
        VALUES (%s, %s, %s, %s, 'web', %s, %s, now(), now())
        """,
        (service_id, organization_id, slug, name, randomness.new_id(), ["https://shop.example/welcome"]),
    )
    return service_id
