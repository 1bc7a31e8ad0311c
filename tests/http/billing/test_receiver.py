"""The receiver of the payment provider's events: its answers, and what it stores."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from core.billing import signatures
from core.secrets import Secret
from entrypoints.installation import Installation
from tests.application import BILLING_WEBHOOK_SECRET, Client, serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.billing import CUSTOMER, RECEIVER, SUBSCRIPTION, Seller
from tests.world.world import assert_refused

BODY = b'{"id": "evt_1", "type": "invoice.paid", "created": 1770091506, "data": {"object": {}}}'
UNSIGNED_HEADERS = {"Content-Type": "application/json"}


def header(seller: Seller, body: bytes = BODY, *, age: timedelta = timedelta(), secret: str | None = None) -> str:
    key = Secret(secret) if secret is not None else BILLING_WEBHOOK_SECRET
    return signatures.header_of(body, key, at=seller.world.clock() - age)


async def test_a_signed_event_is_answered_with_success(seller: Seller) -> None:
    answer = await seller.send_raw(BODY)

    assert (answer.status, answer.json) == (200, {"status": "success"})


async def test_an_event_under_the_provider_s_own_header_is_accepted(client: Client, seller: Seller) -> None:
    headers = UNSIGNED_HEADERS | {"Stripe-Signature": header(seller)}

    answer = await client.post(RECEIVER, data=BODY, headers=headers)

    assert answer.status == 200


async def test_an_event_without_a_signature_is_refused_and_not_stored(client: Client, seller: Seller) -> None:
    answer = await client.post(RECEIVER, data=BODY, headers=UNSIGNED_HEADERS)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert seller.stored_events() == []


async def test_a_malformed_signature_header_is_refused_and_nothing_stored(
    seller: Seller, subtests: pytest.Subtests
) -> None:
    for malformed in (
        "v1=abc",
        "t=1770091506",
        "t=soon,v1=abc",
        "t=,v1=abc",
        "t=-1,v1=abc",
        "nonsense",
        ",",
        "t=1770091506,v0=abc",
        "t=1" + 5000 * ",v1=a",
    ):
        with subtests.test(malformed=malformed):
            answer = await seller.send_raw(BODY, header=malformed)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert seller.stored_events() == []


async def test_a_signature_by_another_secret_is_refused_and_nothing_stored(seller: Seller) -> None:
    answer = await seller.send_raw(BODY, header=header(seller, secret="whsec_another"))

    assert_refused(answer, 401, "UNAUTHORIZED")
    assert seller.stored_events() == []


async def test_a_signature_of_another_body_is_refused(seller: Seller) -> None:
    answer = await seller.send_raw(BODY.replace(b"invoice.paid", b"invoice.void"), header=header(seller))

    assert_refused(answer, 401, "UNAUTHORIZED")
    assert seller.stored_events() == []


async def test_a_signature_that_is_none_is_refused(seller: Seller, subtests: pytest.Subtests) -> None:
    for signature in ("v1=", "v1=zz", "v1=\u00e9", "v1=" + "0" * 64):
        with subtests.test(signature=signature):
            answer = await seller.send_raw(BODY, header=f"t={seller.at},{signature}")

            assert_refused(answer, 401, "UNAUTHORIZED")


@pytest.mark.parametrize("age", [timedelta(minutes=5, seconds=2), -timedelta(minutes=5, seconds=2)])
async def test_a_signature_more_than_five_minutes_from_now_is_refused(seller: Seller, age: timedelta) -> None:
    answer = await seller.send_raw(BODY, header=header(seller, age=age))

    assert_refused(answer, 401, "UNAUTHORIZED")
    assert seller.stored_events() == []


@pytest.mark.parametrize("age", [timedelta(minutes=4, seconds=58), -timedelta(minutes=4, seconds=58)])
async def test_a_signature_within_five_minutes_is_accepted(seller: Seller, age: timedelta) -> None:
    assert (await seller.send_raw(BODY, header=header(seller, age=age))).status == 200


async def test_one_of_several_signatures_suffices(seller: Seller) -> None:
    fitting = header(seller).partition(",")[2]

    answer = await seller.send_raw(BODY, header=f"t={seller.at},v1={'0' * 64},v0=x,{fitting}")

    assert answer.status == 200


async def test_a_signed_body_that_is_no_event_is_refused_and_not_stored(
    seller: Seller, subtests: pytest.Subtests
) -> None:
    for body in (
        b"",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b'"evt_1"',
        b"{}",
        b'{"id": 1, "type": "invoice.paid", "created": 1, "data": {}}',
        b'{"id": "evt 1", "type": "invoice.paid", "created": 1, "data": {}}',
        b'{"id": "evt_1", "created": 1, "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": "1", "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": true, "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": 1e300, "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": -1, "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": 999999999999999999, "data": {}}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": 1}',
        b'{"id": "evt_1", "type": "invoice.paid", "created": 1, "data": []}',
        b"[" * 100_000,
    ):
        with subtests.test(body=body):
            answer = await seller.send_raw(body)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert seller.stored_events() == []


async def test_an_undecodable_body_with_a_wrong_signature_is_refused_for_the_signature(seller: Seller) -> None:
    answer = await seller.send_raw(b"\xff", header=header(seller))

    assert_refused(answer, 401, "UNAUTHORIZED")


async def test_a_body_of_another_content_type_is_refused(client: Client, seller: Seller) -> None:
    answer = await client.post(
        RECEIVER, data=BODY, headers={"Content-Type": "text/plain", "billing-signature": header(seller)}
    )

    assert_refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_body_of_nearly_a_megabyte_is_accepted(seller: Seller) -> None:
    event = seller.event("charge.succeeded", {"description": "x" * 1_000_000})

    assert (await seller.send(event)).status == 200


async def test_a_body_over_a_megabyte_is_refused(seller: Seller) -> None:
    answer = await seller.send(seller.event("charge.succeeded", {"description": "x" * 1_100_000}))

    assert_refused(answer, 413, "PAYLOAD_TOO_LARGE")


async def test_an_event_of_an_unknown_type_is_stored_and_answered_with_success(seller: Seller) -> None:
    answer = await seller.send(seller.event("charge.succeeded", {"id": "ch_1"}))

    assert answer.status == 200
    assert seller.stored_events() == [("evt_1", "none")]


@pytest.mark.parametrize(
    ("event_type", "subject"),
    [
        ("customer.subscription.updated", {"id": SUBSCRIPTION, "customer": CUSTOMER, "status": "hibernating"}),
        ("customer.subscription.updated", {"status": "active"}),
        ("customer.subscription.deleted", {"id": "sub\u0000", "customer": {"id": 5}}),
        ("invoice.paid", {"id": "in_1", "subscription": None, "parent": None}),
        ("invoice.paid", []),
        ("checkout.session.completed", {"id": "cs_1", "mode": "payment", "subscription": None}),
        ("customer.updated", {"name": "No id"}),
        ("payment_method.attached", {"id": "pm_1"}),
        ("payment_method.detached", {"customer": CUSTOMER}),
    ],
)
async def test_an_event_about_an_object_that_cannot_be_read_is_stored_and_changes_nothing(
    seller: Seller, event_type: str, subject: dict[str, object]
) -> None:
    await seller.sell()

    answer = await seller.send(seller.event(event_type, subject))

    assert answer.status == 200
    assert seller.stored_events()[-1] == ("evt_2", "none")
    assert seller.state() == ("pro", "active")


async def test_an_event_is_applied_once_however_often_it_comes(seller: Seller) -> None:
    seller.bind_customer()
    created = seller.event("customer.subscription.created", seller.subscription())
    await seller.send(created)
    await seller.report("customer.subscription.updated", seller.subscription("past_due"))

    again = await seller.send(created)

    assert again.status == 200
    assert seller.state() == ("pro", "past_due")
    assert len(seller.world.audit_entries("subscription.created")) == 1


async def test_the_same_event_at_once_is_applied_once(seller: Seller) -> None:
    seller.bind_customer()
    created = seller.event("customer.subscription.created", seller.subscription())

    answers = await at_once(*[lambda: seller.send(created)] * 5)

    assert statuses_of(answers) == [200] * 5
    assert len(seller.subscriptions()) == 1
    assert len(seller.world.audit_entries("subscription.created")) == 1


async def test_different_events_of_a_subscription_at_once_are_all_applied(seller: Seller) -> None:
    seller.bind_customer()
    events = [
        seller.event("customer.subscription.created", seller.subscription("incomplete"), created=seller.at),
        seller.event("invoice.payment_failed", seller.invoice(), created=seller.at + 1),
        seller.event("invoice.paid", seller.invoice(), created=seller.at + 2),
        seller.event("customer.subscription.updated", seller.subscription(price="price_team"), created=seller.at + 3),
    ]

    await at_once(*[lambda event=event: seller.send(event) for event in events])

    assert seller.state() == ("team", "active")


async def test_a_crash_before_the_commit_leaves_the_event_to_the_sender(seller: Seller) -> None:
    seller.bind_customer()
    created = seller.event("customer.subscription.created", seller.subscription())
    seller.world.connection.execute("ALTER TABLE subscriptions RENAME TO hidden")
    failed = await seller.send(created)
    seller.world.connection.execute("ALTER TABLE hidden RENAME TO subscriptions")

    assert_refused(failed, 500, "DATABASE_ERROR")
    assert seller.stored_events() == []
    assert seller.world.rows("SELECT FROM billing_subscriptions") == []
    assert (await seller.send(created)).status == 200
    assert seller.state() == ("pro", "active")


async def test_the_receiver_takes_a_hundred_requests_at_once_and_then_a_thousand_a_minute(
    installation: Installation, seller: Seller
) -> None:
    client = serving_with_rate_limits(installation)
    headers = UNSIGNED_HEADERS | {"billing-signature": "t=1,v1=a"}

    answers = [await client.post(RECEIVER, data=b"", headers=headers) for _ in range(101)]

    assert [answer.status for answer in answers[:100]] == [401] * 100
    assert_refused(answers[100], 429, "RATE_LIMIT_EXCEEDED")


async def test_stored_facts_contain_no_personal_data_of_the_customer(seller: Seller) -> None:
    await seller.send(
        seller.event("customer.updated", {"id": CUSTOMER, "name": "Grace Hopper", "email": "grace@example.com"})
    )
    await seller.send(
        seller.event(
            "invoice.payment_action_required", seller.invoice(hosted_invoice_url="https://pay.example.com/secret")
        )
    )

    stored = json.dumps(seller.world.rows("SELECT facts::text FROM billing_events"))
    assert not any(shows(stored, word) for word in ("Grace", "grace", "secret"))
