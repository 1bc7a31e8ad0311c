"""The pages that explain a sign-in for a customer of a service: to the platform, to the vendor and to the customer."""

from __future__ import annotations

import pytest

from tests.application import Answer
from tests.world.builder import EMAIL, Service
from tests.world.callers import Callers
from tests.world.visitor import Visitor, without_tokens
from tests.world.world import World

PLATFORM = "/app/platform/why"
NOT_KNOWN = "is not known to you there"


@pytest.fixture
def desk(world: World) -> Service:
    """A service of a vendor, with a customer and a member of it."""
    vendor, customer = world.team("vendor"), world.team("initrode")
    vendor.add("seller", "owner")
    customer.add("head", "owner")
    world.member(customer.organization_id, world.user(EMAIL))
    service = world.service(vendor.organization_id, "desk")
    world.serve_customers(service)
    world.customer(service, customer.organization_id, paused_by=["vendor"], access="assigned")
    return service


async def _open(visitor: Visitor, slug: str, **query: object) -> Answer:
    fields = "&".join(f"{name}={value}" for name, value in query.items())
    return await visitor.open(f"/app/organizations/{slug}/why?{fields}")


async def test_customers_and_products_are_chosen(world: World, desk: Service, visitor: Visitor) -> None:
    other = Visitor(world.client)
    await visitor.sign_in("seller@example.com")
    await other.sign_in("head@example.com")
    [(customer_id,)] = world.rows("SELECT id FROM service_customers")

    at_vendor = (await _open(visitor, "vendor", service="desk", customer=customer_id)).text
    without = (await _open(visitor, "vendor")).text
    at_customer = (await _open(other, "initrode", product=desk.client_id)).text

    assert '<option value="initrode" selected>Initrode (initrode)</option>' in at_vendor
    assert '<input id="customer" name="customer"' in without
    assert 'id="product"' not in without
    assert f'<option value="{desk.client_id}" selected>Desk (Vendor)</option>' in at_customer


async def test_the_platform_reads_what_the_customer_lacks(
    callers: Callers, platform_owner: Visitor, desk: Service
) -> None:
    page = await platform_owner.open(f"{PLATFORM}?email={EMAIL}&organization=vendor&service=desk&customer=initrode")
    without = await platform_owner.open(f"{PLATFORM}?email={EMAIL}&organization=vendor&customer=initrode")

    assert "The vendor has paused it" in page.text
    assert "The person has never signed in for it." in page.text
    assert "The person is a member of the customer." in page.text
    assert "No assignment of the product fits the person." in page.text
    assert "Ask the organization that uses the service whether it is paused" in page.text
    assert "customer=initrode" in page.text
    assert "Name the service that the customer uses." in without.text


async def test_the_vendor_reads_no_more_than_of_an_unknown_person(
    world: World, desk: Service, visitor: Visitor
) -> None:
    await visitor.sign_in("seller@example.com")

    member = without_tokens((await _open(visitor, "vendor", email=EMAIL, service="desk", customer="initrode")).text)
    nobody = "nobody@example.com"
    unknown = without_tokens((await _open(visitor, "vendor", email=nobody, service="desk", customer="initrode")).text)

    assert NOT_KNOWN in member
    assert member.replace("ada%40", "nobody%40").replace(EMAIL, nobody) == unknown


async def test_the_customer_reads_its_half(world: World, desk: Service, visitor: Visitor) -> None:
    await visitor.sign_in("head@example.com")

    page = await _open(visitor, "initrode", email=EMAIL, product=desk.client_id)
    stranger = await _open(visitor, "initrode", email="seller@example.com", product=desk.client_id)
    unknown = await _open(visitor, "initrode", email=EMAIL, product="no-product")
    both = await _open(visitor, "initrode", email=EMAIL, product=desk.client_id, service="desk")

    assert "The vendor has paused it" in page.text
    assert f"/api/organizations/initrode/products/{desk.client_id}" in page.text
    assert f"product={desk.client_id}" in page.text
    assert NOT_KNOWN in stranger.text
    assert "Your organization has no such product" in unknown.text
    assert "Name either one of your services or a product that you use." in both.text
    assert NOT_KNOWN not in unknown.text + both.text
