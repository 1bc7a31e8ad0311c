"""Directories that vendors connect for customers, which provision strangers, and how people come in by that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.tenants import market_judging, vendors
from tests.tenants.made_connections import EDITORS
from tests.tenants.making import MAKING, other
from tests.tenants.market_judging import OUTLIVED, POWER, nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood
from tests.tenants.staff import staff_of
from tests.tenants.taking import step
from tests.tenants.vendors import MadeCustomer, Vendor
from tests.world.builder import hash_password
from tests.world.directory import GROUP, PATCH, USER

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.model import Person

PROVISIONED: Final = "a vendor's directory has provisioned a person"
REMOVED: Final = frozenset({204, 404})


@step(MAKING)
async def vendor_provisions(hood: Neighbourhood, of: str, at: str, address: str, pick: int, whole: bool) -> None:
    """A directory for a customer provisions a stranger: a person with an account or without, an owner, or the platform.

    Then it tries everything that a directory can do to an account.
    """
    customer = await vendors.customer_of(hood, of, int(at == B))
    token = await _token(hood, customer)
    if token is None:
        return
    wanted = await _wanted(hood, address, pick)
    if wanted in customer.users:
        return
    if whole:
        give_account(hood, wanted)
    async with nothing_outside_changes(hood, f"the directory of {customer.id} has provisioned {wanted}"):
        user_id = await _create(hood, customer, token, wanted)
        renamed = await _patch(hood, token, user_id, {"op": "replace", "path": "userName", "value": _stolen(wanted)})
        mail = await _patch(
            hood, token, user_id, {"op": "replace", "path": "emails", "value": [{"value": _stolen(wanted)}]}
        )
    if 200 in {renamed.status, mail.status} and hood.user_id(_stolen(wanted)) is not None:
        raise Violation(POWER, f"the directory of {customer.id} has renamed {wanted}")
    hood.explained.add(PROVISIONED)


@step(MAKING)
async def vendor_deprovisions(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """A directory for a customer deactivates a person, lets them back in, or removes them."""
    customer = await vendors.customer_of(hood, of)
    token = await _token(hood, customer)
    wanted = await _wanted(hood, address, pick)
    user_id = customer.users.get(wanted)
    if token is None or user_id is None:
        return
    async with nothing_outside_changes(hood, f"the directory of {customer.id} takes {wanted} away"):
        off = await _patch(hood, token, user_id, {"op": "replace", "path": "active", "value": False})
        if off.status == 200:
            customer.admitted[user_id] = False
            await market_judging.recheck(hood)
        if whole:
            on = await _patch(hood, token, user_id, {"op": "replace", "path": "active", "value": True})
            if on.status == 200:
                customer.admitted[user_id] = True
        else:
            gone = await vendors.by_directory(hood, token, "DELETE", f"/Users/{user_id}")
            if gone.status in REMOVED:
                _forget(customer, wanted, user_id)
    await market_judging.recheck(hood)


@step(MAKING)
async def vendor_groups(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """A directory for a customer puts a person into its group, or takes them out; the group gives roles by a rule."""
    customer = await vendors.customer_of(hood, of)
    token = await _token(hood, customer)
    user_id = customer.users.get(address)
    if token is None or user_id is None:
        return
    if customer.group_id is None:
        made = await vendors.by_directory(hood, token, "POST", "/Groups", {"schemas": [GROUP], "displayName": EDITORS})
        if made.status != 201:
            raise Violation("denied", f"the directory of {customer.id} makes no group: {made.text}")
        customer.group_id = made.json["id"]
    if not customer.group_rule and customer.is_open_to("groups"):
        roles = vendors.ROLES[pick % 2 :]
        body = {"source": "scim", "group": customer.group_id, "service_roles": roles}
        answer = await vendors.at(hood, customer, "POST", "/group-rules", body)
        customer.group_rule = tuple(roles) if answer.status == 200 else ()
    operation = {"op": "add" if whole else "remove", "path": "members", "value": [{"value": user_id}]}
    body = {"schemas": [PATCH], "Operations": [operation]}
    answer = await vendors.by_directory(hood, token, "PATCH", f"/Groups/{customer.group_id}", body)
    if answer.status in {200, 204}:
        (customer.in_group.add if whole else customer.in_group.discard)(user_id)
    await market_judging.recheck(hood)


@step(MAKING)
async def directories_reach_over(hood: Neighbourhood, of: str) -> None:
    """The directory of one vendor's customer names the people and the group of the other's, and of A and B."""
    customer, theirs = await vendors.customer_of(hood, of), await vendors.customer_of(hood, other(of))
    token = await _token(hood, customer)
    if token is None:
        return
    async with nothing_outside_changes(hood, f"the directory of {customer.id} reaches over"):
        listed = await vendors.by_directory(hood, token, "GET", "/Users?count=100")
        known = {one["userName"] for one in listed.json.get("Resources", [])}
        if strange := known - customer.users.keys() - _came(hood, customer):
            raise Violation("another vendor", f"the directory of {customer.id} lists {sorted(strange)}")
        await _reach_for_users(hood, customer, theirs, token)
        await _reach_for_groups(hood, customer, theirs, token)


async def _reach_for_users(hood: Neighbourhood, customer: MadeCustomer, theirs: MadeCustomer, token: str) -> None:
    owners = (hood.organizations[B].owner, theirs.owner)
    for user_id in (*theirs.users.values(), *(hood.user_id(one) for one in owners if one)):
        if user_id is None or user_id in customer.admitted:
            continue
        for method in ("GET", "DELETE"):
            answer = await vendors.by_directory(hood, token, method, f"/Users/{user_id}")
            if answer.status in {200, 204}:
                raise Violation("another vendor", f"the directory of {customer.id} was answered {answer.status}")


async def _reach_for_groups(hood: Neighbourhood, customer: MadeCustomer, theirs: MadeCustomer, token: str) -> None:
    if theirs.group_id is not None:
        answer = await vendors.by_directory(hood, token, "DELETE", f"/Groups/{theirs.group_id}")
        if answer.status == 204:
            raise Violation("another vendor", f"the directory of {customer.id} has deleted a group of another")
    value = [{"value": user_id} for user_id in theirs.users.values() if user_id not in customer.admitted]
    if customer.group_id is not None and value:
        body = {"schemas": [PATCH], "Operations": [{"op": "add", "path": "members", "value": value}]}
        answer = await vendors.by_directory(hood, token, "PATCH", f"/Groups/{customer.group_id}", body)
        if answer.status in {200, 204}:
            raise Violation("another vendor", f"the group of {customer.id} has people of another")


@step(MAKING)
async def admitted_come(hood: Neighbourhood, of: str, address: str, whole: bool) -> None:
    """The owner of an address signs in by password for every customer of both vendors, and looks at what is there."""
    person, market = hood.model.owner_of(address), await vendors.opened(hood)
    assert person is not None
    give_account(hood, address)
    user_id = hood.user_id(address)
    assert user_id is not None
    for customer in [one for one in market.customers if whole or one.of == of]:
        vendor = market.vendors[customer.of]
        answer = await _log_in(hood, person, vendor, customer, address)
        visit = market_judging.came(hood, person, customer, answer)
        is_let_in = market_judging.is_let_in(hood, vendor, customer, user_id)
        if visit is None and is_let_in and answer.status == 403:
            raise Violation("denied", f"{address} cannot come in for {customer.id}: {answer.text}")
        if visit is not None:
            await market_judging.judge_confined(hood, visit)
    await market_judging.recheck(hood)


@step(MAKING)
async def admitted_spy(hood: Neighbourhood, of: str, address: str) -> None:
    """A person whom a vendor admits asks in a session of their own for all that there is of organizations and services.

    They are a member of none of them.
    """
    person, market = hood.model.owner_of(address), await vendors.opened(hood)
    assert person is not None
    give_account(hood, address)
    answer = await hood.send("POST", "/api/auth/login", {"email": address, "password": person.password}, by=person)
    if answer.status != 200:
        return
    token = answer.json["access_token"]
    listed = await hood.send("GET", "/api/organizations", token=token, by=person)
    shown = {one["organization"]["slug"] for one in listed.json}
    owned = {one.slug for one in market.customers if one.owner == address}
    known = {slug for (slug, _) in hood.model.gifts} | owned
    if strange := shown - known:
        raise Violation("admitted", f"{address} is shown the organizations {sorted(strange)}")
    vendor, customers = market.vendors[of], market.customers
    slugs = [
        vendor.party.slug,
        *(f"internal:{one.id}" for one in customers),
        *(one.slug for one in customers if one.slug),
    ]
    for slug in slugs:
        for path in ("", "/members", "/services", "/users", "/upstream-providers"):
            read = await hood.send(
                "GET", f"/api/organizations/{slug.replace(':', '%3A')}{path}", token=token, by=person
            )
            if read.status == 200 and slug not in owned:
                raise Violation("admitted", f"{address} reads {path} of {slug}")
    alone = {"org_slug": vendor.other.slug, "service_slug": vendor.other.service_slug}
    body = {"email": address, "password": person.password, "customer": "", **alone}
    other_service = await hood.send("POST", "/api/auth/login", body, by=person)
    if other_service.status == 403 and not vendor.is_suspended:
        raise Violation("denied", f"{address} cannot come to another service as themselves: {other_service.text}")


@step(MAKING)
async def stranger_is_not_shut_out(hood: Neighbourhood, of: str, address: str) -> None:
    """A person whom a vendor's directory names, and who has not come for the customer, comes as themselves."""
    person, vendor = hood.model.owner_of(address), await vendors.vendor_of(hood, of)
    assert person is not None
    give_account(hood, address)
    user_id = hood.user_id(address)
    has_come = any(user_id in one.active or user_id in one.asserted or one.owner == address for one in vendor.customers)
    if vendor.is_suspended or has_come:
        return
    body = {
        "email": address,
        "password": person.password,
        "customer": "",
        "org_slug": vendor.party.slug,
        "service_slug": vendor.party.service_slug,
    }
    answer = await hood.send("POST", "/api/auth/login", body, by=person)
    if answer.status == 403:
        raise Violation("denied", f"{address} cannot use the service of {of} as themselves: {answer.text}")


@step(MAKING)
async def directories_after_the_end(hood: Neighbourhood) -> None:
    """The directories of customers that have ended, or that another one has, call with their tokens."""
    market = await vendors.opened(hood)
    for customer in market.customers:
        vendor = market.vendors[customer.of]
        is_open = not (vendor.is_suspended or customer.is_paused or customer.is_ended)
        for token in customer.tokens:
            answer = await vendors.by_directory(hood, token, "GET", "/Users")
            if answer.status == 200 and not is_open:
                raise Violation(OUTLIVED, f"a SCIM token of {customer.id} works")


async def _token(hood: Neighbourhood, customer: MadeCustomer) -> str | None:
    """Return the secret of a SCIM token of a customer, which the vendor makes if it may; None without one."""
    vendor = await vendors.vendor_of(hood, customer.of)
    if customer.is_paused or customer.is_ended or vendor.is_suspended:
        return None
    if not customer.tokens and customer.is_open_to("scim"):
        made = await vendors.at(hood, customer, "POST", "/scim-tokens", {"name": "Directory"})
        assert made.status == 200, made.text
        customer.tokens.append(made.json["token"])
    return customer.tokens[-1] if customer.tokens else None


async def _create(hood: Neighbourhood, customer: MadeCustomer, token: str, address: str) -> str:
    body = {"schemas": [USER], "userName": address, "displayName": "Somebody"}
    answer = await vendors.by_directory(hood, token, "POST", "/Users", body)
    if answer.status == 409 and address in _came(hood, customer):
        # The connection has let them in before, so the directory finds them.
        listed = await vendors.by_directory(hood, token, "GET", f'/Users?filter=userName+eq+"{address}"')
        customer.users[address] = listed.json["Resources"][0]["id"]
        return customer.users[address]
    if answer.status != 201:
        raise Violation("told", f"the directory of {customer.id} was answered {answer.status} for {address}")
    customer.users[address] = answer.json["id"]
    customer.admitted[answer.json["id"]] = True
    return answer.json["id"]


async def _patch(hood: Neighbourhood, token: str, user_id: str, operation: dict[str, Any]) -> Answer:
    body = {"schemas": [PATCH], "Operations": [operation]}
    return await vendors.by_directory(hood, token, "PATCH", f"/Users/{user_id}", body)


def _forget(customer: MadeCustomer, address: str, user_id: str) -> None:
    customer.users.pop(address)
    customer.admitted.pop(user_id, None)
    customer.in_group.discard(user_id)
    customer.asserted.pop(user_id, None)


def _came(hood: Neighbourhood, customer: MadeCustomer) -> set[str]:
    """Return the addresses of those whom a customer admits in any way."""
    return {hood.address_of(user_id) or "" for user_id in customer.admitted}


def give_account(hood: Neighbourhood, address: str) -> None:
    """Let the person of an address have an account with their password, if there is none; one without gets it."""
    person = hood.model.owner_of(address)
    if person is None:
        return
    if hood.user_id(address) is None:
        hood.world.user(address, password_hash=hash_password(person.password))
        return
    hood.world.connection.execute(
        "UPDATE users SET password_hash = %s, email_verified_at = coalesce(email_verified_at, %s)"
        " WHERE email = %s AND password_hash IS NULL",
        (hash_password(person.password), hood.world.clock(), address),
    )


async def _wanted(hood: Neighbourhood, address: str, pick: int) -> str:
    if pick == 1:
        return hood.organizations[A].owner
    if pick == 2:
        await staff_of(hood)
        query = "SELECT email FROM users WHERE is_platform_owner AND created_at >= %s ORDER BY created_at LIMIT 1"
        return str(hood.world.value(query, hood.began))
    return address


async def _log_in(hood: Neighbourhood, person: Person, vendor: Vendor, customer: MadeCustomer, address: str) -> Answer:
    body = {
        "email": address,
        "password": person.password,
        "customer": customer.id,
        "org_slug": vendor.party.slug,
        "service_slug": vendor.party.service_slug,
    }
    return await hood.send("POST", "/api/auth/login", body, by=person)


def _stolen(address: str) -> str:
    return f"stolen-{address.replace('@', '-at-')}@evil.example"
