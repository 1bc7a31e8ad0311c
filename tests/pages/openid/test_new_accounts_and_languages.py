"""What a service wants of the pages: that for a new account first, and a language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.world.authorization import address_of, led_back, push
from tests.world.builder import EMAIL, PASSWORD

if TYPE_CHECKING:
    from tests.world.relying_party import RelyingParty
    from tests.world.visitor import Visitor
    from tests.world.world import World


async def test_prompt_create_shows_the_page_for_a_new_account_first(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    page = await visitor.open(await push(shop, prompt="create"))

    await visitor.submit(page, "/app/register", email="new@example.com", password=PASSWORD)
    mailed = await visitor.open(f"/auth/verify-email?token={(await world.mail()).values['token']}")
    back = led_back(await visitor.submit(mailed, "/auth/verify-email/confirm"))

    assert "You sign in to Shop with it" in page.text
    assert "code" in back


async def test_a_user_who_is_signed_in_sees_it_too_and_may_go_on_with_the_account_that_is_there(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    await visitor.sign_in()

    page = await visitor.open(address_of(shop, prompt="create"))
    back = led_back(await visitor.press(page, "/app/sign-in"))

    assert "Create an account" in page.text
    assert "code" in back


async def test_prompt_create_stands_with_no_none(shop: RelyingParty, visitor: Visitor) -> None:
    back = led_back(await visitor.send("GET", address_of(shop, prompt="none create")))

    assert back["error"] == "invalid_request"


async def test_all_pages_of_the_sign_in_are_in_the_first_language_that_is_offered(
    shop: RelyingParty, visitor: Visitor
) -> None:
    visitor.headers["Accept-Language"] = "en"

    first = await visitor.open(address_of(shop, ui_locales="fr-CA de-CH en"))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    wrong = await visitor.submit(second, "/app/sign-in/password", password="wrong")
    registering = await visitor.press(first, "/app/register", email="new@example.com")
    back = await visitor.submit(wrong, "/app/sign-in/password", password=PASSWORD)
    left = await visitor.open("/app/sign-in")

    pages = (first, second, wrong, registering, back, left)
    assert ['lang="de"' in page.text for page in pages] == [True] * 5 + [False]
    assert "code" in led_back(back)


async def test_the_question_of_a_first_visit_is_in_it_too(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    visitor.headers["Accept-Language"] = "de"

    for locales, language in (("en", "en"), ("DE", "de"), ("fr", "de"), ("", "de"), ("  ", "de")):
        page = await visitor.open(address_of(shop, ui_locales=locales))

        assert "/auth/authorize/allow" in page.text
        assert f'lang="{language}"' in page.text


async def test_a_language_that_is_not_offered_is_no_error(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.open(address_of(shop, ui_locales="se x-klingon " + "fr " * 300))

    assert page.status == 200
