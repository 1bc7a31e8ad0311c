"""Reading the payment provider's events and objects, in their older and current shapes, and whatever else comes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.billing import provider, provider_events
from core.billing.provider import NOTHING, BillingFailed, BillingRateLimited, Facts, SubscriptionBinding
from core.billing.provider_events import EFFECTS, BillingEvent, CustomerProfile, Effect, EventInvalid
from core.services.subscriptions import SubscriptionStatus

NUMBERS = [UUID(int=number) for number in range(1, 5)]
BINDING = SubscriptionBinding(organization_id=NUMBERS[0], service_id=NUMBERS[1], plan_id=NUMBERS[2], user_id=NUMBERS[3])
END = datetime.fromtimestamp(2_000_000_000, UTC)
FIELDS = [
    *("id", "object", "customer", "subscription", "items", "data", "price", "metadata", "status", "lines", "period"),
    *("end", "parent", "subscription_details", "previous_attributes", "invoice_settings"),
]
# What anything in an event may be: the provider may send whatever JSON can hold.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def event(event_type: str, subject: Any, **changes: Any) -> dict[str, Any]:
    """Return an event about an object."""
    return {"id": "evt_1", "type": event_type, "created": 1_770_000_000, "data": {"object": subject}} | changes


def parsed(event_type: str, subject: Any, **changes: Any) -> BillingEvent:
    """Return an event as it is read."""
    return provider_events.parse(event(event_type, subject, **changes))


def test_the_thirteen_documented_types_are_handled() -> None:
    assert len(EFFECTS) == 13
    assert Effect.NONE not in EFFECTS.values()


@given(st.sampled_from([*EFFECTS, "charge.succeeded"]), JSON, JSON)
def test_whatever_the_object_is_the_event_is_read(event_type: str, subject: Any, before: Any) -> None:
    read = parsed(event_type, subject, data={"object": subject, "previous_attributes": before})

    assert read.effect in {EFFECTS.get(event_type), Effect.NONE}
    assert all(reference is None or len(reference) <= 255 for reference in (read.subscription_id, read.customer_id))


def test_an_event_whose_object_names_nothing_has_no_effect() -> None:
    for event_type in EFFECTS:
        read = parsed(event_type, {}, data={"object": {}})

        assert (read.subscription_id, read.customer_id) == (None, None), event_type


def test_an_event_of_no_readable_object_has_no_effect() -> None:
    for subject in (None, 7, "sub_1", ["sub_1"]):
        assert parsed("customer.subscription.updated", subject).effect is Effect.NONE, subject


def test_an_event_without_id_type_time_or_data_is_refused() -> None:
    sent: list[Any] = [None, 7, "{}", []]
    sent += [
        {name: value for name, value in event("customer.created", {}).items() if name != left_out}
        for left_out in ("id", "type", "created", "data")
    ]
    sent += [event("customer.created", {}, id=7), event("customer.created", {}, data=[])]
    for one in sent:
        with pytest.raises(EventInvalid):
            provider_events.parse(one)


@given(JSON)
def test_whatever_is_sent_is_an_event_or_refused(sent: Any) -> None:
    with pytest.raises(EventInvalid):
        provider_events.parse(sent)


def test_a_subscription_in_the_current_shape_is_read() -> None:
    items = [
        {"price": {"id": "price_1"}, "current_period_end": 1_900_000_000},
        {"price": {"id": "price_2"}, "current_period_end": 2_000_000_000},
    ]

    read = parsed(
        "customer.subscription.updated",
        {
            "id": "sub_1",
            "customer": "cus_1",
            "status": "trialing",
            "items": {"data": items},
            "metadata": BINDING.metadata,
        },
    )

    assert (read.subscription_id, read.customer_id, read.effect) == ("sub_1", "cus_1", Effect.SNAPSHOT)
    assert read.facts == Facts(status=SubscriptionStatus.ACTIVE, price_id="price_1", period_end=END, binding=BINDING)


def test_a_subscription_in_the_older_shape_is_read() -> None:
    read = parsed(
        "customer.subscription.deleted",
        {
            "id": "sub_1",
            "customer": {"id": "cus_1"},
            "status": "canceled",
            "plan": {"id": "plan_1"},
            "current_period_end": 2_000_000_000,
        },
    )

    assert read.customer_id == "cus_1"
    assert read.facts == Facts(status=SubscriptionStatus.CANCELLED, price_id="plan_1", period_end=END)


@pytest.mark.parametrize(
    "place",
    [
        {"subscription": "sub_1", "subscription_details": {"metadata": BINDING.metadata}},
        {"subscription": {"id": "sub_1"}, "subscription_details": {"metadata": BINDING.metadata}},
        {"parent": {"subscription_details": {"subscription": "sub_1", "metadata": BINDING.metadata}}},
    ],
)
def test_an_invoice_is_read_in_every_shape(place: dict[str, Any]) -> None:
    lines = {"data": [{"period": {"end": 2_000_000_000}}, {"period": {"end": 5}}, {"period": None}]}

    read = parsed("invoice.paid", {"customer": "cus_1", "lines": lines, "hosted_invoice_url": "https://pay/i"} | place)

    assert (read.subscription_id, read.invoice_url) == ("sub_1", "https://pay/i")
    assert read.facts == Facts(period_end=END, binding=BINDING)


@pytest.mark.parametrize(
    ("payment_status", "status"),
    [
        ("paid", SubscriptionStatus.ACTIVE),
        ("no_payment_required", SubscriptionStatus.ACTIVE),
        ("unpaid", SubscriptionStatus.PAST_DUE),
        (None, SubscriptionStatus.PAST_DUE),
    ],
)
def test_a_checkout_is_read(payment_status: str | None, status: SubscriptionStatus) -> None:
    session = {"subscription": "sub_1", "payment_status": payment_status, "metadata": BINDING.metadata}

    assert parsed("checkout.session.completed", session).facts == Facts(status=status, binding=BINDING)


def test_a_customer_is_read() -> None:
    read = parsed(
        "customer.created",
        {
            "id": "cus_1",
            "name": "Acme",
            "email": "\u0000",
            "metadata": {"org_id": str(NUMBERS[0])},
            "invoice_settings": {"default_payment_method": {"id": "pm_1"}},
        },
    )

    assert read.profile == CustomerProfile(organization_id=NUMBERS[0], name="Acme", email=None)
    assert (read.customer_id, read.payment_method) == ("cus_1", "pm_1")


def test_a_long_name_is_shortened_and_an_empty_one_is_none() -> None:
    assert provider.text("a" * 1000) == "a" * provider.TEXT_CHARACTERS_MAX
    assert provider.text("") is None


def test_a_detached_payment_method_belonged_to_the_customer_before() -> None:
    data = {"object": {"id": "pm_1", "customer": None}, "previous_attributes": {"customer": "cus_1"}}

    read = parsed("payment_method.detached", None, data=data)

    assert (read.customer_id, read.payment_method, read.effect) == ("cus_1", "pm_1", Effect.METHOD_DETACHED)


def test_a_payment_method_of_no_known_customer_has_no_effect() -> None:
    assert parsed("payment_method.attached", {"id": "pm_1"}).effect is Effect.NONE


@pytest.mark.parametrize("missing", ["user_id", "service_id", "plan_id", "org_id"])
def test_incomplete_metadata_tell_nothing(missing: str) -> None:
    metadata = {name: value for name, value in BINDING.metadata.items() if name != missing}

    assert provider.binding_of({"metadata": metadata}) is None


def test_an_object_that_says_nothing_has_no_facts() -> None:
    assert provider.subscription_facts({}) == NOTHING
    assert provider.invoice_facts({}) == NOTHING


def test_metadata_go_to_the_provider_as_they_come_back() -> None:
    assert provider.binding_of(json.loads(json.dumps({"metadata": BINDING.metadata}))) == BINDING


def test_a_failure_says_whether_the_provider_has_refused() -> None:
    assert BillingFailed(is_refused=True).is_refused
    limited = BillingRateLimited(retry_after_seconds=7)
    assert (limited.is_refused, limited.retry_after_seconds) == (False, 7)
