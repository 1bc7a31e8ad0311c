"""People at the door, for tests of signing in: accounts in every state, the places they want to, and what they get.

What is not the subject of such a test is put into the tables. Everybody knocks from an address of their own, so that
no limit is in the way of a test that is not about limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import argon2
import jwt
import pytest

from adapters.crypto.randomness import SystemRandomness
from tests.application import CHEAP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.postgres.driver.connection import Connection
    from tests.application import Answer, Client
    from tests.clock import SettableClock

EMAIL = "ada@example.com"
PASSWORD = "correct horse battery"
FREE_TIER = UUID("00000000-0000-7000-8000-000000000001")
new_id = SystemRandomness().new_id


def hashed(password: str, *, memory_kib: int = CHEAP.memory_kib) -> str:
    """Hash a password as the house of the tests does."""
    return argon2.PasswordHasher(time_cost=CHEAP.passes, memory_cost=memory_kib, parallelism=CHEAP.lanes).hash(password)


HASHED = hashed(PASSWORD)


@dataclass(frozen=True)
class Entered:
    """What somebody got who was let in."""

    access_token: str
    refresh_token: str
    device_token: str

    @property
    def claims(self) -> dict[str, Any]:
        """What the access token says."""
        return claims_of(self.access_token)

    @property
    def session_id(self) -> UUID:
        """The session that began."""
        return UUID(self.claims["sid"])


@dataclass(frozen=True)
class Door:
    """The door of the house: who has an account, and who knocks."""

    client: Client
    connection: Connection
    clock: SettableClock
    addresses: Iterator[str] = field(default_factory=lambda: (f"10.{n >> 8}.{n & 255}.1" for n in count()))

    def account(
        self,
        email: str = EMAIL,
        *,
        password_hash: str | None = HASHED,
        is_verified: bool = True,
        is_active: bool = True,
        is_platform_owner: bool = False,
        has_mfa: bool = False,
    ) -> UUID:
        """Make an account."""
        user_id, now = new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO users (id, email, email_verified_at, password_hash, is_platform_owner, mfa_enabled_at,
                               created_at, updated_at, deactivated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                user_id,
                email,
                now if is_verified else None,
                password_hash,
                is_platform_owner,
                now if has_mfa else None,
                now,
                now,
                None if is_active else now,
            ),
        )
        return user_id

    def organization(self, slug: str = "acme", *, status: str = "active", mfa_required: bool = False) -> UUID:
        """Make an organization."""
        organization_id, now = new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, mfa_required, created_at, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (organization_id, slug, slug.title(), status, FREE_TIER, mfa_required, now, now),
        )
        return organization_id

    def member(self, organization_id: UUID, user_id: UUID, role: str = "member") -> None:
        """Make somebody a member."""
        self.connection.execute(
            "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, %s, %s)",
            (new_id(), organization_id, user_id, role, self.clock()),
        )

    def service(self, organization_id: UUID, slug: str = "shop") -> UUID:
        """Make a service, and give its client id."""
        client_id, now = new_id(), self.clock()
        self.connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%s, %s, %s, %s, 'web', %s, %s, %s)
            """,
            (new_id(), organization_id, slug, slug.title(), client_id, now, now),
        )
        return client_id

    async def knock(
        self,
        email: str = EMAIL,
        password: str = PASSWORD,
        *,
        address: str | None = None,
        headers: dict[str, str] | None = None,
        **where: str,
    ) -> Answer:
        """Send a password."""
        return await self.client.post(
            "/api/auth/login",
            body={"email": email, "password": password, **where},
            headers=headers,
            address=address or next(self.addresses),
        )

    async def enter(self, email: str = EMAIL, headers: dict[str, str] | None = None, **where: str) -> Entered:
        """Sign in."""
        answer = await self.knock(email, headers=headers, **where)
        assert answer.status == 200, answer.text
        return Entered(**{name: answer.json[name] for name in ("access_token", "refresh_token", "device_token")})

    async def refresh(self, refresh_token: str) -> Answer:
        """Send a refresh token."""
        return await self.client.post(
            "/api/auth/refresh", body={"refresh_token": refresh_token}, address=next(self.addresses)
        )

    async def ask(self, entered: Entered) -> Answer:
        """Ask for something that whoever is signed in may ask for."""
        return await self.client.get("/api/user/sessions", token=entered.access_token)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Look behind the door."""
        return self.connection.execute(query.encode(), values).fetchall()

    def value(self, query: str, *values: Any) -> Any:
        """Look at one thing behind the door."""
        [[value]] = self.rows(query, *values)
        return value

    def events(self, kind: str) -> list[tuple[UUID | None, str | None, dict[str, Any]]]:
        """List the events of a kind: organization, actor and data."""
        found = self.rows("SELECT organization_id, actor_email, data FROM events WHERE type = %s ORDER BY id", kind)
        return [(organization_id, email, data) for organization_id, email, data in found]


@pytest.fixture
def door(client: Client, connection: Connection, clock: SettableClock) -> Door:
    """The door of the house."""
    return Door(client, connection, clock)


def claims_of(token: str) -> dict[str, Any]:
    """Read a token without believing it."""
    return jwt.decode(token, options={"verify_signature": False})


def assert_refused(answer: Answer, status: int, code: str) -> None:
    """See that the answer is this refusal."""
    assert (answer.status, answer.json["error_code"]) == (status, code), answer.text
