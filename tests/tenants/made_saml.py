"""Connections by SAML that vendors make for customers, of the metadata of a provider, and people who come by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.identity_provider import SSO_URL, IdentityProvider, asked, posted
from tests.tenants import market_judging, vendors
from tests.tenants.made_connections import (
    conclude,
    disconnect,
    follow,
    judge_led_elsewhere,
    leads_to,
    strays,
)
from tests.tenants.making import MAKING, other
from tests.tenants.market_judging import nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import step
from tests.world.authorization import address_of
from tests.world.saml_connection import HEADERS
from tests.world.visitor import Visitor

if TYPE_CHECKING:
    from tests.tenants.model import Person
    from tests.tenants.vendors import MadeCustomer, Visit

CAME: Final = "a person came by a made connection by SAML"


@step(MAKING)
async def comes_by_made_saml(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """A vendor connects a provider by SAML for a customer, which asserts a person who has gone there.

    It is in place of a connection before, and the vendor deletes it at the end.
    """
    customer, person = await vendors.customer_of(hood, of), hood.model.owner_of(address)
    assert person is not None
    if not customer.is_open_to("upstream") or (await vendors.vendor_of(hood, of)).is_suspended:
        return
    await disconnect(hood, customer)
    had_account = hood.user_id(address)
    proves = {had_account} if had_account is not None else set[str]()
    provider = IdentityProvider(now=hood.world.clock, name_id=f"saml-{address}", attributes={"email": address})
    async with nothing_outside_changes(hood, f"{address} came by SAML for {customer.id}", proves=proves):
        await _connect(hood, customer, provider)
        await judge_led_elsewhere(hood, customer)
        visit = await _comes(hood, person, customer, provider, address)
    if visit is not None:
        hood.explained.add(CAME)
        await market_judging.judge_confined(hood, visit)
        if pick == 0:
            await strays(hood, visit)
    if whole:
        await vendors.at(hood, customer, "PATCH", f"/connections/{customer.connection_id}", {"enabled": False})
        (await vendors.opened(hood)).end_visits_by_connection(customer, "its connection was switched off")
        await market_judging.recheck(hood)
    await disconnect(hood, customer)


async def _connect(hood: Neighbourhood, customer: MadeCustomer, provider: IdentityProvider) -> None:
    body = {"type": "saml", "name": "Globex", "metadata_xml": provider.metadata(), "enabled": True}
    made = await vendors.at(hood, customer, "POST", "/connections", body)
    assert made.status == 200, made.text
    customer.connection_id = made.json["id"]
    path = f"/connections/{customer.connection_id}"
    read = await vendors.at(hood, customer, "GET", path)
    if read.status != 200 or read.json["type"] != "saml":
        raise Violation("denied", f"{customer.of} cannot read what it has made for {customer.id}: {read.text}")
    strange = await vendors.vendor_of(hood, other(customer.of))
    if (await vendors.by_key(hood, strange.key, "GET", f"/{customer.id}{path}")).status == 200:
        raise Violation("another vendor", f"{strange.name} reads a connection by SAML of {customer.of}")


async def _comes(
    hood: Neighbourhood, person: Person, customer: MadeCustomer, provider: IdentityProvider, address: str
) -> Visit | None:
    """Come to the service for a customer, back from its provider by SAML, and type the mailed code."""
    vendor, claims = await vendors.vendor_of(hood, customer.of), {"sub": provider.name_id, "email": address}
    before = len(await hood.mails(address, "address_code"))
    visitor = Visitor(hood.world.client, address=person.network)
    begun = await visitor.send("GET", address_of(vendor.party, customer=customer.id))
    page = await follow(hood, vendor, visitor, begun, claims)
    if not leads_to(page).startswith(SSO_URL):
        raise Violation("denied", f"{customer.id} does not lead to its provider by SAML: {page.text[:500]}")
    request = asked(leads_to(page))
    answered = await hood.world.client.request(
        "POST",
        f"/auth/upstream/{customer.connection_id}/acs",
        data=posted(provider.answer(request), request.relay_state),
        headers=HEADERS,
    )
    page = await follow(hood, vendor, visitor, answered, claims)
    return await conclude(hood, person, customer, claims, visitor, page, before)
