"""Judging sessions at the desk after every step: each acts for the customer with which it began, while that is open.

What a session is judged by changes seldom, so requests are sent only when the rules (`customers.py`) say of it what
they did not say before; the end of a history sends them for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from core.sessions import customer_endings
from tests.tenants import claiming, judging
from tests.tenants.customers import Choice, Facts, Rights, V
from tests.tenants.desk import Desk, DeskSession
from tests.tenants.desk_rows import facts_of
from tests.tenants.model import Held, Violation
from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.neighbourhood import Neighbourhood

CAME: Final = "came for a customer"
CAME_ALONE: Final = "came without a customer"
CLOSED: Final = "a customer was closed to a session"
ASKED: Final = "was asked for the customer"
_OF_CUSTOMERS: Final = ("customer", "customer_id", "customer_name", "customer_role")
_OF_VENDOR: Final = ("role", "is_platform_owner", "is_platform_support", "permissions")


async def admit(
    hood: Neighbourhood, desk: Desk, held: Held, choice: Choice, limits: str | None, *, is_by_code: bool
) -> None:
    """Record a session that has begun at the desk, and raise `Violation` when it is for another one than was chosen."""
    desk.sessions[held] = DeskSession(limits, is_by_code)
    customer = next((one for one in desk.customers if one.id == held.customer_id), None)
    came = customer.of if customer is not None else V
    if limits not in {None, came}:
        raise Violation("confined", f"{held}, by the connection of {limits}")
    if held.customer_id != (choice.customer.id if choice.customer is not None else ""):
        raise Violation("customer", f"{held}, who was to come {choice}")
    hood.explained.add(CAME if held.customer_id else CAME_ALONE)
    claims, facts = claims_of(held.access_token), facts_of(hood, desk, held.user_id)
    _judge_claims(desk, held, claims, "the access token")
    rights = desk.rights(facts, held.customer_id, limits)
    claiming.judge(
        hood,
        desk,
        held.user_id,
        facts,
        customer_id=held.customer_id,
        rights=rights,
        claims=claims,
        source="the access token",
    )
    await _judge(hood, desk, held, facts)
    await judging.judge(hood, held)


async def recheck(hood: Neighbourhood, *, is_of_all: bool = False) -> None:
    """Judge the sessions at the desk to which something has happened, or all of them."""
    desk = hood.desk
    if desk is None:
        return
    known = dict[str, Facts]()
    for held, session in list(desk.sessions.items()):
        if held.is_dead:
            continue
        if held.user_id not in known:
            known[held.user_id] = facts_of(hood, desk, held.user_id)
        if is_of_all or session.judged != desk.rights(known[held.user_id], held.customer_id, session.limits):
            await _judge(hood, desk, held, known[held.user_id])


async def judge_endings(hood: Neighbourhood, desk: Desk) -> None:
    """Raise `Violation` when a session for a customer goes on that is closed, after what waits was worked off."""
    while await hood.world.installation.database.transact(
        customer_endings.recheck, customer_endings.BATCH_SESSIONS_MAX
    ):
        pass
    for session_id, user_id, customer_id in hood.world.rows(
        """
        SELECT id::text, user_id::text, customer_id::text
        FROM   sessions
        WHERE  service_id = %s AND customer_id IS NOT NULL AND revoked_at IS NULL AND expires_at > %s
        """,
        desk.party.service_id,
        hood.world.clock(),
    ):
        if desk.rights(facts_of(hood, desk, user_id), customer_id) is None:
            raise Violation("outlived a customer", f"the session {session_id} of {user_id} did not end")


async def _judge(hood: Neighbourhood, desk: Desk, held: Held, facts: Facts) -> None:
    """Use a session in every way, and raise `Violation` when it opens more than it should, or says something else."""
    session = desk.sessions[held]
    rights = desk.rights(facts, held.customer_id, session.limits)
    session.judged = rights
    who = await hood.send("GET", "/api/user", token=held.access_token, by=held.person)
    told = await desk.party.post("/auth/introspect", {"token": held.access_token})
    if rights is None:
        if who.status == 200 or told.json.get("active"):
            raise Violation("outlived a customer", f"{held}, and it is not open to them any more")
        hood.explained.add(CLOSED if held.customer_id else "individuals were excluded")
    held.is_dead = who.status == 401
    if who.status == 200:
        _judge_rights(held, rights, who.json)
        _judge_claims(desk, held, who.json, "the profile")
    if told.json.get("active"):
        _judge_rights(held, rights, told.json)
        _judge_claims(desk, held, told.json, "the introspection")
        claiming.judge(
            hood,
            desk,
            held.user_id,
            facts,
            customer_id=held.customer_id,
            rights=rights,
            claims=told.json,
            source="the introspection",
        )
    if await refresh(hood, desk, held):
        if rights is None:
            raise Violation("outlived a customer", f"{held}, which was refreshed, and is not open to them any more")
        claims = claims_of(held.access_token)
        _judge_rights(held, rights, claims)
        _judge_claims(desk, held, claims, "the next access token")
        claiming.judge(
            hood,
            desk,
            held.user_id,
            facts,
            customer_id=held.customer_id,
            rights=rights,
            claims=claims,
            source="the next access token",
        )


async def refresh(hood: Neighbourhood, desk: Desk, held: Held) -> bool:
    """Refresh a session as its client does; return whether that gave tokens."""
    answer: Answer
    if desk.sessions[held].is_by_code:
        answer = await desk.party.token("refresh_token", refresh_token=held.refresh_token)
    else:
        body = {"refresh_token": held.refresh_token}
        answer = await hood.send("POST", "/api/auth/refresh", body, by=held.person)
    if answer.status != 200:
        return False
    held.access_token, held.refresh_token = answer.json["access_token"], answer.json["refresh_token"]
    return True


def _judge_rights(held: Held, rights: Rights | None, claims: dict[str, Any]) -> None:
    if rights is None:
        return
    shown = Rights(claims.get("customer_role", ""), tuple(claims["service_roles"]))
    if shown != rights:
        raise Violation("roles", f"{held}, and is {shown} where they are {rights}")


def _judge_claims(desk: Desk, held: Held, claims: dict[str, Any], source: str) -> None:
    """Raise `Violation` when claims are of another customer, or say more than the vendor may know."""
    if (claims.get("customer_id") or "", claims.get("customer") or "") != (held.customer_id, held.customer):
        raise Violation("customer", f"{held}, and {source} is of the customer {claims.get('customer')}")
    if not held.customer_id:
        if any(claims.get(name) for name in _OF_CUSTOMERS):
            raise Violation("customer", f"{held}, and {source} has claims of a customer")
        return
    if any(claims.get(name) for name in _OF_VENDOR):
        raise Violation("power of the vendor", f"{held}, and {source} says what they are to the vendor")
    if any(one.organization_id in str(claims) for one in desk.customers):
        raise Violation("told", f"{held}, and {source} has the id of the customer's organization")
