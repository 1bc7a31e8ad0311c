"""The office of A: its rows, and judging after every step what people hold of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.customers.my_applications import Tile
from core.sessions import customer_endings
from tests.seeds import Numbers
from tests.tenants.customers import ALONE, Facts, Membership
from tests.tenants.model import Held, Violation
from tests.tenants.neighbourhood import A
from tests.tenants.office import Office, OfficeSession
from tests.world.backend import insert_key
from tests.world.builder import Service
from tests.world.relying_party import insert_service_of
from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork
    from tests.tenants.neighbourhood import Neighbourhood

ROLES: Final = ("editor", "viewer")
# The kinds of violation: who was let in, went on when it was closed, whose session did not end, and what one is there.
LET_IN, WENT_ON, KEPT, ROLE = "let in", "outlived an admission", "kept a session", "roles"
CAME: Final = "came to the office"
SHUT_OUT: Final = "the office was closed to a session"
_TILES_MAX: Final = 100
numbers = Numbers()


def opened(hood: Neighbourhood) -> Office:
    """Return the office; the first step that uses it makes it, open to everyone as each service is."""
    if hood.office is not None:
        return hood.office
    world, at_a = hood.world, hood.organizations[A].party
    party = insert_service_of(world, at_a.organization_id, slug=at_a.slug, service_slug="office")
    role_ids = world.serve_customers(
        Service(id=party.service_id, client_id=party.client_id), *ROLES, policy="none", individuals="all"
    )
    key = f"sk_o{next(numbers):05}_{'k' * 43}"
    insert_key(world, party.organization_id, party.service_id, key)
    hood.office = Office(
        party=party,
        key=key,
        role_ids={name: str(role_id) for name, role_id in role_ids.items()},
        vendor=A,
        individuals="all",
        serves_customers=False,
    )
    return hood.office


def facts_of(hood: Neighbourhood, office: Office, user_id: str) -> Facts:
    """Read what an account is to the office and to A."""
    found = hood.world.connection.execute(
        b"""
        SELECT (SELECT email FROM users WHERE id = %(user_id)s),
               (SELECT ARRAY[id::text, role, (suspended_at IS NOT NULL)::text, (confirmed_at IS NOT NULL)::text]
                FROM   memberships
                WHERE  user_id = %(user_id)s AND organization_id = %(organization_id)s),
               ARRAY(SELECT group_id::text FROM directory_group_members
                     WHERE  gives_products AND organization_id = %(organization_id)s AND user_id = %(user_id)s),
               EXISTS (SELECT FROM service_users
                       WHERE  user_id = %(user_id)s AND service_id = %(service_id)s AND last_login_at IS NOT NULL),
               EXISTS (SELECT FROM service_users WHERE user_id = %(user_id)s AND service_id = %(service_id)s),
               EXISTS (SELECT FROM service_users
                       WHERE  user_id = %(user_id)s AND service_id = %(service_id)s AND origin = 'key')
        """,
        {
            "user_id": user_id,
            "organization_id": office.party.organization_id,
            "service_id": office.party.service_id,
        },
    )
    [[email, membership, groups, has_come, is_used, is_given]] = found.fetchall()
    memberships = dict[str, Membership]()
    if membership is not None:
        membership_id, role, is_suspended, is_confirmed = membership
        memberships[A] = Membership(
            membership_id, role, is_suspended == "true", is_confirmed == "true", frozenset(groups)
        )
    return Facts(
        memberships=memberships,
        domain_of=A if hood.is_at(A, email) else None,
        visited=frozenset(),
        has_come_alone=has_come,
        used=frozenset({A} if is_used else ()),
        is_given=is_given,
    )


def admit(hood: Neighbourhood, office: Office, held: Held, facts: Facts, *, is_by_code: bool) -> None:
    """Record a session that has begun, and raise `Violation` when the office was closed to its person."""
    office.sessions[held] = OfficeSession(is_by_code)
    # A code was issued for a session that goes on.
    if not (office.keeps(facts) if is_by_code else office.admits(facts)):
        raise Violation(LET_IN, f"{held}, to an office for {office.access}")
    hood.explained.add(CAME)


def require_admitted(office: Office, facts: Facts, who: str, *, confirms: bool = False) -> None:
    """Raise `Violation` when somebody was let in whom the office does not let in."""
    if not office.admits(facts, confirms=confirms):
        raise Violation(LET_IN, f"{who}, to an office for {office.access}")


async def recheck(hood: Neighbourhood, *, is_of_all: bool = False) -> None:
    """Judge the sessions at the office to which something has happened, or all, and which of them have ended."""
    office = hood.office
    if office is None:
        return
    for held, session in list(office.sessions.items()):
        if held.is_dead:
            continue
        facts = facts_of(hood, office, held.user_id)
        if is_of_all or session.judged != office.rights(facts, ALONE):
            await _judge(hood, office, held, facts)
    await _judge_endings(hood, office)
    if is_of_all:
        await _judge_tiles(hood, office)


async def _judge(hood: Neighbourhood, office: Office, held: Held, facts: Facts) -> None:
    """Use a session in every way, and raise `Violation` when it opens more than it should, or says something else."""
    session, rights = office.sessions[held], office.rights(facts, ALONE)
    session.judged = rights
    who = await hood.send("GET", "/api/user", token=held.access_token, by=held.person)
    told = await office.party.post("/auth/introspect", {"token": held.access_token})
    if rights is None and (who.status == 200 or told.json.get("active")):
        raise Violation(WENT_ON, f"{held}, and the office is for {office.access}")
    said = [one.json for one in (who, told) if one.status == 200 and one.json.get("active", True)]
    if await _refresh(hood, office, held):
        if rights is None:
            raise Violation(WENT_ON, f"{held}, which was refreshed, and the office is for {office.access}")
        said.append(claims_of(held.access_token))
    if rights is None:
        hood.explained.add(SHUT_OUT)
    held.is_dead = who.status == 401
    for one in said:
        _judge_roles(held, one, rights.service_roles if rights is not None else ())


def _judge_roles(held: Held, claims: dict[str, Any], right: Sequence[str]) -> None:
    if claims["service_roles"] != list(right):
        raise Violation(ROLE, f"{held}, who is {claims['service_roles']} there, and should be {right}")


async def _refresh(hood: Neighbourhood, office: Office, held: Held) -> bool:
    """Refresh a session as its client does; return whether that gave tokens."""
    if office.sessions[held].is_by_code:
        answer = await office.party.token("refresh_token", refresh_token=held.refresh_token)
    else:
        body = {"refresh_token": held.refresh_token}
        answer = await hood.send("POST", "/api/auth/refresh", body, by=held.person)
    if answer.status != 200:
        return False
    held.access_token, held.refresh_token = answer.json["access_token"], answer.json["refresh_token"]
    return True


async def _judge_endings(hood: Neighbourhood, office: Office) -> None:
    """Raise `Violation` when a session is left of one whom the office does not let in, after what waits was worked off.

    What closes it to one person ends their sessions at once: what is looked at again later is not waited for.
    """
    while await hood.world.installation.database.transact(
        customer_endings.recheck, customer_endings.BATCH_SESSIONS_MAX
    ):
        pass
    for session_id, user_id in hood.world.rows(
        """
        SELECT id::text, user_id::text
        FROM   sessions
        WHERE  service_id = %s AND revoked_at IS NULL AND expires_at > %s
        """,
        office.party.service_id,
        hood.world.clock(),
    ):
        if not office.keeps(facts_of(hood, office, user_id)):
            raise Violation(KEPT, f"the session {session_id} of {user_id}, and the office is for {office.access}")


async def _judge_tiles(hood: Neighbourhood, office: Office) -> None:
    """Raise `Violation` when the office is among the applications of a person whom it does not let in."""

    def tiles(uow: UnitOfWork, user_id: str) -> Sequence[Tile]:
        return uow.my_applications.page(UUID(user_id), has_address=True, limits=None, after=None, limit=_TILES_MAX)

    for address in hood.addresses:
        user_id = hood.user_id(address)
        if user_id is None:
            continue
        found = await hood.world.installation.database.read(tiles, user_id)
        facts = facts_of(hood, office, user_id)
        if any(one.service_id == office.party.service_id for one in found) and not office.keeps(facts):
            raise Violation(LET_IN, f"{address} has a tile of the office, which is for {office.access}")
