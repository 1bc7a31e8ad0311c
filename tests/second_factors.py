"""People with a second factor, for tests: they sign in over HTTP, and their app shows codes by the test's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import trio
from pyotp.totp import TOTP

from core.accounts.users import User

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.postgres.driver.connection import Connection
    from entrypoints.installation import Installation
    from ports.unit_of_work import UnitOfWork
    from tests.application import Answer, Client
    from tests.clock import SettableClock

PASSWORD = "a horse of another colour"
STEP = timedelta(seconds=30)


@dataclass
class Person:
    """Somebody with a password, a client, and maybe an app."""

    client: Client
    clock: SettableClock
    id: UUID
    email: str
    address: str = "127.0.0.1"
    token: str = ""
    secret: str = ""
    backup_codes: list[str] = field(default_factory=list)

    def code(self, steps: int = 0) -> str:
        """What the app shows now, or so many steps later."""
        return TOTP(self.secret).at(self.clock() + steps * STEP)

    def wrong_code(self) -> str:
        """A code of six digits that the app does not show anywhere near."""
        near = {self.code(steps) for steps in range(-2, 3)}
        return next(code for code in (f"{number:06}" for number in range(10)) if code not in near)

    def next_step(self) -> None:
        """Wait for the next code."""
        self.clock.advance(STEP)

    async def log_in(self, password: str = PASSWORD, headers: dict[str, str] | None = None, **body: Any) -> Answer:
        """Send the password."""
        return await self.client.post(
            "/api/auth/login",
            body={"email": self.email, "password": password, **body},
            headers=headers,
            address=self.address,
        )

    async def preauth_token(self, **body: Any) -> str:
        """Send the password and get as far as the code."""
        answer = await self.log_in(**body)
        assert answer.json["mfa_required"] is True, answer.json
        return answer.json["preauth_token"]

    async def verify(self, preauth_token: str, code: str, **body: Any) -> Answer:
        """Send a code with the pre-auth token."""
        return await self.client.post(
            "/api/auth/mfa/verify", token=preauth_token, body={"code": code, **body}, address=self.address
        )

    async def mfa(self, method: str, path: str, body: Any = None) -> Answer:
        """Call an endpoint below /api/user/mfa as the person who is signed in."""
        return await self.client.request(
            method, f"/api/user/mfa{path}", token=self.token, body=body, address=self.address
        )

    async def sign_in(self) -> None:
        """Get an access token, without a second factor."""
        self.token = (await self.log_in()).json["access_token"]

    async def sign_in_with_second_factor(self) -> None:
        """Get an access token with a code of the app."""
        self.token = (await self.verify(await self.preauth_token(), self.code())).json["access_token"]

    async def set_up(self) -> Answer:
        """Begin to set the app up."""
        answer = await self.mfa("POST", "/setup")
        assert answer.status == 200, answer.json
        self.secret = answer.json["secret"]
        return answer

    async def turn_mfa_on(self) -> None:
        """Sign in, set the app up and turn it on."""
        await self.sign_in()
        await self.set_up()
        answer = await self.mfa("POST", "/verify", {"code": self.code()})
        assert answer.status == 200, answer.json
        self.backup_codes = answer.json["backup_codes"]


async def somebody(
    installation: Installation, client: Client, clock: SettableClock, email: str = "ada@example.com"
) -> Person:
    """Make an account with a verified address."""
    password_hash = await installation.passwords.hash(PASSWORD)

    def add(uow: UnitOfWork) -> UUID:
        user = User(
            id=uow.randomness.new_id(),
            email=email,
            email_verified_at=uow.now,
            is_platform_owner=False,
            created_at=uow.now,
            updated_at=uow.now,
        )
        assert uow.users.add(user)
        uow.credentials.set_password_hash(user.id, password_hash)
        return user.id

    return Person(client=client, clock=clock, id=await installation.database.transact(add), email=email)


def organization_of(connection: Connection, person: Person, slug: str = "engines", **columns: Any) -> UUID:
    """Make an organization with this one member."""
    organization_id, now = uuid4(), person.clock()
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, device_trust_days, mfa_required, created_at,
                                   updated_at)
        SELECT %s, %s, 'Engines', 'active', id, %s, %s, %s, %s FROM tiers WHERE name = 'free'
        """,
        (organization_id, slug, columns.get("device_trust_days", 30), columns.get("mfa_required", False), now, now),
    )
    connection.execute(
        "INSERT INTO memberships (id, organization_id, user_id, role, created_at) VALUES (%s, %s, %s, 'member', %s)",
        (uuid4(), organization_id, person.id, now),
    )
    return organization_id


def mfa_log(connection: Connection, person: Person) -> list[str]:
    """What the separate log says of a person, the oldest first."""
    rows = connection.execute("SELECT event_type FROM mfa_events WHERE user_id = %s ORDER BY id", (person.id,))
    return [event_type for (event_type,) in rows]


def published(connection: Connection) -> list[tuple[str, UUID | None]]:
    """The events about second factors with their organizations, the oldest first."""
    rows = connection.execute("SELECT type, organization_id FROM events WHERE type LIKE '%mfa%' ORDER BY id")
    return [(event_type, organization_id) for event_type, organization_id in rows]


async def at_once(*sends: Callable[[], Awaitable[Answer]]) -> list[int]:
    """Send all of these at once; give the statuses in the order of the answers. One alone is sent twice."""
    statuses: list[int] = []

    async def note(send: Callable[[], Awaitable[Answer]]) -> None:
        statuses.append((await send()).status)

    async with trio.open_nursery() as nursery:
        for send in sends * 2 if len(sends) == 1 else sends:
            nursery.start_soon(note, send)
    return statuses
