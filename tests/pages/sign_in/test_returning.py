"""A sign-in on the pages leads to a path of Gatehouse, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World


async def signed_in_location(visitor: Visitor, path: str) -> str:
    """Sign in on that page, and return where the browser is sent."""
    methods = await visitor.submit(await visitor.open(path), email=EMAIL)
    answer = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD, is_followed=False)
    assert answer.status == 303, answer.text
    return answer.headers["Location"]


async def kept(world: World, target: str, **context: Any) -> str:
    """Keep a return, and return its id."""
    wanted = BrowserReturn(target=target, **context)
    return (await world.installation.database.transact(browser_returns.keep, wanted)).reveal()


async def test_what_is_no_path_of_gatehouse_is_ignored(world: World, subtests: pytest.Subtests) -> None:
    world.user()

    for wanted in (
        "https://evil.example/",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/%5cevil.example",
        "/%255cevil.example",
        "/%2fevil.example",
        "/%2Fevil.example/%2e%2e",
        "/app/..//evil.example",
        "/app/%2e%2e/%2e%2e",
        "/app?next=//evil.example",
        "/app#//evil.example",
        "javascript:alert(1)",
        "/app\r\nSet-Cookie: a=b",
        "/app\x00",
        "/\tevil.example",
        " /app",
        "app",
        "/\N{FULLWIDTH SOLIDUS}evil.example",
        "/" + "a" * 2000,
    ):
        with subtests.test(wanted=wanted):
            visitor = Visitor(world.client)
            page = await visitor.open("/app/sign-in")
            methods = await visitor.submit(page, email=EMAIL)

            answer = await visitor.submit(
                methods, "/app/sign-in/password", password=PASSWORD, return_to=wanted, is_followed=False
            )

            assert (answer.status, answer.headers.get("Location")) in {(303, "/app"), (400, None)}
            assert "a=b" not in str(answer.headers)


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
@pytest.mark.parametrize(
    ("page", "purpose"), [("/app/sign-in/link", "magic_link"), ("/app/forgot-password", "reset_password")]
)
async def test_what_is_no_path_of_gatehouse_is_not_stored_with_a_mailed_link(
    world: World, visitor: Visitor, wanted: str, page: str, purpose: str
) -> None:
    world.user()
    methods = await visitor.submit(await visitor.open("/app/sign-in"), email=EMAIL)
    token = forms_of(methods)[0].fields["form_token"]

    sent = await visitor.post(page, {"form_token": token, "email": EMAIL, "return_to": wanted})

    assert sent.status in {200, 303}, sent.text
    [data] = [row[0] for row in world.rows("SELECT data FROM one_time_tokens WHERE purpose = %s", purpose)]
    assert data["return_to"] == ""
    assert not shows(str(data), "evil")


@pytest.mark.parametrize("wanted", ["/app", "/app/account", "/app/organizations/acme", "/docs", "/"])
async def test_a_path_of_gatehouse_is_opened(world: World, visitor: Visitor, wanted: str) -> None:
    world.user()

    assert await signed_in_location(visitor, f"/app/sign-in?return_to={wanted}") == wanted


async def test_a_path_with_parameters_is_kept_and_its_id_is_valid_once(world: World, visitor: Visitor) -> None:
    world.user()
    target = "/app/sign-out?state=a%20b&next=%2F%2Fevil.example"
    return_id = await kept(world, target)

    first = await signed_in_location(visitor, f"/app/sign-in?return_id={return_id}")
    again = await signed_in_location(Visitor(world.client), f"/app/sign-in?return_id={return_id}")

    assert (first, again) == (target, "/app")


async def test_a_kept_path_expires_after_an_hour(world: World, visitor: Visitor, clock: SettableClock) -> None:
    world.user()
    return_id = await kept(world, "/app?a=b")
    clock.advance(browser_returns.LIFETIME)

    assert await signed_in_location(visitor, f"/app/sign-in?return_id={return_id}") == "/app"


async def test_a_page_with_parameters_is_opened_after_the_sign_in(world: World, visitor: Visitor) -> None:
    world.user()

    answer = await visitor.send("GET", "/app?tab=devices&q=%3Cb%3E")
    address = answer.headers["Location"]

    assert answer.status == 303
    assert address.startswith("/app/sign-in?return_id=")
    assert not shows(address, "devices")
    assert await signed_in_location(visitor, address) == "/app?tab=devices&q=%3Cb%3E"


async def test_the_pages_name_the_organization_or_service_that_the_sign_in_is_for(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    of_service = await kept(world, "/app?a=b", organization_slug="acme", service_slug="shop")
    of_organization = await kept(world, "/app?a=b", organization_slug="acme")

    assert "Sign in to Acme Shop" in (await visitor.open(f"/app/sign-in?return_id={of_service}")).text
    page = await visitor.open(f"/app/sign-in?return_id={of_organization}")
    name = world.value("SELECT name FROM organizations WHERE slug = 'acme'")
    assert f"Sign in to {name}" in page.text
    assert f"Sign in to {name}" in (await visitor.submit(page, email=EMAIL)).text


async def test_a_browser_that_is_signed_in_is_led_on_at_once(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    answer = await visitor.send("GET", "/app/sign-in?return_to=/docs")

    assert (answer.status, answer.headers["Location"]) == (303, "/docs")
