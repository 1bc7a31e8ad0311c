"""What a service asks of the pages: to begin with a new account, and a language."""

from __future__ import annotations

from tests.application import Answer
from tests.world.authorization import address_of, led_back, push
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.visitor import Visitor
from tests.world.world import World


def linked_from(page: Answer) -> list[str]:
    """Return the addresses to which a page links."""
    return [part.split('"')[0].replace("&amp;", "&") for part in page.text.split('href="')[1:]]


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
    back = led_back(await visitor.follow(page, "/app/sign-in"))

    assert "Create an account" in page.text
    assert "code" in back


async def test_prompt_create_stands_with_no_none(shop: RelyingParty, visitor: Visitor) -> None:
    back = led_back(await visitor.send("GET", address_of(shop, prompt="none create")))

    assert back["error"] == "invalid_request"


async def test_the_page_for_a_new_account_says_when_an_account_alone_opens_nothing(
    shop: RelyingParty, world: World
) -> None:
    shown: dict[str, bool] = {}
    for access in ("everyone", "members", "assigned"):
        world.connection.execute("UPDATE services SET access = %s", (access,))
        page = await Visitor(world.client).open(address_of(shop, prompt="create"))
        shown[access] = "An account alone opens nothing in Shop. Ask an administrator of Acme" in page.text

    assert shown == {"everyone": False, "members": True, "assigned": True}


async def test_all_pages_of_the_sign_in_are_in_the_first_language_that_is_offered(
    shop: RelyingParty, visitor: Visitor
) -> None:
    visitor.headers["Accept-Language"] = "en"

    first = await visitor.open(address_of(shop, ui_locales="fr-CA de-CH en"))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    wrong = await visitor.submit(second, "/app/sign-in/password", password="wrong")
    registering = await visitor.follow(first, "/app/register")
    back = await visitor.submit(wrong, "/app/sign-in/password", password=PASSWORD)
    left = await visitor.open("/app/sign-in")

    pages = (first, second, wrong, registering, back, left)
    assert ['<html lang="de"' in page.text for page in pages] == [True] * 5 + [False]
    assert "code" in led_back(back)


async def test_the_question_of_a_first_visit_is_in_it_too(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    visitor.headers["Accept-Language"] = "de"

    for locales, language in (("en", "en"), ("DE", "de"), ("fr", "de"), ("", "de"), ("  ", "de")):
        page = await visitor.open(address_of(shop, ui_locales=locales))

        assert "/auth/authorize/allow" in page.text
        assert f'<html lang="{language}"' in page.text


async def test_a_language_that_is_not_offered_is_no_error(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.open(address_of(shop, ui_locales="se x-klingon " + "fr " * 300))

    assert page.status == 200


async def test_the_language_switch_counts_before_what_a_service_asks_for(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.open(address_of(shop, ui_locales="de"))

    english = await visitor.switch(page, "en")
    again = await visitor.open(address_of(shop, ui_locales="de"))

    assert ['<html lang="de"' in page.text for page in (page, english, again)] == [True, False, False]


async def test_the_language_switch_keeps_the_way(shop: RelyingParty, visitor: Visitor) -> None:
    first = await visitor.open(address_of(shop))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)

    german = await visitor.switch(second, "de")
    back = await visitor.submit(
        await visitor.submit(german, "/app/sign-in", email=EMAIL), "/app/sign-in/password", password=PASSWORD
    )

    assert "Bei Shop anmelden" in german.text
    assert "code" in led_back(back)


async def test_the_language_switch_keeps_the_way_of_a_form_that_is_shown_again(
    shop: RelyingParty, visitor: Visitor
) -> None:
    first = await visitor.open(address_of(shop))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    pages = [
        await visitor.submit(second, "/app/sign-in/password", password="wrong"),
        await visitor.submit(second, "/app/sign-in/link"),
        await visitor.submit(second, "/app/sign-in/passkey", challenge_id="x", credential="x"),
    ]
    pages.append(await visitor.submit(pages[1], "/app/sign-in/code", code="x"))

    german = [await visitor.switch(page, "de") for page in pages]

    assert ["Bei Shop anmelden" in page.text for page in german] == [True] * 4


async def test_the_pages_of_mailed_links_are_in_it_also_in_another_browser(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    visitor.headers["Accept-Language"] = "en"
    first = await visitor.open(address_of(shop, ui_locales="de"))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    await visitor.submit(second, "/app/sign-in/link")
    magic = f"/auth/magic-link?token={(await world.mail()).values['token']}"
    [forgot] = [part for part in linked_from(second) if part.startswith("/app/forgot-password")]
    asked = await visitor.open(forgot)
    await visitor.submit(asked, email=EMAIL)
    reset = f"/auth/reset-password?token={(await world.mail()).values['token']}"
    [register] = [part for part in linked_from(first) if part.startswith("/app/register")]
    await visitor.submit(await visitor.open(register), email="new@example.com", password=PASSWORD)
    verify = f"/auth/verify-email?token={(await world.mail()).values['token']}"

    elsewhere = Visitor(world.client)
    elsewhere.headers["Accept-Language"] = "en"
    pages = [await elsewhere.open(path) for path in (magic, reset, verify)]
    code = await elsewhere.submit(pages[0])

    assert ['<html lang="de"' in page.text for page in (asked, *pages, code)] == [True] * 5


async def test_the_second_factor_is_asked_for_in_it(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    person = Person(world, world.user_id(EMAIL), EMAIL, token=(await world.sign_in()).access_token)
    await person.turn_mfa_on()
    visitor.headers["Accept-Language"] = "en"

    first = await visitor.open(address_of(shop, ui_locales="de"))
    second = await visitor.submit(first, "/app/sign-in", email=EMAIL)
    asked = await visitor.submit(second, "/app/sign-in/password", password=PASSWORD)
    wrong = await visitor.submit(asked, "/app/second-factor", code="000000")

    assert ['<html lang="de"' in page.text for page in (asked, wrong)] == [True] * 2
    assert "Dieser Code ist falsch" in wrong.text


async def test_a_refused_request_is_explained_in_it(shop: RelyingParty, visitor: Visitor) -> None:
    visitor.headers["Accept-Language"] = "en"

    refused = await visitor.open(address_of(shop, ui_locales="de", redirect_uri="https://elsewhere.example/"))

    assert refused.status == 400
    assert "nennt als Rückweg eine Adresse, die bei der Anwendung nicht registriert ist" in refused.text


async def test_a_form_on_the_way_that_is_refused_is_explained_in_it(shop: RelyingParty, visitor: Visitor) -> None:
    visitor.headers["Accept-Language"] = "en"
    first = await visitor.open(address_of(shop, ui_locales="de"))

    refused = await visitor.submit(first, "/app/sign-in", email=EMAIL, form_token="x")

    assert refused.status == 403
    assert "Dieses Formular ist nicht mehr gültig" in refused.text


async def test_signing_out_at_the_request_of_a_service_is_in_it(shop: RelyingParty, visitor: Visitor) -> None:
    visitor.headers["Accept-Language"] = "en"
    await visitor.sign_in()

    asked = await visitor.open(f"/auth/logout?client_id={shop.client_id}&ui_locales=fr+de")
    done = await visitor.submit(asked, "/auth/logout/confirm")

    assert "Abmelden?" in asked.text
    assert "Sie sind abgemeldet" in done.text
