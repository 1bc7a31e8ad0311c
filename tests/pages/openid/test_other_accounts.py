"""A user who is refused by a service signs out and comes back to it with another account."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World

OTHER = "other@example.com"
SIGN_OUT = "/app/sign-out"


@pytest.fixture
def suspended(shop: RelyingParty, world: World) -> RelyingParty:
    """A service of whose organization a user is a member without access, and another user."""
    world.member(shop.organization_id, world.user_id(EMAIL))
    world.rows("UPDATE memberships SET suspended_at = now() RETURNING id")
    world.user(OTHER)
    return shop


def switch_of(page: Answer) -> str:
    """Return where the button of another account leads."""
    [address] = re.findall(r'href="([^"]+)">Use another account<', page.text)
    return unescape(address)


@pytest.mark.parametrize("is_signed_in", [True, False])
async def test_another_account_goes_on_with_the_request(
    suspended: RelyingParty, visitor: Visitor, is_signed_in: bool
) -> None:
    if is_signed_in:
        await visitor.sign_in()
        refused = await visitor.open(address_of(suspended))
    else:
        refused = await visitor.sign_in(path=address_of(suspended))

    signed_out = await visitor.submit(await visitor.open(switch_of(refused)), SIGN_OUT)
    address = await visitor.follow(signed_out, "/app/sign-in")
    methods = await visitor.submit(address, "/app/sign-in", email=OTHER)
    done = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    if "/auth/authorize/allow" in done.text:
        done = await visitor.submit(done, "/auth/authorize/allow")

    assert refused.status == 403
    assert "You are signed out" in signed_out.text
    assert "code" in led_back(done)


async def test_a_page_elsewhere_leads_to_signing_out_alone(visitor: Visitor, world: World) -> None:
    world.user(EMAIL)
    await visitor.sign_in()

    page = await visitor.post("/app/account/name", {"form_token": "x", "name": "Ada"})
    signed_out = await visitor.submit(await visitor.open(SIGN_OUT), SIGN_OUT)

    assert not shows(page.text + signed_out.text, "return_id")
    assert 'href="/app/sign-in"' in signed_out.text


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
async def test_signing_out_leads_to_no_other_site(visitor: Visitor, world: World, wanted: str) -> None:
    world.user(EMAIL)
    await visitor.sign_in()
    page = await visitor.open(f"{SIGN_OUT}?return_to={wanted}")

    signed_out = await visitor.submit(page, SIGN_OUT)
    home = await visitor.submit(
        await visitor.submit(await visitor.follow(signed_out, "/app/sign-in"), "/app/sign-in", email=EMAIL),
        "/app/sign-in/password",
        password=PASSWORD,
    )

    assert f'href="{wanted}' not in signed_out.text
    assert "You are signed in as" in home.text
