"""Every kind of caller, in a small world of two organizations, for tests that try each of them on each route.

`acme` is the organization of the path; `globex` is another tenant, of which nobody at acme may see or touch anything.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from core.access import capabilities_of
from core.tokens import TokenKind
from tests.sign_ins import Door, new_id

if TYPE_CHECKING:
    from uuid import UUID

    from core.access import Capability
    from entrypoints.house import House

ACME = "acme"
GLOBEX = "globex"
CUSTOM_ROLE = "intern"


class Caller(StrEnum):
    """Who calls."""

    NOBODY = "nobody"
    EXPIRED = "somebody with an expired token"
    REVOKED = "somebody whose session was ended"
    API_KEY = "an API key"
    SCIM_TOKEN = "a SCIM token"
    PRE_AUTH = "somebody between the factors"
    STRANGER = "a stranger"
    OTHER_OWNER = "the owner of another organization"
    PLATFORM_OWNER = "a platform owner"
    INTERN = "a custom role without capabilities"
    MEMBER = "a member"
    ADMIN = "an admin"
    OWNER = "the owner"
    IMPERSONATED = "a platform owner who acts as the admin"


ROLES = {
    Caller.INTERN: CUSTOM_ROLE,
    Caller.MEMBER: "member",
    Caller.ADMIN: "admin",
    Caller.OWNER: "owner",
    Caller.IMPERSONATED: "admin",
}
UNKNOWN = frozenset({Caller.NOBODY, Caller.EXPIRED, Caller.REVOKED, Caller.API_KEY, Caller.SCIM_TOKEN, Caller.PRE_AUTH})


@dataclass(frozen=True)
class World:
    """Two organizations and all who may call."""

    door: Door
    house: House
    acme_id: UUID
    globex_id: UUID
    credentials: dict[Caller, dict[str, str]]
    foreign: dict[str, str]

    def capabilities(self, caller: Caller) -> frozenset[Capability]:
        """Say what a caller may do in acme."""
        role = ROLES.get(caller)
        return capabilities_of(role, []) if role is not None else frozenset()

    def set_status(self, status: str) -> None:
        """Change what acme is."""
        self.door.connection.execute("UPDATE organizations SET status = %s WHERE id = %s", (status, self.acme_id))

    def everything_of_globex(self) -> str:
        """Sum up every row that belongs to the other tenant."""
        tables = self.door.rows(
            """
            SELECT   table_name
            FROM     information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
            WHERE    table_schema = 'public' AND column_name = 'organization_id' AND table_type = 'BASE TABLE'
            ORDER BY table_name
            """
        )
        digest = hashlib.sha256()
        for (table,) in [*tables, ("organizations",)]:
            key = "id" if table == "organizations" else "organization_id"
            rows = self.door.rows(f"SELECT t::text FROM {table} AS t WHERE {key} = %s ORDER BY 1", self.globex_id)
            digest.update(repr((table, rows)).encode())
        return digest.hexdigest()


def make_world(door: Door, house: House) -> World:
    """Make the organizations and everybody in them."""
    acme, globex = door.organization(ACME), door.organization(GLOBEX)
    people = {caller: door.account(f"{caller.name.lower()}@example.com") for caller in Caller}
    door.connection.execute(
        """
        INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
        SELECT id, %s, 'Intern', '{}', now(), now() FROM organizations
        """,
        (CUSTOM_ROLE,),
    )
    for caller, role in ROLES.items():
        door.member(acme, people[caller], "member" if caller is Caller.IMPERSONATED else role)
    door.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (people[Caller.IMPERSONATED],))
    door.member(globex, people[Caller.OTHER_OWNER], "owner")
    door.connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (people[Caller.PLATFORM_OWNER],))
    return World(
        door=door,
        house=house,
        acme_id=acme,
        globex_id=globex,
        credentials=_credentials(door, house, people),
        foreign=_foreign(door, globex, people[Caller.OTHER_OWNER]),
    )


def _credentials(door: Door, house: House, people: dict[Caller, UUID]) -> dict[Caller, dict[str, str]]:
    tokens = {caller: _token(door, house, user_id) for caller, user_id in people.items()}
    tokens[Caller.EXPIRED] = _token(door, house, people[Caller.EXPIRED], age=timedelta(hours=1))
    tokens[Caller.PRE_AUTH] = _token(door, house, people[Caller.PRE_AUTH], kind=TokenKind.PRE_AUTH)
    door.connection.execute("UPDATE sessions SET revoked_at = now() WHERE user_id = %s", (people[Caller.REVOKED],))
    door.connection.execute(
        "UPDATE sessions SET impersonator_id = %s WHERE user_id = %s",
        (people[Caller.PLATFORM_OWNER], people[Caller.IMPERSONATED]),
    )
    credentials = {caller: {"Authorization": f"Bearer {token}"} for caller, token in tokens.items()}
    credentials[Caller.NOBODY] = {}
    credentials[Caller.API_KEY] = {"X-Api-Key": f"sk_abc123_{'a' * 43}"}
    credentials[Caller.SCIM_TOKEN] = {"Authorization": f"Bearer scim_live_{'a' * 43}"}
    return credentials


def _token(
    door: Door, house: House, user_id: UUID, *, kind: TokenKind = TokenKind.ACCESS, age: timedelta = timedelta()
) -> str:
    session_id, now = new_id(), door.clock()
    door.connection.execute(
        """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (%s, %s, 'password', '{pwd}', %s, %s, %s, %s, %s)
        """,
        (session_id, user_id, now, session_id.bytes, now, now + timedelta(days=90), now),
    )
    claims: dict[str, Any] = {"sub": str(user_id), "aud": house.settings.base_url, "sid": str(session_id)}
    return house.tokens.sign(claims, kind=kind, lifetime=timedelta(minutes=15), now=now - age)


def _foreign(door: Door, globex: UUID, owner: UUID) -> dict[str, str]:
    """Give names of things of the other tenant, by the parameters of paths that they may be tried as."""
    door.service(globex, "till")
    [[session_id]] = door.rows("SELECT id FROM sessions WHERE user_id = %s", owner)
    return {"user_id": str(owner), "service_slug": "till", "session_id": str(session_id)}
