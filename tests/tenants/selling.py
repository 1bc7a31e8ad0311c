"""What the vendor's program, explanations and the platform do for customers: roles, events, acting as a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.tenants import claiming, desk_rows, people, standing
from tests.tenants.customers import ALONE, Customer, V
from tests.tenants.desk import Desk
from tests.tenants.desk_rows import facts_of
from tests.tenants.giving import picked
from tests.tenants.model import Held, Violation
from tests.tenants.staff import staff_of
from tests.tenants.taking import Story, step
from tests.world.builder import NO_ID
from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from tests.tenants.neighbourhood import Neighbourhood

SELLING: Final = Story.SELLING
GIVEN: Final = "the vendor gave roles of its own"
ACTED: Final = "the platform acted as a user for a customer"
TOLD_VENDOR: Final = "the vendor was told why"
TOLD_CUSTOMER: Final = "the customer was told why"


@step(SELLING)
async def vendor_gives_roles(hood: Neighbourhood, address: str, of: str, pick: int, whole: bool) -> None:
    """The vendor's program gives roles of its own at a customer to a person, and to one who has come in for it.

    The programs of others try it as well.
    """
    desk = await desk_rows.opened(hood)
    names: list[str] = sorted(desk_rows.ROLES[pick:])
    came: Held | None = picked([one for one in desk.sessions if one.customer_id], pick)
    tried = [(_latest(desk, of), hood.user_id(address) or str(NO_ID)), (_latest(desk, of), str(NO_ID))]
    if came is not None:
        tried += [(one, came.user_id) for one in desk.customers if one.id == came.customer_id]
    for customer, user_id in tried:
        for one in hood.organizations.values():
            await _give(hood, one.key, customer, user_id, names, is_right=False)
        members = {} if customer.is_ended else people.members_of(hood, desk, customer)
        found = members.get(user_id)
        is_right = found is not None and found.has_come and found.membership.is_confirmed
        if await _give(hood, desk.key, customer, user_id, names, is_right=is_right) and found is not None:
            customer.own_roles[found.membership.id] = frozenset(desk.role_ids[name] for name in names)
            hood.explained.add(GIVEN)
    if whole:
        desk_rows.make_role_anew(desk, desk_rows.ROLES[0])
    await people.judge_lists(hood, desk)


async def _give(
    hood: Neighbourhood, key: str, customer: Customer, user_id: str, names: list[str], *, is_right: bool
) -> bool:
    path = f"/api/service/customers/{customer.id}/users/{user_id}"
    answer = await hood.send("PUT", path, {"roles": names}, headers={"X-Api-Key": key})
    if answer.status == 200 and not is_right:
        raise Violation("roles", f"{user_id} got roles for {customer.slug} by a key that could not give them")
    if answer.status != 200 and is_right:
        raise Violation("denied", f"{user_id} got no roles for {customer.slug}: {answer.text}")
    if answer.status == 200 and answer.json["own_roles"] != names:
        raise Violation("roles", f"{user_id} was to get {names} for {customer.slug}, and got {answer.text}")
    return is_right


@step(SELLING, Story.READING)
async def customer_shares(hood: Neighbourhood, of: str, whole: bool) -> None:
    """A customer shows the vendor who may come in, or does so no longer."""
    desk = await desk_rows.opened(hood)
    customer = desk.present(of)
    if customer is not None:
        desk_rows.set_sharing(hood, customer, is_on=whole)
        await people.judge_lists(hood, desk)


@step(SELLING)
async def vendor_reads_news(hood: Neighbourhood) -> None:
    """The vendor reads its events of people."""
    await people.judge_news(hood, await desk_rows.opened(hood))


@step(SELLING)
async def sides_ask_why(hood: Neighbourhood, address: str, of: str) -> None:
    """The vendor asks why a person cannot sign in for a customer, and each organization why not to the product."""
    desk = await desk_rows.opened(hood)
    customer = _latest(desk, of)
    user_id = hood.user_id(address)
    facts = facts_of(hood, desk, user_id) if user_id is not None else None
    membership = facts.memberships.get(customer.of) if facts is not None and not customer.is_ended else None
    has_come = facts is not None and customer.id in facts.visited
    answer = await hood.send(
        "GET",
        f"/api/organizations/{desk.slug}/why?email={address}&service=desk&customer={customer.id}",
        token=desk.owner_token,
    )
    is_seen = (
        membership is not None
        and membership.is_confirmed
        and (has_come or (customer.shares_directory and desk.lets_in(customer, membership)))
    )
    if (answer.json["account"] is not None) is not is_seen:
        raise Violation("another story", f"the vendor was told of {address} for {customer.slug}: {answer.text}")
    others = [one.organization_id for one in desk.customers]
    if not is_seen:
        others += [one.slug for one in desk.customers]
    if any(one in answer.text for one in others) or (answer.json["customer"] or {}).get("membership") is not None:
        raise Violation("another story", f"the vendor was told too much of {address} for {customer.slug}")
    hood.explained |= {TOLD_VENDOR} if is_seen else set()
    for name in hood.organizations:
        await _customer_asks(hood, desk, name, address)


async def _customer_asks(hood: Neighbourhood, desk: Desk, name: str, address: str) -> None:
    customer = desk.present(name)
    path = f"/why?email={address}&product={desk.party.client_id}"
    if customer is not None and customer.is_suspended:
        return
    answer = await hood.by_owner(name, "GET", path)
    if customer is None:
        if answer.status != 404:
            raise Violation("another story", f"{name} was told of a product that it does not use: {answer.text}")
        return
    person = next((one for one in people.members_of(hood, desk, customer).values() if one.email == address), None)
    told = answer.json["customer"]
    if (told is not None) is not (person is not None):
        raise Violation("another story", f"{customer.slug} was told of {address}: {answer.text}")
    others = [one for one in desk.customers if one.of != name]
    if any(text in answer.text for one in others for text in (one.id, one.slug, one.organization_id)):
        raise Violation("another story", f"{customer.slug} was told of another customer: {answer.text}")
    if person is not None:
        hood.explained.add(TOLD_CUSTOMER)
        is_assigned = desk.assigns(customer, person.membership)
        if (told["has_signed_in"], told["is_assigned"]) != (person.has_come, is_assigned):
            raise Violation("another story", f"{customer.slug} was told {told} of {address}")


@step(SELLING, Story.READING)
async def platform_acts(hood: Neighbourhood, address: str, pick: int) -> None:
    """A platform owner acts as a person at the desk, for each customer and for none."""
    desk = await desk_rows.opened(hood)
    user_id = hood.user_id(address)
    if user_id is None:
        return
    for customer in desk.customers[-2:]:
        await _act(hood, desk, user_id, customer, customer.slug if pick else customer.id)
    await _act(hood, desk, user_id, None, ALONE)


async def _act(hood: Neighbourhood, desk: Desk, user_id: str, customer: Customer | None, name: str) -> None:
    """Act as a person for a customer that is named so; one by its slug may be the record that came after."""
    facts = facts_of(hood, desk, user_id)
    if customer is not None and name == customer.slug:
        customer = desk.present(customer.of) or customer
    is_open = desk.may_come_alone(facts) if customer is None else _is_known(desk, facts, customer)
    at_vendor = facts.memberships.get(V)
    is_open = is_open and not (at_vendor is not None and at_vendor.is_suspended)
    body = {"reason": "a question", "org_slug": desk.slug, "service_slug": "desk", "customer": name}
    answer = await hood.send(
        "POST", f"/api/platform/impersonate/{user_id}", body, token=(await staff_of(hood)).owner_token
    )
    is_refused = answer.status == 400 and [one["field"] for one in answer.json["details"]] == ["customer"]
    if answer.status != 200:
        if is_refused and is_open and customer is not None:
            raise Violation("denied", f"the platform could not act as {user_id} for {name}: {answer.text}")
        return
    if not is_open:
        raise Violation("impersonated", f"the platform acts as {user_id} for {name}, which is not open to them")
    claims = claims_of(answer.json["access_token"])
    told = {
        organization_id
        for (organization_id,) in hood.world.rows(
            """
            SELECT organization_id FROM events
            WHERE  type = 'user.impersonated' AND data ->> 'impersonation_session' = %s
            """,
            claims["sid"],
        )
    }
    at = customer.id if customer is not None else ALONE
    claiming.judge(
        hood,
        desk,
        user_id,
        facts,
        customer_id=at,
        rights=desk.rights(facts, at),
        claims=claims,
        source="the token of the platform",
    )
    if customer is None:
        if claims.get("customer_id") or told:
            raise Violation("impersonated", f"the platform acts as {user_id} as an individual, and {claims}")
        return
    hood.explained.add(ACTED)
    rights = standing.Rights(claims["customer_role"], tuple(claims["service_roles"]))
    if claims["customer_id"] != customer.id or rights != desk.rights(facts, customer.id):
        raise Violation("impersonated", f"the platform acts as {user_id} for {name} with {claims}")
    if told != {desk.party.organization_id, hood.organizations[customer.of].party.organization_id}:
        raise Violation("impersonated", f"that the platform acts as {user_id} for {name} was told to {told}")


def _is_known(desk: Desk, facts: desk_rows.Facts, customer: Customer) -> bool:
    membership = facts.memberships.get(customer.of)
    is_known = membership is not None and membership.is_confirmed and customer.id in facts.visited
    return is_known and customer in desk.open_to(facts)


def _latest(desk: Desk, of: str) -> Customer:
    """Return the latest record of an organization, which may have ended."""
    return [one for one in desk.customers if one.of == of][-1]
