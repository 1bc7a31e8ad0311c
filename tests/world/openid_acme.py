"""Acme with a connection to an OpenID provider, and a browser that signs in by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.openid import device as device_codes
from tests.application import Answer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.world.builder import new_id
from tests.world.openid_connection import CONNECTIONS, ROUTES, connected_organization
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import World


@dataclass
class Acme:
    """An organization with a connection and a verified domain."""

    world: World
    visitor: Visitor
    provider: OpenIdProvider
    owner: SignedInUser
    organization_id: UUID
    connection_id: str

    async def depart(self, visitor: Visitor | None = None) -> str:
        """Begin a sign-in, and return the address at the provider."""
        path = f"/auth/upstream?connection_id={self.connection_id}"
        answer = await (visitor or self.visitor).send("GET", path)
        assert answer.status == 303, answer.text
        return answer.headers["Location"]

    async def sign_in(self, **answer: str) -> Answer:
        """Sign in by the connection, and return the page that follows."""
        return await self.visitor.open(self.provider.sign_in(await self.depart(), **answer))

    async def change(self, **fields: Any) -> None:
        """Change the connection."""
        answer = await self.owner.patch(f"{CONNECTIONS}/{self.connection_id}", fields)
        assert answer.status == 200, answer.text

    def link(self, email: str, subject: str = "employee-1") -> None:
        """Link the account of a user to an account at the provider, as its user has done."""
        now = self.world.clock()
        self.world.connection.execute(
            """
            INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at, used_at,
                                    confirmed_at)
            VALUES (%s, %s, 'upstream', %s, %s, %s, %s, %s, %s)
            """,
            (
                new_id(),
                self.world.user_id(email),
                subject,
                self.organization_id,
                self.connection_id,
                now,
                now,
                now,
            ),
        )

    async def enforce(self) -> None:
        """Enforce the sign-in for the domain."""
        [route] = (await self.owner.get(ROUTES)).json["domain_routes"]
        answer = await self.owner.patch(f"{ROUTES}/{route['id']}", {"enforced": True})
        assert answer.status == 200, answer.text

    @property
    def path(self) -> str:
        """The path of the connection."""
        return f"{CONNECTIONS}/{self.connection_id}"

    @property
    def live_sessions(self) -> int:
        """How many sessions of the connection are alive."""
        return self.world.value(
            "SELECT count(*) FROM sessions WHERE connection_id = %s AND revoked_at IS NULL", self.connection_id
        )

    @property
    def identities(self) -> int:
        """How many identities of the connection are linked."""
        return self.world.value("SELECT count(*) FROM identities WHERE connection_id = %s", self.connection_id)

    async def wish(self, editor: SignedInUser, **fields: Any) -> Answer:
        """Let a member ask for a change of the connection."""
        return await editor.patch(self.path, fields)

    async def sign_in_confirmed(self) -> Answer:
        """Sign in again, with identities whose users have proved that the accounts are theirs."""
        self.world.connection.execute("UPDATE identities SET confirmed_at = now()")
        self.visitor.cookies.clear()
        return await self.sign_in()


async def openid_acme(world: World, visitor: Visitor, provider: OpenIdProvider) -> Acme:
    """Return Acme, whose domain `acme.example` signs in at a provider."""
    made = await connected_organization(world, provider.url, client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
    return Acme(world, visitor, provider, made.owner, made.organization_id, made.connection_id)


async def command_line_token(acme: Acme) -> dict[str, Any]:
    """Return the tokens of a command line that the browser has approved: a session by the connection with tokens."""
    client_id = {"client_id": str(device_codes.COMMAND_LINE_CLIENT)}
    device = (await acme.world.client.post("/auth/device/code", body=client_id)).json
    path = device["verification_uri_complete"].removeprefix("http://localhost:8000")
    await acme.visitor.submit(await acme.visitor.open(path), "/auth/device/approve")
    grant = {"grant_type": device_codes.GRANT_TYPE, "device_code": device["device_code"], **client_id}
    answer = await acme.world.client.post("/auth/token", body=grant)
    assert answer.status == 200, answer.text
    return answer.json
