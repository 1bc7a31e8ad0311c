"""Signing in by JSON to a service that many organizations use: for which of them the user comes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.sessions import browser_sessions
from core.sign_in import child_sessions
from core.sign_in.customer_choices import CustomerDue
from core.sign_in.proofs import Destination
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.openid_connection import enforce
from tests.world.second_factors import insert_person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}


@pytest.fixture
def shop(world: World) -> Service:
    """A service of a vendor, which has customers, and a user."""
    world.user(EMAIL)
    service = world.service(world.organization("vendor"), "shop")
    world.serve_customers(service, "editor")
    return service


def _customer(world: World, service: Service, slug: str, *, is_confirmed: bool = True, **settings: Any) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(EMAIL), is_confirmed=is_confirmed)
    return world.customer(service, organization_id, **settings)


async def _choose(world: World, asked: Answer, customer: object) -> Answer:
    body = {"customer_token": asked.json["customer_token"], "customer": customer}
    return await world.client.post("/api/auth/customer", body=body)


async def test_the_first_sign_in_asks_and_the_next_one_does_not(shop: Service, world: World) -> None:
    customer_id = _customer(world, shop, "globex")

    asked = await world.log_in(EMAIL, **AT_SHOP)
    chosen = await _choose(world, asked, str(customer_id))
    again = await world.log_in(EMAIL, **AT_SHOP)

    assert_refused(asked, 409, "CUSTOMER_REQUIRED")
    assert asked.json["customers"] == [
        {"id": str(customer_id), "slug": "globex", "name": "Globex", "connection_id": None}
    ]
    assert asked.json["individual"] is False
    assert asked.headers["Cache-Control"] == "no-store"
    assert claims_of(chosen.json["access_token"])["customer"] == "globex"
    assert claims_of(again.json["access_token"])["customer_id"] == str(customer_id)
    assert chosen.json["device_token"]


async def test_naming_a_customer_confirms(shop: Service, world: World) -> None:
    customer_id = _customer(world, shop, "globex", is_confirmed=False)

    unnamed = await world.log_in(EMAIL, **AT_SHOP)
    named = await world.log_in(EMAIL, **AT_SHOP, customer=str(customer_id))
    again = await world.log_in(EMAIL, **AT_SHOP)

    # A stranger's organization decides nothing: the user comes as an individual, and has used the service since.
    assert "customer" not in claims_of(unnamed.json["access_token"])
    assert claims_of(named.json["access_token"])["customer"] == "globex"
    assert claims_of(again.json["access_token"])["customer"] == "globex"
    assert world.value("SELECT confirmed_at IS NOT NULL FROM memberships")


@pytest.mark.parametrize("named", ["nowhere", "initech", "paused", "0191d3c1-0000-7000-8000-00000000000f"])
async def test_what_is_not_open_is_refused_alike(shop: Service, world: World, named: str) -> None:
    _customer(world, shop, "globex")
    world.customer(shop, world.organization("initech"))
    _customer(world, shop, "paused", paused_by=["customer"])

    refused = await world.log_in(EMAIL, **AT_SHOP, customer=named)

    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.json["error"] == (
        "You cannot use this application for that customer. Ask an administrator of your organization for access."
    )


async def test_a_slug_of_thirty_two_digits_names_a_customer(shop: Service, world: World) -> None:
    digits = "5eb63bbbe01eeed093cb22bb8f5acdc3"
    customer_id = _customer(world, shop, digits)

    named = await world.log_in(EMAIL, **AT_SHOP, customer=digits)

    assert claims_of(named.json["access_token"])["customer_id"] == str(customer_id)


async def test_an_id_names_no_other_customer_that_has_it_as_its_slug(shop: Service, world: World) -> None:
    globex = world.customer(shop, world.organization("globex"))
    initech = _customer(world, shop, str(globex))

    refused = await world.log_in(EMAIL, **AT_SHOP, customer=str(globex))
    by_id = await world.log_in(EMAIL, **AT_SHOP, customer=str(initech).upper())

    assert_refused(refused, 403, "FORBIDDEN")
    assert claims_of(by_id.json["access_token"])["customer_id"] == str(initech)


async def test_a_customer_that_requires_its_own_sign_in_names_its_connection_after_right_credentials(
    shop: Service, world: World
) -> None:
    await enforce(world, "globex", EMAIL.partition("@")[2])
    globex = world.value("SELECT id FROM organizations WHERE slug = 'globex'")
    world.member(globex, world.user_id(EMAIL))
    world.customer(shop, globex)
    world.customer(shop, world.organization("initech"))
    connection_id = str(world.value("SELECT id FROM upstream_connections"))

    named = await world.log_in(EMAIL, **AT_SHOP, customer="globex")
    chosen = await _choose(world, await world.log_in(EMAIL, **AT_SHOP), "globex")
    without_customer = await world.log_in(EMAIL)
    others = [
        await world.log_in(EMAIL, "wrong password", **AT_SHOP, customer="globex"),
        await world.log_in(EMAIL, **AT_SHOP, customer="initech"),
    ]

    for refused in (named, chosen):
        assert_refused(refused, 403, "SSO_REQUIRED")
        assert refused.json["connection_id"] == connection_id
    assert_refused(without_customer, 403, "SSO_REQUIRED")
    assert_refused(others[0], 401, "UNAUTHORIZED")
    assert_refused(others[1], 403, "FORBIDDEN")
    for answer in (without_customer, *others):
        assert connection_id not in answer.text


async def test_several_are_asked_each_time_and_the_token_is_good_once(shop: Service, world: World) -> None:
    shop_row = "UPDATE services SET individuals = 'all'"
    world.connection.execute(shop_row.encode())
    globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")

    asked = await world.log_in(EMAIL, **AT_SHOP)
    wrong = await _choose(world, asked, "nowhere")
    chosen = await _choose(world, asked, "initech")
    spent = await _choose(world, asked, "initech")
    alone = await _choose(world, await world.log_in(EMAIL, **AT_SHOP), None)

    assert {one["id"] for one in asked.json["customers"]} == {str(globex), str(initech)}
    assert asked.json["individual"] is True
    assert_refused(wrong, 403, "FORBIDDEN")
    assert claims_of(chosen.json["access_token"])["customer_id"] == str(initech)
    assert_refused(spent, 401, "UNAUTHORIZED")
    assert "customer" not in claims_of(alone.json["access_token"])


async def test_of_two_choices_at_once_one_wins(shop: Service, world: World) -> None:
    _customer(world, shop, "globex")
    asked = await world.log_in(EMAIL, **AT_SHOP)

    answers = await at_once(*[lambda: _choose(world, asked, "globex")] * 2)

    assert statuses_of(answers) == [200, 401]


@pytest.mark.parametrize("token", ["", "x", ".", "0191d3c1-0000-7000-8000-00000000000f.x", "\u0000"])
async def test_a_token_of_no_sign_in_is_refused(shop: Service, world: World, token: str) -> None:
    answer = await world.client.post("/api/auth/customer", body={"customer_token": token, "customer": None})

    assert answer.status in {400, 401}


async def test_the_token_ends_after_ten_minutes_and_with_the_sessions(shop: Service, world: World) -> None:
    _customer(world, shop, "globex")
    late, ended = await world.log_in(EMAIL, **AT_SHOP), await world.log_in(EMAIL, **AT_SHOP)
    account = await world.sign_in()

    await world.client.delete("/api/user/sessions", token=account.access_token)
    after_end = await _choose(world, ended, "globex")
    fresh = await world.log_in(EMAIL, **AT_SHOP)
    world.clock.advance(timedelta(minutes=11))
    after_time = await _choose(world, fresh, "globex")

    assert_refused(after_end, 401, "UNAUTHORIZED")
    assert_refused(await _choose(world, late, "globex"), 401, "UNAUTHORIZED")
    assert_refused(after_time, 401, "UNAUTHORIZED")


async def test_the_token_is_none_for_the_second_factor_and_the_factor_comes_first(shop: Service, world: World) -> None:
    _customer(world, shop, "globex")
    asked = await world.log_in(EMAIL, **AT_SHOP)

    answer = await world.client.post(
        "/api/auth/mfa/verify", body={"preauth_token": asked.json["customer_token"], "code": "123456"}
    )

    assert_refused(answer, 401, "JWT_ERROR")


async def test_a_customer_takes_its_own_second_factor(shop: Service, world: World) -> None:
    organization_id = world.organization("globex", mfa_required=True)
    world.member(organization_id, world.user_id(EMAIL))
    world.customer(shop, organization_id)

    refused = await world.log_in(EMAIL, **AT_SHOP, customer="globex")

    assert_refused(refused, 403, "FORBIDDEN")


async def test_a_customer_without_a_service_is_invalid_and_means_nothing_where_there_are_none(
    shop: Service, world: World
) -> None:
    other = world.service(world.organization("other"), "desk")

    without = await world.log_in(EMAIL, customer="globex")
    ignored = await world.log_in(EMAIL, org_slug="other", service_slug="desk", customer="globex")

    assert_refused(without, 400, "BAD_REQUEST")
    assert claims_of(ignored.json["access_token"])["aud"] == str(other.client_id)


async def test_the_sign_in_is_in_both_logs_and_only_there(shop: Service, world: World) -> None:
    customer_id = _customer(world, shop, "globex")
    world.member(world.organization("bystander"), world.user_id(EMAIL))

    await world.log_in(EMAIL, PASSWORD, **AT_SHOP, customer="globex")

    receivers = dict(world.rows("SELECT id, slug FROM organizations"))
    seen = [(receivers[one], data["customer_id"]) for one, _, data in world.events("user.login.success") if one]
    assert sorted(seen) == [("globex", str(customer_id)), ("vendor", str(customer_id))]


async def test_a_gift_to_an_address_that_is_to_be_proved_takes_the_proof(shop: Service, world: World) -> None:
    customer_id = _customer(world, shop, "globex", is_confirmed=False)
    world.connection.execute("UPDATE users SET changed_by_service_at = now()")

    refused = await world.log_in(EMAIL, **AT_SHOP, customer=str(customer_id))

    assert_refused(refused, 403, "FORBIDDEN")
    assert "confirm first that it is yours" in refused.json["error"]
    assert world.value("SELECT confirmed_at IS NULL FROM memberships")


async def test_the_sign_in_is_judged_again_when_the_customer_is_chosen(shop: Service, world: World) -> None:
    _customer(world, shop, "globex")
    forged, closed, stronger = [await world.log_in(EMAIL, **AT_SHOP) for _ in range(3)]
    forgery = forged.json["customer_token"].partition(".")[0] + "." + "x" * 43

    answer = await world.client.post("/api/auth/customer", body={"customer_token": forgery, "customer": "globex"})
    assert_refused(answer, 401, "UNAUTHORIZED")
    world.connection.execute("UPDATE users SET deactivated_at = now()")
    assert_refused(await _choose(world, closed, "globex"), 401, "UNAUTHORIZED")
    world.connection.execute("UPDATE users SET deactivated_at = NULL, mfa_enabled_at = now()")
    assert_refused(await _choose(world, stronger, "globex"), 401, "UNAUTHORIZED")


@pytest.mark.parametrize("is_required", [False, True])
async def test_a_device_that_is_trusted_since_the_sign_in_waits_adds_nothing_to_it(
    shop: Service, world: World, is_required: bool
) -> None:
    organization_id = world.organization("globex", mfa_required=is_required)
    world.member(organization_id, world.user_id(EMAIL))
    world.customer(shop, organization_id)
    device = {"X-Device-Token": (await world.log_in(EMAIL)).json["device_token"]}
    asked = await world.log_in(EMAIL, **AT_SHOP, headers=device)
    world.connection.execute("UPDATE users SET mfa_enabled_at = now()")
    world.connection.execute("UPDATE device_tokens SET mfa_trusted_at = now()")

    body = {"customer_token": asked.json["customer_token"], "customer": "globex"}
    chosen = await world.client.post("/api/auth/customer", body=body, headers=device)

    if is_required:
        assert_refused(chosen, 403, "FORBIDDEN")
    else:
        assert claims_of(chosen.json["access_token"])["amr"] == ["pwd"]


async def test_a_mailed_link_proves_the_address_that_was_added(shop: Service, world: World) -> None:
    organization_id = world.organization("globex")
    world.member(organization_id, world.user_id(EMAIL), is_confirmed=False)
    customer_id = world.customer(shop, organization_id)
    world.mail_domain(organization_id, "example.com")
    world.connection.execute("UPDATE users SET changed_by_service_at = now()")
    await world.mails()
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **AT_SHOP})
    token = (await world.mail()).values["token"]

    asked = await world.client.post("/api/auth/magic-link/verify", body={"token": token, **AT_SHOP})
    chosen = await _choose(world, asked, str(customer_id))

    assert claims_of(chosen.json["access_token"])["customer"] == "globex"
    # The password from before the proof is gone.
    assert world.value("SELECT password_hash IS NULL AND changed_by_service_at IS NULL FROM users")


async def test_the_factors_that_a_mailed_link_removes_are_not_asked_for_when_the_customer_is_chosen(
    shop: Service, world: World
) -> None:
    customer_id = _customer(world, shop, "globex", is_confirmed=False)
    world.mail_domain(world.value("SELECT id FROM organizations WHERE slug = 'globex'"), "example.com")
    device = {"X-Device-Token": (await world.log_in(EMAIL)).json["device_token"]}
    world.connection.execute("UPDATE users SET changed_by_service_at = now(), mfa_enabled_at = now()")
    world.connection.execute("UPDATE device_tokens SET mfa_trusted_at = now()")
    await world.mails()
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **AT_SHOP})
    token = (await world.mail()).values["token"]
    asked = await world.client.post("/api/auth/magic-link/verify", body={"token": token, **AT_SHOP}, headers=device)

    body = {"customer_token": asked.json["customer_token"], "customer": str(customer_id)}
    chosen = await world.client.post("/api/auth/customer", body=body, headers=device)

    assert claims_of(chosen.json["access_token"])["customer"] == "globex"
    assert world.value("SELECT mfa_enabled_at IS NULL FROM users")


async def test_what_cannot_ask_does_not_choose(shop: Service, world: World) -> None:
    _customer(world, shop, "globex")
    visitor = Visitor(world.client)
    await visitor.sign_in()
    database = world.installation.database
    browser = await database.read(browser_sessions.find, visitor.cookies["gatehouse_session"])
    assert browser is not None
    wanted = Destination(organization_slug="vendor", service_slug="shop")

    with pytest.raises(CustomerDue):
        await database.transact(child_sessions.begin, browser.session_id, browser.user_id, wanted)


@pytest.mark.parametrize(
    ("methods", "days", "is_trusted"), [("any", 30, True), ("phishing_resistant", 30, False), ("any", 0, False)]
)
async def test_a_trusted_device_counts_as_the_stricter_of_both_says(
    shop: Service, world: World, methods: str, days: int, is_trusted: bool
) -> None:
    person = insert_person(world, "eve@example.com")
    await person.turn_mfa_on()
    organization_id = world.organization("globex", mfa_required=True, device_trust_days=days)
    world.connection.execute("UPDATE organizations SET mfa_methods = %s WHERE slug = 'globex'", (methods,))
    world.member(organization_id, person.id)
    world.customer(shop, organization_id)
    trusted = await person.verify(await person.preauth_token(), person.code(), trust_device=True)

    answer = await person.log_in(headers={"X-Device-Token": trusted.json["device_token"]}, **AT_SHOP, customer="globex")

    assert answer.status == 200, answer.text
    assert ("mfa_required" not in answer.json) is is_trusted
