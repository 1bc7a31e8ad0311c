"""Members whose organization requires two factors are led to the second one on the way to its services."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from pyotp.totp import TOTP

from tests.application import Answer
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.domains import DOMAIN, insert_verified
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def admin(shop: RelyingParty, world: World) -> Person:
    """An admin of the organization, which requires two factors."""
    world.member(shop.organization_id, world.user_id(EMAIL), "admin")
    world.connection.execute("UPDATE organizations SET mfa_required = true")
    return Person(world, world.user_id(EMAIL), EMAIL)


async def set_up(world: World, visitor: Visitor, page: Answer) -> Answer:
    """Set an app up on the pages, go on from the one with the backup codes, and return what follows."""
    shown = await visitor.submit(page, "/app/second-factor/set-up")
    [secret] = re.findall(r"<code[^>]*>([A-Z2-7\s]+)</code>", shown.text)
    code = TOTP("".join(secret.split())).at(world.clock())
    codes = await visitor.submit(shown, "/app/second-factor/confirm", code=code)
    [address] = re.findall(r'href="(/app/sign-in\?[^"]+)"', codes.text)
    return await visitor.open(address)


async def test_a_member_without_a_second_factor_sets_one_up_and_gets_to_the_service(
    shop: RelyingParty, admin: Person, visitor: Visitor, world: World
) -> None:
    asked = await visitor.sign_in(path=address_of(shop))
    not_yet = world.value("SELECT count(*) FROM service_users")
    back = led_back(await set_up(world, visitor, asked))

    assert not_yet == 0
    claims = claims_of((await shop.redeem(back["code"])).json["access_token"])
    assert (claims["role"], "mfa" in claims["amr"]) == ("admin", True)


async def test_a_new_sign_in_in_between_keeps_the_way(
    shop: RelyingParty, admin: Person, visitor: Visitor, world: World
) -> None:
    asked = await visitor.sign_in(path=address_of(shop))
    world.clock.advance(timedelta(minutes=11))

    again = await visitor.submit(asked, "/app/second-factor/set-up")
    asked = await visitor.submit(again, "/app/sign-in-again", password=PASSWORD)

    assert "/app/sign-in-again" in again.text
    assert "code" in led_back(await set_up(world, visitor, asked))


async def test_a_member_with_a_second_factor_enters_a_code_on_the_way(
    shop: RelyingParty, admin: Person, visitor: Visitor
) -> None:
    await admin.turn_mfa_on()

    asked = await visitor.sign_in(path=address_of(shop))

    assert "code" in led_back(await visitor.submit(asked, "/app/second-factor", code=admin.code()))


async def test_a_browser_that_has_signed_in_before_is_asked_for_the_code(
    shop: RelyingParty, admin: Person, visitor: Visitor
) -> None:
    await visitor.sign_in()
    await admin.turn_mfa_on()

    asked = await visitor.open(address_of(shop))

    assert "code" in led_back(await visitor.submit(asked, "/app/sign-in-again", code=admin.code(), password=PASSWORD))


async def test_a_request_without_a_page_is_told_that_interaction_is_required(
    shop: RelyingParty, admin: Person, visitor: Visitor
) -> None:
    await visitor.sign_in()

    back = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    assert (back["error"], back["state"]) == ("interaction_required", "s-1")


async def test_an_end_user_who_is_no_member_is_not_asked(shop: RelyingParty, admin: Person, visitor: Visitor) -> None:
    admin.world.user("buyer@example.com")

    assert "code" in led_back(await visitor.sign_in("buyer@example.com", path=address_of(shop)))


class TestDevice:
    """The device flow."""

    async def begun(self, app: RelyingParty, world: World) -> tuple[dict[str, Any], str]:
        """Return the codes of a device of the public service, of which the user is a member, and the page's path."""
        world.member(app.organization_id, world.user_id(EMAIL))
        device = (await app.post("/auth/device/code", {"scope": "openid"})).json
        return device, device["verification_uri_complete"].removeprefix("http://localhost:8000")

    async def test_a_member_without_a_second_factor_sets_one_up_and_approves_the_device(
        self, app: RelyingParty, admin: Person, visitor: Visitor, world: World
    ) -> None:
        world.connection.execute("UPDATE organizations SET mfa_required = true")
        device, path = await self.begun(app, world)
        shown = await visitor.sign_in(path=path)

        asked = await visitor.submit(shown, "/auth/device/approve")
        again = await set_up(world, visitor, asked)

        assert "The device is signed in" in (await visitor.submit(again, "/auth/device/approve")).text
        assert device["user_code"] in again.text


async def test_at_a_custom_domain_a_member_reads_where_to_set_the_factor_up(
    shop: RelyingParty, admin: Person, world: World
) -> None:
    insert_verified(world, shop.organization_id)
    visitor = Visitor(world.client)
    visitor.headers["Host"] = DOMAIN

    refused = await visitor.sign_in(path=address_of(shop))

    assert refused.status == 403
    assert "Set one up for your account" in refused.text
    assert 'href="http://localhost:8000/app/account/second-factor"' in refused.text
