"""A connection that a customer has switched off signs in no more at the service, not even in a walk that began before.

The class of CVE-2026-1486: an identity provider that is disabled, and whose word still counted by another path.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest

from core.openid import device as device_codes
from tests.application import Answer
from tests.world.authorization import address_of, led_back
from tests.world.builder import PASSWORD_HASH, Service
from tests.world.openid_acme import Acme
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ADA = "ada@acme.example"
ALLOW = "/auth/authorize/allow"


@pytest.fixture
async def shop(acme: Acme, world: World) -> RelyingParty:
    """A service of a vendor, of which Acme is a customer; Acme's connection makes members."""
    party = insert_relying_party(world, "mobile", slug="vendor")
    world.serve_customers(Service(id=party.service_id, client_id=party.client_id), "editor")
    world.customer(Service(id=party.service_id, client_id=party.client_id), acme.organization_id)
    await acme.change(joins_as="member")
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    return party


def _path(acme: Acme) -> str:
    given = {"connection_id": acme.connection_id, "org": "vendor", "service": "shop", "redirect_uri": REDIRECT_URI}
    return f"/auth/upstream?{urlencode({**given, **PKCE})}"


async def _departed(acme: Acme, visitor: Visitor) -> str:
    """Begin a sign-in by the connection, and return the address with which the provider leads back."""
    begun = await visitor.send("GET", _path(acme))
    assert begun.status == 303, begun.text
    return acme.provider.sign_in(begun.headers["Location"])


async def _code(acme: Acme, visitor: Visitor) -> str:
    asked = await visitor.open(await _departed(acme, visitor))
    led = await visitor.submit(asked, ALLOW) if any(form.action == ALLOW for form in forms_of(asked)) else asked
    return led_back(led)["code"]


async def _tokens(acme: Acme, shop: RelyingParty, visitor: Visitor) -> dict[str, Any]:
    tokens = (await shop.redeem(await _code(acme, visitor))).json
    assert claims_of(tokens["access_token"])["customer"] == "acme"
    return tokens


async def _user_info(world: World, tokens: dict[str, Any]) -> Answer:
    return await world.client.get("/api/user", token=tokens["access_token"])


async def test_the_sessions_that_it_began_end_with_the_request_that_switches_it_off(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    tokens = await _tokens(acme, shop, visitor)
    before = await _user_info(world, tokens)

    await acme.change(enabled=False)
    after = await _user_info(world, tokens)
    refreshed = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])
    page = await visitor.open(address_of(shop))
    await acme.change(enabled=True)
    again = await _user_info(world, tokens)

    assert (before.status, after.status, again.status) == (200, 401, 401)
    assert refreshed.json["error"] == "invalid_grant"
    assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"]


async def test_a_code_from_before_is_worth_nothing(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    code = await _code(acme, visitor)

    await acme.change(enabled=False)
    redeemed = await shop.redeem(code)

    assert (redeemed.status, redeemed.json["error"]) == (400, "invalid_grant")


async def test_a_sign_in_that_is_under_way_ends_at_its_return(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    back = await _departed(acme, visitor)

    await acme.change(enabled=False)
    returned = await visitor.open(back)

    assert returned.status == 404
    assert not visitor.has_session
    assert world.value("SELECT count(*) FROM users WHERE email = %s", ADA) == 0


async def test_an_identity_that_waits_to_be_linked_is_not_linked(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user(ADA)
    asked = await visitor.open(await _departed(acme, visitor))

    await acme.change(enabled=False)
    methods = await visitor.submit(asked, "/app/sign-in", email=ADA)
    page = await visitor.submit(methods, "/app/sign-in/password", password="correct horse battery")

    assert page.status == 404
    assert acme.identities == 0
    assert world.value("SELECT count(*) FROM sessions WHERE connection_id IS NOT NULL") == 0


async def test_a_linked_identity_begins_no_sign_in_and_nothing_leads_there(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await _tokens(acme, shop, visitor)
    customer_id: UUID = world.value("SELECT id FROM service_customers")
    browser = Visitor(world.client)

    await acme.change(enabled=False)
    begun = await browser.send("GET", _path(acme))
    by_id = await browser.open(address_of(shop, customer=str(customer_id)))
    methods = await browser.submit(by_id, "/app/sign-in", email=ADA)
    looked_up = await world.client.post(
        "/api/auth/lookup-email", body={"email": ADA, "org_slug": "vendor", "service_slug": "shop"}
    )

    assert begun.status == 404
    assert "/auth/upstream" not in methods.text
    assert looked_up.json["auth_method"] == "password"


async def test_a_device_that_it_signed_in_is_signed_out_and_one_that_waits_gets_nothing(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await _tokens(acme, shop, visitor)

    async def approved() -> str:
        device = (await shop.post("/auth/device/code", {"scope": "openid", "customer": "acme"})).json
        page = await visitor.open(device["verification_uri_complete"].removeprefix("http://localhost:8000"))
        done = await visitor.submit(page, "/auth/device/approve")
        assert "The device is signed in" in done.text
        return device["device_code"]

    polled = (await shop.token(device_codes.GRANT_TYPE, device_code=await approved())).json
    waiting = await approved()
    await acme.change(enabled=False)

    late = await shop.token(device_codes.GRANT_TYPE, device_code=waiting)
    assert (await _user_info(world, polled)).status == 401
    assert late.json["error"] == "invalid_grant"


async def test_its_members_come_in_another_way_once_it_is_off(
    acme: Acme, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await _tokens(acme, shop, visitor)
    world.connection.execute("UPDATE users SET password_hash = %s WHERE email = %s", (PASSWORD_HASH, ADA))
    await acme.enforce()
    browser = Visitor(world.client)

    await acme.change(enabled=False)
    page = await browser.sign_in(ADA, path=address_of(shop))
    led = await browser.submit(page, ALLOW) if any(form.action == ALLOW for form in forms_of(page)) else page
    tokens = (await shop.redeem(led_back(led)["code"])).json

    assert claims_of(tokens["access_token"])["customer"] == "acme"
