"""What was bought ends at the payment provider too when its user, service or organization is gone."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from actors import billing_reconciler
from actors.billing_reconciler import BillingReconciler
from adapters.gateways.stripe import StripeGateway
from core.billing import reconciliation
from core.billing.provider import BillingRateLimited
from tests.concurrency import at_once, statuses_of
from tests.payment_provider import PaymentProvider
from tests.world.backend import KEY, Backend, insert_key
from tests.world.billing import CUSTOMER, SUBSCRIPTION, Seller

SERVICE = "/api/organizations/acme/services/shop"


@pytest.fixture
async def sold(shop: Seller, provider: PaymentProvider) -> Seller:
    """The seller with an active subscription, as the provider has it."""
    shop.bind_customer(mode="test")
    await shop.report("customer.subscription.created", shop.subscription())
    provider.objects[SUBSCRIPTION] = shop.subscription()
    return shop


@pytest.fixture
def backend(shop: Seller) -> Backend:
    """The backend of the service, of which the buyer is a user."""
    shop.world.link(shop.organization_id, shop.service.id, shop.buyer_id)
    insert_key(shop.world, shop.organization_id, shop.service.id, KEY)
    return Backend(shop.world, shop.organization_id, shop.service.id)


@pytest.fixture
def reconciler(
    shop: Seller, gateway: StripeGateway, mailboxes: Any, monkeypatch: pytest.MonkeyPatch
) -> BillingReconciler:
    """The reconciler, which makes no pauses."""
    monkeypatch.setattr(billing_reconciler, "PAUSE_SECONDS", 0.0)
    installation = shop.world.installation
    return BillingReconciler(
        database=installation.database, mailboxes=mailboxes, gateway=gateway, metrics=installation.metrics
    )


def ended(provider: PaymentProvider) -> list[str]:
    """List the subscriptions that the provider was asked to end."""
    return [request.path.rpartition("/")[2] for request in provider.requests if request.method == "DELETE"]


def own_by_organization(shop: Seller) -> None:
    """Let the buyer's account be one that the organization created and that belongs nowhere else."""
    shop.world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s, email_verified_at = NULL WHERE id = %s",
        (shop.organization_id, shop.buyer_id),
    )


async def delete_restorably(shop: Seller) -> None:
    """Delete the organization as its owner, who may restore it, because it has another member."""
    owner = await shop.world.signed_in_member(shop.organization_id)
    shop.world.member(shop.organization_id, shop.world.user("colleague@example.com"))
    answer = await owner.delete("/api/organizations/acme")
    assert answer.status == 204, answer.text
    assert shop.world.value("SELECT status FROM organizations") == "deleting"


async def remove(backend: Backend, user_id: UUID) -> None:
    """Remove a user of the service by its key."""
    answer = await backend.request("DELETE", f"/users/{user_id}")
    assert answer.status == 204, answer.text


async def test_a_user_who_is_deleted_by_a_key_is_not_charged_any_more(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    own_by_organization(sold)

    await remove(backend, sold.buyer_id)
    await reconciler.reconcile()
    await reconciler.reconcile()

    assert sold.world.rows("SELECT FROM users WHERE id = %s", sold.buyer_id) == []
    assert ended(provider) == [SUBSCRIPTION]
    [(_, _, _, details)] = sold.world.audit_entries("subscription.canceled")
    assert details["deleted"] is True


async def test_a_user_who_is_removed_from_a_service_by_its_key_is_not_charged_any_more(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await remove(backend, sold.buyer_id)
    late = await sold.report("invoice.paid", sold.invoice())
    await reconciler.reconcile()
    await sold.report("customer.subscription.updated", sold.subscription())
    await sold.report("customer.subscription.deleted", sold.subscription("canceled"))

    assert late.status == 200
    assert ended(provider) == [SUBSCRIPTION]
    assert sold.subscriptions() == []
    assert sold.outcome() == "parked"
    # Nothing contradicts what it was bought for, so none of its events is refused.
    assert "refused" not in dict(sold.stored_events()).values()


async def test_an_organization_that_is_deleted_is_not_charged_any_more(
    sold: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    owner = await sold.world.signed_in_platform_owner()

    answer = await owner.delete(f"/api/platform/organizations/{sold.organization_id}")
    await reconciler.reconcile()

    assert answer.status == 204, answer.text
    assert ended(provider) == [SUBSCRIPTION]


async def test_an_organization_that_can_be_restored_is_not_charged_any_more(
    sold: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await delete_restorably(sold)
    await reconciler.reconcile()
    await sold.report("customer.subscription.deleted", sold.subscription("canceled"))

    assert ended(provider) == [SUBSCRIPTION]
    assert sold.state() == ("pro", "cancelled")


async def test_a_page_that_is_paid_while_the_organization_can_be_restored_is_not_charged_again(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    bought = shop.subscription()
    provider.objects[SUBSCRIPTION] = bought
    await delete_restorably(shop)

    await shop.report("customer.subscription.created", bought)
    await reconciler.reconcile()

    assert ended(provider) == [SUBSCRIPTION]
    assert shop.subscriptions() == []


async def test_a_person_who_is_anonymized_is_not_charged_any_more(
    sold: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    owner = await sold.world.signed_in_platform_owner()

    answer = await owner.delete(f"/api/privacy/forget/{sold.buyer_id}")
    await reconciler.reconcile()
    await sold.report("customer.subscription.deleted", sold.subscription("canceled"))

    assert answer.status == 200, answer.text
    assert ended(provider) == [SUBSCRIPTION]
    assert sold.state() == ("pro", "cancelled")


async def test_a_second_subscription_without_effect_ends_with_its_service(
    sold: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    second = sold.subscription(id="sub_2")
    await sold.report("customer.subscription.created", second)
    provider.objects["sub_2"] = second
    # The first one was ended here, by hand; the second is still without effect.
    sold.world.connection.execute("UPDATE subscriptions SET status = 'expired'")
    owner = await sold.world.signed_in_member(sold.organization_id)

    answer = await owner.delete(SERVICE)
    await reconciler.reconcile()

    assert answer.status == 204, answer.text
    assert sorted(ended(provider)) == [SUBSCRIPTION, "sub_2"]


async def test_a_page_that_is_paid_after_its_service_was_deleted_is_not_charged_again(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    bought = shop.subscription()
    provider.objects[SUBSCRIPTION] = bought
    owner = await shop.world.signed_in_member(shop.organization_id)
    await owner.delete(SERVICE)

    await shop.report("customer.subscription.created", bought)
    await reconciler.reconcile()

    assert ended(provider) == [SUBSCRIPTION]
    assert shop.subscriptions() == []


@pytest.mark.parametrize("is_anonymized", [True, False])
async def test_a_page_that_is_paid_after_its_buyer_was_deleted_is_not_charged_again(
    shop: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider, *, is_anonymized: bool
) -> None:
    shop.bind_customer(mode="test")
    bought = shop.subscription()
    provider.objects[SUBSCRIPTION] = bought
    if is_anonymized:
        owner = await shop.world.signed_in_platform_owner()
        await owner.delete(f"/api/privacy/forget/{shop.buyer_id}")
    else:
        own_by_organization(shop)
        await remove(backend, shop.buyer_id)

    await shop.report("customer.subscription.created", bought)
    await reconciler.reconcile()

    assert ended(provider) == [SUBSCRIPTION]
    assert shop.subscriptions() == []


@pytest.mark.parametrize("is_anonymized", [True, False])
async def test_a_purchase_and_the_end_of_its_buyer_at_once_leave_nothing_that_is_charged(
    shop: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider, *, is_anonymized: bool
) -> None:
    shop.bind_customer(mode="test")
    bought = shop.subscription()
    provider.objects[SUBSCRIPTION] = bought
    owner = await shop.world.signed_in_platform_owner()
    own_by_organization(shop)
    end = (
        partial(owner.delete, f"/api/privacy/forget/{shop.buyer_id}")
        if is_anonymized
        else partial(backend.request, "DELETE", f"/users/{shop.buyer_id}")
    )

    answers = await at_once(partial(shop.report, "customer.subscription.created", bought), end)
    await reconciler.reconcile()

    assert statuses_of(answers) == [200, 200 if is_anonymized else 204]
    assert ended(provider) == [SUBSCRIPTION]


async def test_a_subscription_for_what_is_gone_of_another_customer_is_left_alone(
    shop: Seller, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    globex = shop.world.organization("globex")
    shop.bind_customer(CUSTOMER, globex, mode="test")
    owner = await shop.world.signed_in_member(shop.organization_id)
    await owner.delete(SERVICE)

    await shop.report("customer.subscription.created", shop.subscription())
    await reconciler.reconcile()

    assert ended(provider) == []


async def test_a_subscription_that_has_ended_is_not_ended_again(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await sold.report("customer.subscription.deleted", sold.subscription("canceled"))

    await remove(backend, sold.buyer_id)
    await reconciler.reconcile()

    assert ended(provider) == []


async def test_a_provider_that_fails_is_asked_again_later(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await remove(backend, sold.buyer_id)
    provider.misbehave(500, {"error": {"type": "api_error"}}, times=3)

    await reconciler.reconcile()
    before = len(ended(provider))
    await reconciler.reconcile()
    at_once = len(ended(provider))
    sold.world.clock.advance(reconciliation.CANCELLATION_RETRY)
    await reconciler.reconcile()
    sold.world.clock.advance(reconciliation.CANCELLATION_RETRY)
    await reconciler.reconcile()

    assert (before, at_once, len(ended(provider))) == (3, 3, 4)
    assert provider.objects[SUBSCRIPTION]["status"] == "canceled"


async def test_a_cancellation_whose_answer_was_lost_is_complete(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await remove(backend, sold.buyer_id)
    provider.misbehave(0, is_executed=True)

    await reconciler.reconcile()
    sold.world.clock.advance(reconciliation.CANCELLATION_RETRY)
    await reconciler.reconcile()

    # The second time the provider has answered that there is no such subscription.
    assert len(ended(provider)) == 2


async def test_a_provider_that_asks_to_wait_is_not_asked_on(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    await remove(backend, sold.buyer_id)
    provider.misbehave(429, {"error": {"type": "rate_limit"}}, times=3, headers={"Retry-After": "17"})

    with pytest.raises(BillingRateLimited):
        await reconciler.reconcile()
    sold.world.clock.advance(reconciliation.CANCELLATION_RETRY)
    await reconciler.reconcile()

    assert provider.objects[SUBSCRIPTION]["status"] == "canceled"


async def test_what_another_provider_billed_is_left_to_it(
    sold: Seller, backend: Backend, reconciler: BillingReconciler, provider: PaymentProvider
) -> None:
    sold.world.connection.execute("UPDATE billing_subscriptions SET mode = 'live'")

    await remove(backend, sold.buyer_id)
    await reconciler.reconcile()

    assert ended(provider) == []
    assert sold.world.rows("SELECT id, mode FROM billing_cancellations") == [(SUBSCRIPTION, "live")]
