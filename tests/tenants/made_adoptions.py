"""Owners of claimed customers take what vendors have made for them: they adopt it, or remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.tenants import market_judging, vendors
from tests.tenants.making import MAKING, end_links, judge_links
from tests.tenants.market_judging import OUTLIVED
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import step
from tests.tenants.vendors import MadeCustomer

if TYPE_CHECKING:
    from tests.tenants.model import Person

ADOPTED: Final = "an owner has adopted what a vendor had made"
KINDS: Final = ("scim_token", "connection", "setup_link")


@step(MAKING)
async def owner_takes(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """The owner of a customer adopts or removes all that is of a kind; others try it before."""
    for customer in (await vendors.vendor_of(hood, of)).present:
        person = hood.model.owner_of(customer.owner) if customer.owner else None
        if person is not None:
            await _take(hood, customer, person, KINDS[pick], adopts=whole)
            await judge_adopted(hood)
            await judge_links(hood)
            await market_judging.recheck(hood)


async def _take(hood: Neighbourhood, customer: MadeCustomer, person: Person, kind: str, *, adopts: bool) -> None:
    body = {"email": customer.owner, "password": person.password}
    signed_in = await hood.send("POST", "/api/auth/login", body, by=person)
    if signed_in.status != 200:
        return
    # The platform has to approve it first.
    hood.world.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = %s", (customer.slug,))
    token, path = signed_in.json["access_token"], f"/api/organizations/{customer.slug}/made-for-us"
    listed = await hood.send("GET", f"{path}?limit=100", token=token, by=person)
    if listed.status != 200:
        raise Violation("denied", f"the owner of {customer.slug} cannot read what was made for it: {listed.text}")
    for thing in [one for one in listed.json["things"] if one["kind"] == kind]:
        await _refuse_strangers(hood, customer, thing["id"])
        if adopts:
            taken = await hood.send("POST", f"{path}/{thing['id']}/adopt", token=token, by=person)
        else:
            taken = await hood.send("DELETE", f"{path}/{thing['id']}", token=token, by=person)
        if taken.status in {200, 204}:
            await _taken(hood, customer, kind, taken.json["token"] if taken.status == 200 else None)


async def _taken(hood: Neighbourhood, customer: MadeCustomer, kind: str, secret: str | None) -> None:
    match kind:
        case "scim_token":
            before, customer.tokens = customer.tokens, []
            for one in before:
                if (await vendors.by_directory(hood, one, "GET", "/Users")).status == 200:
                    raise Violation(OUTLIVED, f"a SCIM token of {customer.id} works that its owner has taken")
            customer.adopted += [secret] if secret is not None else []
            hood.explained.add(ADOPTED)
        case "connection":
            customer.connection_id, customer.asserted_rule, customer.domains = None, (), {}
            for visit in (await vendors.opened(hood)).visits:
                if visit.customer is customer and visit.is_by_connection:
                    visit.ended = visit.ended or "the owner has taken its connection"
        case _:
            end_links(customer, "the owner has removed it")


async def _refuse_strangers(hood: Neighbourhood, customer: MadeCustomer, thing_id: str) -> None:
    """The vendor and the owners of A and B try to take a thing, in the customer's organization and in their own."""
    vendor = await vendors.vendor_of(hood, customer.of)
    strangers = [(vendor.party.slug, vendor.owner_token)]
    strangers += [(one.slug, one.owner_token) for one in hood.organizations.values()]
    for slug, token in strangers:
        for at in (slug, customer.slug):
            path = f"/api/organizations/{at}/made-for-us"
            listed = await hood.send("GET", path, token=token)
            adopted = await hood.send("POST", f"{path}/{thing_id}/adopt", token=token)
            removed = await hood.send("DELETE", f"{path}/{thing_id}", token=token)
            is_told = listed.status == 200 and thing_id in listed.text
            if is_told or adopted.status == 200 or removed.status == 204:
                raise Violation("stranger", f"{slug} takes what was made for {customer.slug}")


async def judge_adopted(hood: Neighbourhood) -> None:
    """Raise `Violation` when what an owner has adopted ends, or is told to the vendor."""
    for customer in (await vendors.opened(hood)).customers:
        for token in customer.adopted:
            if (await vendors.by_directory(hood, token, "GET", "/Users")).status != 200:
                raise Violation("denied", f"what the owner of {customer.slug} has adopted does not work")
