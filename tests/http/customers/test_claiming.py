"""Naming the owner of a customer that a vendor has made: only the mail contains the link."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.customers.claiming import LIFETIME
from core.mail.mail import MailTemplate
from tests.application import Answer, serving, with_mail_limits
from tests.concurrency import at_once
from tests.world.backend import KEY, Backend, insert_key
from tests.world.claims import ANN, CLAIMS, Claims
from tests.world.trade import Trade
from tests.world.world import assert_refused

OTHER = "eve@elsewhere.example"


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """A vendor that makes customers."""
    return Claims(trade)


async def name(claims: Claims, customer_id: str, email: str = ANN, *, by: str = "owner") -> Answer:
    return await claims.trade.at_vendor("POST", f"/{customer_id}/owner", by=by, body={"email": email})


async def opens(claims: Claims, token: str) -> int:
    return (await claims.trade.world.client.get(f"{CLAIMS}?token={token}")).status


async def test_a_link_is_mailed_and_shown_to_nobody_else(claims: Claims) -> None:
    customer_id = await claims.make()

    answer = await name(claims, customer_id, f" {ANN.upper()} ")

    assert answer.status == 200, answer.text
    assert answer.json == await claims.record(customer_id)
    mail = await claims.trade.world.mail()
    assert (mail.to, mail.template) == (ANN, MailTemplate.CUSTOMER_CLAIM)
    assert {key: mail.values[key] for key in ("vendor", "service", "organization")} == {
        "vendor": "Acme",
        "service": "Shop",
        "organization": "Globex",
    }
    token = mail.values["token"]
    assert token not in answer.text
    assert token not in str(claims.trade.world.rows("SELECT details FROM audit_entries"))
    assert await opens(claims, token) == 200


async def test_a_made_customer_names_its_owner_at_once(claims: Claims) -> None:
    customer_id = await claims.make(owner_email=ANN)

    assert await opens(claims, await claims.mailed_token()) == 200
    [[_, _, details]] = claims.trade.log_of(claims.trade.vendor, "customer.owner_named")
    assert (details["customer_id"], details["owner_email"]) == (customer_id, ANN)


async def test_only_a_made_customer_gets_an_owner(claims: Claims) -> None:
    offer = await claims.trade.at_vendor("POST", body={"organization": "nowhere", "owner_email": ANN})
    wrong = await claims.trade.at_vendor("POST", body={"name": "x", "owner_email": "nobody"})
    accepted = await claims.trade.begin()
    open_offer = await claims.trade.offer("somewhere")

    assert_refused(offer, 400, "BAD_REQUEST")
    assert wrong.invalid_fields == ["name", "owner_email"]
    for customer_id in (accepted, open_offer):
        assert_refused(await name(claims, customer_id), 409, "CONFLICT")
    assert_refused(await name(claims, "0197b2f0-0000-7000-8000-000000000000"), 404, "NOT_FOUND")
    assert_refused(await name(claims, await claims.make(), "nobody"), 400, "BAD_REQUEST")
    assert await claims.trade.world.mails() == []


async def test_a_claimed_customer_gets_no_other_owner(claims: Claims) -> None:
    customer_id = await claims.claimed()

    assert_refused(await name(claims, customer_id, OTHER), 409, "CONFLICT")


async def test_it_takes_the_right_to_manage_the_service(claims: Claims) -> None:
    customer_id = await claims.make()

    assert_refused(await name(claims, customer_id, by="member"), 403, "FORBIDDEN")


async def test_a_new_link_replaces_the_open_one(claims: Claims) -> None:
    customer_id = await claims.make()
    first = await claims.token(customer_id)
    second = await claims.token(customer_id, OTHER)

    assert await opens(claims, first) == 400
    assert await opens(claims, second) == 200


async def test_a_link_is_valid_for_seven_days(claims: Claims) -> None:
    token = await claims.token(await claims.make())
    claims.trade.pass_time(LIFETIME - timedelta(seconds=1))
    assert await opens(claims, token) == 200

    claims.trade.pass_time(timedelta(seconds=1))

    assert await opens(claims, token) == 400


async def test_where_a_mail_domain_is_proved_for_it_the_owner_has_an_address_there(claims: Claims) -> None:
    customer_id = await claims.make()
    claims.trade.world.mail_domain(await claims.internal(customer_id), "globex.example")

    assert_refused(await name(claims, customer_id, OTHER), 400, "BAD_REQUEST")
    assert (await name(claims, customer_id)).status == 200


async def test_the_vendor_sends_five_a_day_to_one_address(claims: Claims) -> None:
    trade = claims.trade
    token, path = await trade.vendor.token("owner"), f"{trade.vendor.path}/services/shop/customers"
    made = [await claims.make(), await claims.make("Initech")]
    client = serving(with_mail_limits(trade.world.installation))

    answers = [
        await client.request("POST", f"{path}/{made[number % 2]}/owner", token=token, body={"email": ANN})
        for number in range(6)
    ]

    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert_refused(answers[-1], 429, "RATE_LIMIT_EXCEEDED")


async def test_a_backend_names_an_owner_by_the_permission_for_setting_up(claims: Claims) -> None:
    trade = claims.trade
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id)
    lesser = f"sk_abc124_{'l' * 43}"
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, KEY)
    insert_key(
        trade.world,
        trade.vendor.organization_id,
        trade.service.id,
        lesser,
        permissions=["read:customers", "write:customers"],
    )
    customer_id = await claims.make()
    path = f"/customers/{customer_id}/owner"

    answer = await backend.request("POST", path, body={"email": ANN})

    assert answer.status == 200, answer.text
    assert await opens(claims, await claims.mailed_token()) == 200
    refused = await backend.with_key(lesser).request("POST", path, body={"email": ANN})
    assert_refused(refused, 403, "FORBIDDEN")
    made = await backend.with_key(lesser).request("POST", "/customers", body={"name": "X1", "owner_email": ANN})
    assert made.status == 200, made.text


async def test_of_two_links_at_once_one_is_open(claims: Claims) -> None:
    customer_id = await claims.make()
    await claims.trade.vendor.token("owner")

    await at_once(*[lambda: name(claims, customer_id)] * 2)

    tokens = [one.values["token"] for one in await claims.trade.world.mails()]
    assert sorted([await opens(claims, token) for token in tokens]) == [200, 400]


async def test_the_customers_own_log_says_from_the_first_moment_whom_the_vendor_asked(claims: Claims) -> None:
    customer_id = await claims.make()

    await claims.token(customer_id)

    [[_, actor, of_vendor]] = claims.trade.log_of(claims.trade.vendor, "customer.owner_named")
    assert (actor, of_vendor["owner_email"]) == (claims.trade.vendor.ids["owner"], ANN)
    [[actor, ip_address, own]] = claims.trade.world.rows(
        "SELECT actor_user_id, ip_address, details FROM audit_entries WHERE organization_id = %s AND action = %s",
        claims.organization_of(customer_id),
        "customer.owner_named",
    )
    assert (actor, ip_address) == (None, None)
    assert (own["by"], own["owner_email"], own["vendor_slug"]) == ("vendor", ANN, "acme")
    events = claims.trade.world.rows(
        "SELECT organization_id FROM events WHERE type = 'customer.owner_named' AND organization_id = %s",
        claims.organization_of(customer_id),
    )
    assert events == []


async def test_an_owner_who_is_named_at_once_is_in_both_logs_too(claims: Claims) -> None:
    customer_id = await claims.make(owner_email=ANN)

    own = claims.trade.world.rows(
        "SELECT details ->> 'owner_email' FROM audit_entries WHERE organization_id = %s AND action = %s",
        claims.organization_of(customer_id),
        "customer.owner_named",
    )
    assert own == [(ANN,)]
