"""Opening the billing portal at the payment provider."""

from __future__ import annotations

from uuid import UUID

from tests.payment_provider import PaymentProvider
from tests.world.billing import Seller
from tests.world.signing_in import SignedInUser
from tests.world.world import assert_refused

CHECKOUT = "/api/organizations/acme/services/shop/checkout"
PORTAL = "/api/organizations/acme/billing/portal"
NOTHING = UUID("01920000-0000-7000-8000-000000000000")


async def test_the_portal_leads_to_the_provider_s_page(shop: Seller, provider: PaymentProvider) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)

    answer = await owner.post(PORTAL, {"return_url": "https://app.example.com/billing"})

    [portal], [customer] = provider.made("billing_portal.session"), provider.made("customer")
    assert answer.json == {"portal_url": portal["url"]}
    assert portal["form"] == {"customer": customer["id"], "return_url": "https://app.example.com/billing"}
    [(organization_id, actor, _, details)] = shop.world.audit_entries("billing.portal_opened")
    assert (organization_id, actor, details) == (shop.organization_id, owner.id, {"mode": "test"})


async def test_the_portal_needs_the_capability_for_billing(shop: Seller, buyer: SignedInUser) -> None:
    assert_refused(await buyer.post(PORTAL, {"return_url": "https://app.example.com/"}), 403, "FORBIDDEN")


async def test_the_portal_returns_to_an_absolute_address_only(shop: Seller) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)

    assert_refused(await owner.post(PORTAL, {"return_url": "/billing"}), 400, "BAD_REQUEST")


async def test_a_portal_that_fails_is_a_billing_error(shop: Seller, provider: PaymentProvider) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)
    shop.bind_customer(mode="test")
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})

    answer = await owner.post(PORTAL, {"return_url": "https://app.example.com/billing"})

    assert_refused(answer, 500, "BILLING_ERROR")
    assert shop.world.audit_entries("billing.portal_opened") == []
