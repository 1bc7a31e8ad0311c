"""Every kind of caller, in two organizations, for tests that call every route as each of them.

`acme` is the organization of the path; `globex` is another tenant, whose data no caller of acme may read or change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from core.openid.workloads import CLAIM
from core.organizations.access import Capability, capabilities_of
from core.organizations.key_callers import SUBJECT_PREFIX
from core.secrets import hash_token
from core.sessions.tokens import TokenKind
from tests.world.backend import insert_key
from tests.world.builder import new_id
from tests.world.directory import insert_scim_token
from tests.world.organization_keys import insert_organization_key
from tests.world.world import World

ACME = "acme"
GLOBEX = "globex"
CUSTOM_ROLE = "intern"


class Caller(StrEnum):
    """A kind of caller."""

    NOBODY = "an unauthenticated caller"
    EXPIRED = "a user with an expired token"
    REVOKED = "a user whose session was revoked"
    API_KEY = "an API key"
    ORGANIZATION_KEY = "an unknown key of an organization"
    SCIM_TOKEN = "a SCIM token"
    PRE_AUTH = "a user with a pre-auth token"
    STRANGER = "a user without organizations"
    OTHER_OWNER = "the owner of another organization"
    PLATFORM_OWNER = "a platform owner"
    SUPPORT = "a person of the platform's support"
    SUPPORT_WITH_ONE_FACTOR = "support in a session with one factor"
    SUPPORT_WITHOUT_FACTOR = "support whose account has no second factor"
    INTERN = "a custom role without capabilities"
    MEMBER = "a member"
    ADMIN = "an admin"
    OWNER = "the owner"
    IMPERSONATED = "a platform owner who impersonates the admin"


SUPPORT = (Caller.SUPPORT, Caller.SUPPORT_WITH_ONE_FACTOR, Caller.SUPPORT_WITHOUT_FACTOR)
ROLES = {
    Caller.INTERN: CUSTOM_ROLE,
    Caller.MEMBER: "member",
    Caller.ADMIN: "admin",
    Caller.OWNER: "owner",
    Caller.IMPERSONATED: "admin",
}
UNKNOWN = frozenset(
    {
        Caller.NOBODY,
        Caller.EXPIRED,
        Caller.REVOKED,
        Caller.API_KEY,
        Caller.ORGANIZATION_KEY,
        Caller.SCIM_TOKEN,
        Caller.PRE_AUTH,
    }
)


@dataclass(frozen=True)
class Callers:
    """Two organizations and every kind of caller."""

    world: World
    acme_id: UUID
    globex_id: UUID
    people: dict[Caller, UUID]
    sessions: dict[Caller, UUID]
    # Ids and slugs of the other tenant, by the path parameter that they are inserted for.
    foreign: dict[str, str]

    def capabilities(self, caller: Caller) -> frozenset[Capability]:
        """Return what a caller may do in acme."""
        role = ROLES.get(caller)
        return capabilities_of(role, []) if role is not None else frozenset()

    def set_status(self, status: str) -> None:
        """Change the status of acme."""
        self.world.set_organization_status(self.acme_id, status)

    def credentials(self, caller: Caller) -> dict[str, str]:
        """Return the headers with a caller's credential."""
        match caller:
            case Caller.NOBODY:
                return {}
            case Caller.API_KEY:
                return {"X-Api-Key": f"sk_abc123_{'a' * 43}"}
            case Caller.ORGANIZATION_KEY:
                return {"X-Api-Key": f"gk_zzz999_{'z' * 43}"}
            case Caller.SCIM_TOKEN:
                return {"Authorization": f"Bearer scim_live_{'a' * 43}"}
            case _:
                return {"Authorization": f"Bearer {self._token(caller)}"}

    def key_of(
        self,
        maker: Caller,
        *,
        permissions: Iterable[Capability] = Capability,
        organization_id: UUID | None = None,
        expires_at: datetime | None = None,
        by_workload: bool = False,
    ) -> dict[str, str]:
        """Return the headers with a new key that a caller has made, for acme or another organization.

        `by_workload` has those with the token of a workload in its place, which stands for the key.
        """
        key_id = new_id()
        key = f"gk_{key_id.hex[-6:]}_{key_id.hex}{'k' * 11}"
        organization_id = organization_id or self.acme_id
        key_id = insert_organization_key(
            self.world,
            organization_id,
            self.people[maker],
            key,
            permissions=permissions,
            expires_at=expires_at,
        )
        if by_workload:
            return {"Authorization": f"Bearer {self._token_of_workload(organization_id, key_id, self.people[maker])}"}
        return {"X-Api-Key": key}

    def _token_of_workload(self, organization_id: UUID, key_id: UUID, maker_id: UUID) -> str:
        workload_id = new_id()
        self.world.connection.execute(
            """
            INSERT INTO workloads (id, organization_id, key_id, name, issuer, match, created_at, created_by,
                                   has_second_factor)
            VALUES (%s, %s, %s, 'Job', 'https://ci.example', '{}', %s, %s, false)
            """,
            (workload_id, organization_id, key_id, self.world.clock(), maker_id),
        )
        claims = {
            "sub": f"{SUBJECT_PREFIX}{key_id}",
            "aud": self.world.installation.settings.base_url,
            "organization_id": str(organization_id),
            CLAIM: str(workload_id),
        }
        return self.world.installation.tokens.sign(
            claims, kind=TokenKind.ACCESS, lifetime=timedelta(minutes=15), now=self.world.clock()
        )

    def cookie(self, caller: Caller) -> dict[str, str]:
        """Return the headers with the cookie of a caller's session, which is kept in a browser from now on.

        An impersonator's stands beside the cookie of their own session.
        """
        if caller is Caller.IMPERSONATED:
            own = self.cookie(Caller.PLATFORM_OWNER)["Cookie"]
            return {"Cookie": f"{own}; gatehouse_impersonation={self._secret(caller)}"}
        return {"Cookie": f"gatehouse_session={self._secret(caller)}"}

    def _secret(self, caller: Caller) -> str:
        secret = f"browser-of-{caller.name}"
        self.world.connection.execute(
            """
            INSERT INTO browser_sessions (session_id, secret_hash, stays_signed_in) VALUES (%s, %s, false)
            ON CONFLICT DO NOTHING
            """,
            (self.sessions[caller], hash_token(secret)),
        )
        return secret

    def _token(self, caller: Caller) -> str:
        # Signed on demand: signing one for every caller takes longer than most tests of a route.
        claims: dict[str, Any] = {
            "sub": str(self.people[caller]),
            "aud": self.world.installation.settings.base_url,
            "sid": str(self.sessions[caller]),
        }
        kind = TokenKind.PRE_AUTH if caller is Caller.PRE_AUTH else TokenKind.ACCESS
        age = timedelta(hours=1) if caller is Caller.EXPIRED else timedelta()
        return self.world.installation.tokens.sign(
            claims, kind=kind, lifetime=timedelta(minutes=15), now=self.world.clock() - age
        )

    def everything_of_globex(self) -> list[tuple[Any, ...]]:
        """List every row of the other tenant, each preceded by the name of its table."""
        return self._everything_of(self.globex_id)

    def everything_of_acme(self) -> list[tuple[Any, ...]]:
        """List every row of the organization of the path likewise."""
        return self._everything_of(self.acme_id)

    def _everything_of(self, organization_id: UUID) -> list[tuple[Any, ...]]:
        tables = self.world.rows(
            """
            SELECT relname
            FROM   pg_class JOIN pg_attribute ON attrelid = pg_class.oid
            WHERE  relnamespace = 'public'::regnamespace AND relkind = 'r' AND attname = 'organization_id'
            """
        )
        theirs = [f"SELECT '{table}', t::text FROM {table} AS t WHERE organization_id = g.id" for (table,) in tables]
        own = "SELECT 'organizations', t::text FROM organizations AS t WHERE t.id = g.id"
        # In one statement, because this runs twice for each route.
        return self.world.rows(
            f"""
            SELECT   found.*
            FROM     (SELECT %s::uuid AS id) AS g, LATERAL ({" UNION ALL ".join([own, *theirs])}) AS found
            ORDER BY 1, 2
            """,
            organization_id,
        )


def insert_callers(world: World) -> Callers:
    """Insert the organizations and every caller."""
    acme, globex = world.organization(ACME), world.organization(GLOBEX)
    people = {caller: world.user(f"{caller.name.lower()}@example.com") for caller in Caller}
    for organization_id in (acme, globex):
        world.custom_role(organization_id, CUSTOM_ROLE)
    for caller, role in ROLES.items():
        world.member(acme, people[caller], role)
    world.member(globex, people[Caller.OTHER_OWNER], "owner")
    till = world.service(globex, "till")
    world.connection.execute(
        "UPDATE users SET is_platform_owner = true WHERE id = %s", (people[Caller.PLATFORM_OWNER],)
    )
    for caller in SUPPORT:
        world.connection.execute(
            "UPDATE users SET is_platform_support = true, mfa_enabled_at = %s WHERE id = %s",
            (world.clock() if caller is not Caller.SUPPORT_WITHOUT_FACTOR else None, people[caller]),
        )
    sessions = {caller: _session(world, user_id) for caller, user_id in people.items()}
    world.connection.execute(
        "UPDATE sessions SET amr = '{pwd,otp,mfa}' WHERE id = ANY (%s)",
        ([sessions[Caller.SUPPORT], sessions[Caller.SUPPORT_WITHOUT_FACTOR]],),
    )
    world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE id = %s", (sessions[Caller.REVOKED],))
    world.connection.execute(
        "UPDATE sessions SET impersonator_id = %s, impersonator_session_id = %s WHERE id = %s",
        (people[Caller.PLATFORM_OWNER], sessions[Caller.PLATFORM_OWNER], sessions[Caller.IMPERSONATED]),
    )
    return Callers(
        world=world,
        acme_id=acme,
        globex_id=globex,
        people=people,
        sessions=sessions,
        foreign={
            "user_id": str(people[Caller.OTHER_OWNER]),
            "service_slug": "till",
            "api_key_id": str(insert_key(world, globex, till.id, f"sk_globex_{'g' * 43}")),
            "plan_id": str(world.plan(globex, till.id)),
            "session_id": str(sessions[Caller.OTHER_OWNER]),
            "customer_id": str(world.customer(till, world.organization("initech"))),
            "client_id": str(till.client_id),
            "key_id": str(insert_organization_key(world, globex, people[Caller.OTHER_OWNER], f"gk_globex_{'g' * 43}")),
            "token_id": str(insert_scim_token(world, globex, f"scim_live_globex_{'g' * 43}")),
        },
    )


def _session(world: World, user_id: UUID) -> UUID:
    session_id, now = new_id(), world.clock()
    world.connection.execute(
        """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (%s, %s, 'password', '{pwd}', %s, %s, %s, %s, %s)
        """,
        (session_id, user_id, now, session_id.bytes, now, now + timedelta(days=90), now),
    )
    return session_id
