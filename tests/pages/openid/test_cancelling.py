"""Every page of a sign-in for a service has a button that cancels it, and the service learns that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from jinja2 import meta

from entrypoints.pages.frame.rendering import TEMPLATES
from tests.application import Answer
from tests.world.authorization import ISSUER, address_of, led_back, posted_back, push
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

CANCEL = "/auth/authorize/cancel"


def undeclared(name: str) -> set[str]:
    """Return the names of the values that a template shows."""
    assert TEMPLATES.loader is not None, "the templates have no folder"
    source, _, _ = TEMPLATES.loader.get_source(TEMPLATES, name)
    return meta.find_undeclared_variables(TEMPLATES.parse(source))


def cancels(page: Answer) -> bool:
    """Return whether a page has the button."""
    return any(form.action.endswith("/cancel") for form in forms_of(page))


async def first(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Stay on the first page."""
    return page


async def methods(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Enter the address."""
    return await visitor.submit(page, "/app/sign-in", email=EMAIL)


async def wrong_password(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Enter a wrong password."""
    return await visitor.submit(await methods(visitor, page, world), "/app/sign-in/password", password="wrong")


async def mailed_link(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Have a link mailed."""
    return await visitor.submit(await methods(visitor, page, world), "/app/sign-in/link")


async def register(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Go to the page for a new account."""
    return await visitor.follow(page, "/app/register")


async def registered(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Create an account."""
    form = await register(visitor, page, world)
    return await visitor.submit(form, "/app/register", email="new@example.com", password=PASSWORD)


async def forgotten(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Go to the page of a forgotten password."""
    return await visitor.follow(await methods(visitor, page, world), "/app/forgot-password")


async def invalid_address(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Enter what is no address there."""
    return await visitor.submit(await forgotten(visitor, page, world), "/app/forgot-password", email="x")


async def password_link(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Have a link to a new password mailed."""
    return await visitor.submit(await forgotten(visitor, page, world), "/app/forgot-password", email=EMAIL)


async def second_factor(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Enter the password of an account with a second factor."""
    await Person(world, world.user_id(EMAIL), EMAIL).turn_mfa_on()
    return await visitor.submit(await methods(visitor, page, world), "/app/sign-in/password", password=PASSWORD)


async def too_many_codes(visitor: Visitor, page: Answer, world: World) -> Answer:
    """Open the page of the code without a sign-in that waits."""
    return await visitor.open(f"/app/second-factor?return_id={forms_of(page)[0].fields['return_id']}")


PAGES = (
    first,
    methods,
    wrong_password,
    mailed_link,
    register,
    registered,
    forgotten,
    invalid_address,
    password_link,
    second_factor,
    too_many_codes,
)


@pytest.mark.parametrize("reach", PAGES, ids=lambda reach: reach.__name__)
async def test_a_page_of_the_sign_in_can_be_left_for_the_service(
    shop: RelyingParty,
    visitor: Visitor,
    world: World,
    reach: Callable[[Visitor, Answer, World], Awaitable[Answer]],
) -> None:
    page = await reach(visitor, await visitor.open(address_of(shop)), world)

    forged = await visitor.submit(page, CANCEL, headers={"Sec-Fetch-Site": "cross-site"})
    unbound = await visitor.submit(page, CANCEL, form_token="x")
    back = led_back(await visitor.submit(page, CANCEL))
    again = await visitor.submit(page, CANCEL)

    assert [forged.status, unbound.status] == [403, 403]
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", ISSUER)
    assert "code" not in back
    assert "This request is over" in again.text


async def test_a_user_who_is_signed_in_cancels_signing_in_again_or_the_question(
    shop: RelyingParty, visitor: Visitor
) -> None:
    await visitor.sign_in()

    again = await visitor.open(address_of(shop, prompt="login"))
    question = await visitor.open(address_of(shop))
    backs = [
        led_back(await visitor.submit(again, CANCEL)),
        led_back(await visitor.submit(question, "/auth/authorize/deny")),
    ]

    assert "Sign in again" in again.text
    assert [(back["error"], back["state"]) for back in backs] == [("access_denied", "s-1")] * 2


async def test_setting_up_a_required_second_factor_can_be_cancelled(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL), "admin")
    world.connection.execute("UPDATE organizations SET mfa_required = true")

    asked = await visitor.sign_in(path=address_of(shop))
    shown = await visitor.submit(asked, "/app/second-factor/set-up")

    assert cancels(asked)
    assert led_back(await visitor.submit(shown, CANCEL))["error"] == "access_denied"


async def test_a_pushed_request_is_used_up_by_it(shop: RelyingParty, visitor: Visitor) -> None:
    address = await push(shop)
    page, other = [await visitor.open(address) for _ in range(2)]

    assert led_back(await visitor.submit(page, CANCEL))["error"] == "access_denied"
    assert "This sign-in to Shop is no longer valid" in (await visitor.submit(other, CANCEL)).text
    assert (await visitor.send("GET", address)).status == 400


async def test_it_goes_back_in_the_response_mode_of_the_request(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.open(address_of(shop, response_mode="form_post"))

    back = posted_back(await visitor.submit(page, CANCEL))

    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", ISSUER)


async def test_a_sign_in_that_no_service_waits_for_has_no_such_button(shop: RelyingParty, visitor: Visitor) -> None:
    for path in ("/app/sign-in", "/app/account", "/app/sign-in?return_to=/auth/authorize/resume"):
        assert not cancels(await visitor.open(path))
    page = await visitor.open("/app/sign-in")
    [form] = [form for form in forms_of(page) if form.action == "/app/sign-in"]

    sent = await visitor.post(CANCEL, {**form.fields, "return_id": "x"})

    assert (sent.status, sent.headers.get("Location")) == (400, None)


async def test_a_sign_in_for_a_device_refuses_the_device(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = (await app.post("/auth/device/code", {"scope": "openid"})).json
    page = await visitor.open(device["verification_uri_complete"].removeprefix(ISSUER))
    crossed = await visitor.open(address_of(shop))

    # The return of another request refuses no device.
    mixed = {form.action: form.fields for form in forms_of(crossed)}[CANCEL]
    unknown = await visitor.post("/auth/device/cancel", mixed)
    done = await visitor.submit(page, "/auth/device/cancel")
    polled = await app.token("urn:ietf:params:oauth:grant-type:device_code", device_code=device["device_code"])

    assert unknown.status == 400
    assert done.status == 200
    assert polled.json["error"] == "access_denied"


def test_every_page_that_carries_where_a_sign_in_leads_has_the_button() -> None:
    carrying = {name for name in TEMPLATES.list_templates(extensions=["html"]) if "way" in undeclared(name)}

    # Where the sign-in is done, a page that asks for another password leads on.
    done = {"accounts/passwords.html", "accounts/passwords_notice.html"}
    assert {name for name in carrying if "cancel" not in undeclared(name)} == done
    assert len(carrying) >= 12
