"""Judging what vendors do for customers that they have made: it is closed in itself, and ends with the customer.

What a vendor's program does changes nothing outside of what it has made, whoever the people are about whom it speaks.
A session that came by it opens the service in the context of that customer, and nothing else.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from core.sessions import customer_endings
from tests.tenants import vendors
from tests.tenants.model import Violation
from tests.tenants.vendors import MadeCustomer, Vendor, Visit
from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from tests.application import Answer
    from tests.tenants.model import Person
    from tests.tenants.neighbourhood import Neighbourhood

ADMITTED: Final = "was admitted to the service of a vendor"
SHUT_OUT: Final = "was admitted no longer"
BEYOND: Final = "beyond its customer"
OUTLIVED: Final = "outlived its customer"
POWER: Final = "power over an account"
# What no vendor changes: accounts, memberships, sessions and identities that are not of its making.
_OUTSIDE: Final = {
    "account": """
        SELECT id::text, concat_ws(' ', email, email_verified_at, password_hash, mfa_enabled_at, deactivated_at,
                                   deactivated_by_organization_id, locked_at, disowned_at, is_platform_owner,
                                   anonymized_at, created_by_organization_id)
        FROM   users
        WHERE  created_at >= %s
    """,
    "membership": """
        SELECT m.id::text, concat_ws(' ', m.organization_id, m.user_id, m.role, m.suspended_at, m.confirmed_at)
        FROM   memberships m
        JOIN   organizations o ON o.id = m.organization_id
        WHERE  o.internal_of IS NULL AND o.created_at >= %s
    """,
    "session": """
        SELECT s.id::text, 'live'
        FROM   sessions s
        LEFT   JOIN organizations o ON o.id = s.confined_to
        WHERE  s.customer_id IS NULL AND s.revoked_at IS NULL AND o.internal_of IS NULL AND s.created_at >= %s
    """,
    "identity": """
        SELECT i.id::text, concat_ws(' ', i.user_id, i.organization_id)
        FROM   identities i
        JOIN   organizations o ON o.id = i.organization_id
        WHERE  o.internal_of IS NULL AND o.created_at >= %s
    """,
    "domain": """
        SELECT r.id::text, concat_ws(' ', r.domain, r.status, r.enforced, r.connection_id)
        FROM   domain_routes r
        JOIN   organizations o ON o.id = r.organization_id
        WHERE  o.internal_of IS NULL AND o.created_at >= %s
    """,
}
# What is new is no change, but an account that belongs to what has made it, and a membership.
_ADDED: Final = frozenset({"membership", "identity", "domain"})


def outside(hood: Neighbourhood) -> dict[str, dict[str, str]]:
    """Return what no vendor may change, by its kind and its id."""
    return {kind: dict(hood.world.rows(query, hood.began)) for kind, query in _OUTSIDE.items()}


@asynccontextmanager
async def nothing_outside_changes(
    hood: Neighbourhood, how: str, *, proves: Collection[str] = ()
) -> AsyncGenerator[None]:
    """Raise `Violation` when something outside of what vendors have made has changed at the end of the block.

    `proves` are accounts whose address its person proves meanwhile.
    """
    before = outside(hood)
    yield
    after = outside(hood)
    for kind, known in before.items():
        for one, was in known.items():
            if after[kind].get(one) != was and not (kind == "account" and one in proves):
                raise Violation(POWER, f"{how}, and the {kind} {one} is {after[kind].get(one)} after {was}")
    for kind in _ADDED:
        if added := after[kind].keys() - before[kind].keys():
            raise Violation(POWER, f"{how}, and there is the {kind} {after[kind][min(added)]}")
    _judge_new_accounts(hood, how, after["account"].keys() - before["account"].keys())


def _judge_new_accounts(hood: Neighbourhood, how: str, ids: Collection[str]) -> None:
    for (email,) in hood.world.rows(
        "SELECT email FROM users WHERE id = ANY (%s) AND created_by_organization_id IS NOT NULL", list(ids)
    ):
        raise Violation(POWER, f"{how}, and the account of {email} belongs to what has made it")


async def judge_confined(hood: Neighbourhood, visit: Visit) -> None:
    """Raise `Violation` when a session for a customer opens something beside the service for that customer."""
    market = await vendors.opened(hood)
    vendor = market.vendors[visit.customer.of]
    claims = claims_of(visit.token)
    if (claims.get("customer_id"), claims.get("org")) != (visit.customer.id, vendor.party.slug):
        raise Violation(BEYOND, f"{_told(visit)} is for {claims.get('customer_id')} at {claims.get('org')}")
    if claims.get("role") or claims.get("is_platform_owner") or claims.get("permissions"):
        raise Violation(BEYOND, f"{_told(visit)} has a role in {claims.get('org')}")
    if claims.get("customer_role") and _email_of(hood, visit) != visit.customer.owner:
        raise Violation(BEYOND, f"{_told(visit)} has the role {claims['customer_role']} of a member")
    sent: dict[str, Any] = {"token": visit.token, "by": visit.person}
    # The word of a connection that a vendor has made speaks for no account.
    if visit.is_by_connection or _belongs_elsewhere(hood, visit):
        renamed = await hood.send("PATCH", "/api/user", {"email": f"stolen-{visit.user_id}@evil.example"}, **sent)
        factor = await hood.send("POST", "/api/user/mfa/setup", {}, **sent)
        if 200 in {renamed.status, factor.status}:
            raise Violation(POWER, f"{_told(visit)} changes the account")
    listed = await hood.send("GET", "/api/organizations", **sent)
    if listed.status == 200 and listed.json:
        raise Violation(BEYOND, f"{_told(visit)} lists {listed.text}")
    for slug in (*(one.slug for one in hood.organizations.values()), f"internal:{visit.customer.id}"):
        selected = await hood.send("POST", f"/api/organizations/{slug}/select", {}, **sent)
        if selected.status == 200:
            raise Violation(BEYOND, f"{_told(visit)} selected {slug}")


async def recheck(hood: Neighbourhood) -> None:
    """Raise `Violation` when a session goes on that is closed, or has roles that no rule gives."""
    if hood.market is None:
        return
    for visit in hood.market.visits:
        if not visit.is_dead:
            await _judge(hood, visit)


async def sweep(hood: Neighbourhood) -> None:
    """Judge all at the end of a history, after what waits was worked off."""
    if hood.market is None:
        return
    await recheck(hood)
    while await hood.world.installation.database.transact(
        customer_endings.recheck, customer_endings.BATCH_SESSIONS_MAX
    ):
        pass
    await recheck(hood)
    await judge_apart(hood)
    await judge_usage(hood)
    _judge_logs(hood)


async def _judge(hood: Neighbourhood, visit: Visit) -> None:
    vendor = await vendors.vendor_of(hood, visit.customer.of)
    answer = await hood.send("GET", "/api/user", token=visit.token, by=visit.person)
    told = await vendor.party.post("/auth/introspect", {"token": visit.token})
    again = await _refresh(hood, vendor, visit)
    is_open = not visit.ended and is_let_in(hood, vendor, visit.customer, visit.user_id)
    if not is_open and (answer.status == 200 or told.json.get("active") or again is not None):
        raise Violation(OUTLIVED, f"{_told(visit)} goes on; {visit.ended}")
    if answer.status == 401 and again is None:
        visit.is_dead = True
    if again is not None:
        visit.customer.active.add(visit.user_id)
    if not is_open:
        hood.explained.add(SHUT_OUT)
        return
    expected = visit.customer.roles_of(visit.user_id)
    for claims in (
        answer.json if answer.status == 200 else None,
        told.json if told.json.get("active") else None,
        again,
    ):
        if claims is not None and sorted(claims["service_roles"]) != expected:
            raise Violation("roles", f"{_told(visit)} has {claims['service_roles']}, where rules give {expected}")


async def _refresh(hood: Neighbourhood, vendor: Vendor, visit: Visit) -> Mapping[str, Any] | None:
    """Refresh a session; return the claims of the next token, or None."""
    if visit.is_by_code:
        answer = await vendor.party.token("refresh_token", refresh_token=visit.refresh_token)
    else:
        body = {"refresh_token": visit.refresh_token}
        answer = await hood.send("POST", "/api/auth/refresh", body, by=visit.person)
    if answer.status != 200:
        return None
    visit.token, visit.refresh_token = answer.json["access_token"], answer.json["refresh_token"]
    return claims_of(visit.token)


def is_let_in(hood: Neighbourhood, vendor: Vendor, customer: MadeCustomer, user_id: str) -> bool:
    """Return whether an account may come in for a customer: it is admitted, or the owner."""
    if vendor.is_suspended or customer.is_ended or customer.is_paused:
        return False
    owner_id = hood.user_id(customer.owner) if customer.owner else None
    return user_id == owner_id or customer.admits(user_id)


def came(
    hood: Neighbourhood,
    person: Person,
    customer: MadeCustomer,
    answer: Answer,
    *,
    is_by_connection: bool = False,
    is_by_code: bool = False,
) -> Visit | None:
    """Return the session of an answer with tokens, which is judged from now on; None for one without."""
    if answer.status != 200 or not answer.json.get("refresh_token") or hood.market is None:
        return None
    token = answer.json["access_token"]
    visit = Visit(
        person,
        claims_of(token)["sub"],
        token,
        answer.json["refresh_token"],
        customer,
        is_by_connection=is_by_connection,
        is_by_code=is_by_code,
    )
    hood.market.visits.append(visit)
    customer.active.add(visit.user_id)
    hood.explained.add(ADMITTED)
    address = _email_of(hood, visit)
    if hood.model.owner_of(address) is not person:
        raise Violation("taken over", f"{person.name} came in as {address} for a customer of {customer.of}")
    if not is_let_in(hood, hood.market.vendors[customer.of], customer, visit.user_id):
        raise Violation("admitted", f"{address} came in for a customer of {customer.of} without right")
    return visit


async def judge_apart(hood: Neighbourhood) -> None:
    """Raise `Violation` when a vendor sees something of the other's customers, or one program of another service's."""
    market = await vendors.opened(hood)
    for customer in market.customers:
        for vendor in market.vendors.values():
            keys = [vendor.other_key, *([vendor.key, vendor.weak_key] if vendor.name != customer.of else [])]
            for key in keys:
                for path in ("", "/users", "/usage?month=2026-01"):
                    await _require_unknown(hood, key, f"/{customer.id}{path}")
            if vendor.name == customer.of:
                continue
            answer = await hood.send("GET", f"{vendor.path}/{customer.id}", token=vendor.owner_token)
            if answer.status == 200:
                raise Violation("another vendor", f"{vendor.name} reads a customer of {customer.of}")
            for path in ("", "?q=Globex"):
                listed = await hood.send("GET", vendor.path + path, token=vendor.owner_token)
                if customer.id in listed.text:
                    raise Violation("another vendor", f"{vendor.name} lists a customer of {customer.of}")


async def _require_unknown(hood: Neighbourhood, key: str, path: str) -> None:
    answer = await vendors.by_key(hood, key, "GET", path)
    if answer.status == 200:
        raise Violation("another vendor", f"a key reads {path} of another service")


async def judge_usage(hood: Neighbourhood) -> None:
    """Raise `Violation` when a vendor is told of other people than those who came for its customers this month."""
    market = await vendors.opened(hood)
    month = hood.world.clock().strftime("%Y-%m")
    for vendor in market.vendors.values():
        if vendor.is_suspended:
            continue
        headers = {"X-Api-Key": vendor.key}
        answer = await hood.send("GET", f"/api/service/usage?month={month}", headers=headers)
        expected = {one.id: len(one.active) for one in vendor.present if one.active}
        together = {user_id for one in vendor.present for user_id in one.active}
        if answer.status != 200:
            raise Violation("usage", f"{vendor.name} was answered {answer.text}")
        told = {one["customer_id"]: one["active_people"] for one in answer.json["customers"]}
        if (told, answer.json["active_people"]) != (expected, len(together)):
            raise Violation(
                "usage", f"{vendor.name} was told {answer.text}, and {expected} came, {len(together)} in all"
            )
        for one in vendor.present:
            path = f"/{one.id}/usage?month={month}"
            alone = await vendors.by_key(hood, vendor.key, "GET", path)
            if alone.json.get("active_people") != len(one.active):
                raise Violation("usage", f"{vendor.name} was told {alone.text} of {one.id}")


def _judge_logs(hood: Neighbourhood) -> None:
    """Raise `Violation` when a log or a feed names a customer to another one than its vendor and its organization."""
    assert hood.market is not None
    ids = [one.id for one in hood.market.customers]
    for table, content in (("events", "data"), ("audit_entries", "details")):
        for slug, customer_id in hood.world.rows(
            f"""
            SELECT DISTINCT o.slug, l.{content} ->> 'customer_id'
            FROM   {table} l
            JOIN   organizations o ON o.id = l.organization_id
            WHERE  l.{content} ->> 'customer_id' = ANY (%s)
              AND  NOT EXISTS (SELECT FROM service_customers c
                               WHERE  c.id::text = l.{content} ->> 'customer_id'
                                 AND  o.id IN (c.vendor_id, c.organization_id, c.ended_organization_id))
              AND  EXISTS (SELECT FROM service_customers c WHERE c.id::text = l.{content} ->> 'customer_id')
            """,
            ids,
        ):
            # What a takeover had claimed was the customer's organization before the undo.
            if not slug.startswith(("stolen-", "friends-")):
                raise Violation("another vendor", f"{slug} has {customer_id} in its {table}")


def _belongs_elsewhere(hood: Neighbourhood, visit: Visit) -> bool:
    """Return whether the account is used beside the customer of a session: as a member, or for another customer."""
    assert hood.market is not None
    is_member = any(user_id == visit.user_id for _, user_id in hood.model.gifts)
    return is_member or any(
        one is not visit.customer
        and not one.is_ended
        and visit.user_id in one.active
        and one.admitted.get(visit.user_id)
        for one in hood.market.customers
    )


def _email_of(hood: Neighbourhood, visit: Visit) -> str:
    return hood.address_of(visit.user_id) or ""


def _told(visit: Visit) -> str:
    way = "by its connection" if visit.is_by_connection else "by a password"
    return f"a session of {visit.person.name} for {visit.customer.id} of {visit.customer.of} {way}"
