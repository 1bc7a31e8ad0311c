"""The brand of an organization on the pages of a sign-in on the way to its service, under the base URL."""

from __future__ import annotations

from typing import Any

import pytest

from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.settings.branding import Branding
from core.organizations.settings.pictures import Picture, PictureKind, PictureType
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.pictures import drawn_png
from tests.shown_text import shows
from tests.world.authorization import address_of
from tests.world.builder import EMAIL, PASSWORD
from tests.world.fixtures import saml, saml_shop
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.saml import SamlService
from tests.world.visitor import Visitor
from tests.world.world import World

__all__ = ["saml", "saml_shop"]

LOGO = Picture(type=PictureType.PNG, content=drawn_png(12, 12))
BRANDING = Branding(
    logo=LOGO.name,
    primary_color="#7a1f5c",
    terms_url="https://acme.example/terms",
    updated_at=SettableClock()(),
)
# What only a page under the brand has.
HEAD = "brand-head"


@pytest.fixture
async def shop(world: World) -> RelyingParty:
    """A service of an organization with a brand, and a user."""
    world.user(EMAIL)
    shop = insert_relying_party(world)
    await brand(world, shop)
    return shop


async def brand(world: World, party: RelyingParty | SamlService) -> None:
    """Give the organization of a service a brand."""

    def save(uow: UnitOfWork) -> None:
        uow.branding.set_picture(party.organization_id, PictureKind.LOGO, LOGO)
        uow.branding.save(party.organization_id, BRANDING)

    await world.installation.database.transact(save)


def is_branded(page: Answer, party: RelyingParty | SamlService) -> bool:
    """Whether a page shows the brand; one that does names the platform as well."""
    has_all = all(
        part in page.text
        for part in (
            f'<img class="brand-logo" src="/branding/{party.organization_id}/{LOGO.name}" alt="">',
            f'<link rel="stylesheet" href="/branding/{party.organization_id}/',
            "provided by Gatehouse",
            "https://acme.example/terms",
        )
    )
    assert has_all == (HEAD in page.text)
    return has_all


async def every_page(visitor: Visitor, party: RelyingParty) -> dict[str, Answer]:
    """Open the pages of a sign-in on the way to the service, and return them."""
    address = await visitor.open(address_of(party))
    _, _, way = address.text.partition("/app/register?")
    way = way.partition('"')[0]
    methods = await visitor.submit(address, "/app/sign-in", email=EMAIL)
    forgotten = await visitor.open(f"/app/forgot-password?{way}")
    return {
        "address": address,
        "invalid address": await visitor.submit(address, "/app/sign-in", email="x"),
        "methods": methods,
        "wrong password": await visitor.submit(methods, "/app/sign-in/password", password="wrong"),
        "look into your mail": await visitor.submit(methods, "/app/sign-in/link"),
        "wrong code": await visitor.submit(
            await visitor.submit(methods, "/app/sign-in/link"), "/app/sign-in/code", code="x"
        ),
        "register": await visitor.open(f"/app/register?{way}"),
        "forgotten password": forgotten,
        "no address": await visitor.submit(forgotten, "/app/forgot-password", email="x"),
        "password link": await visitor.submit(forgotten, "/app/forgot-password", email=EMAIL),
        "second factor over": await visitor.open(f"/app/second-factor?{way}"),
    }


async def test_every_page_on_the_way_has_the_brand_of_the_organization(visitor: Visitor, shop: RelyingParty) -> None:
    pages = await every_page(visitor, shop)

    assert [name for name, page in pages.items() if not is_branded(page, shop)] == []


@pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
async def test_the_brand_of_an_organization_that_is_not_active_is_not_shown(
    visitor: Visitor, world: World, shop: RelyingParty, status: str
) -> None:
    begun = await visitor.send("GET", address_of(shop))
    world.set_organization_status(shop.organization_id, status)

    page = await visitor.send("GET", begun.headers["Location"])
    picture = await world.client.get(f"/branding/{shop.organization_id}/{LOGO.name}")

    assert page.status == 200
    assert not shows(page.text, HEAD)
    assert "/branding/" not in page.text
    assert picture.status == 404


async def test_the_brand_is_that_of_the_organization_of_the_way_alone(
    visitor: Visitor, world: World, shop: RelyingParty
) -> None:
    other = insert_relying_party(world, "mobile", slug="globex", service_slug="app")

    pages = [await visitor.open(address_of(other)), await visitor.open("/app/sign-in"), await visitor.open("/")]

    assert all(str(shop.organization_id) not in page.text and not shows(page.text, HEAD) for page in pages)


async def test_the_question_of_a_first_visit_and_the_mailed_link_have_the_brand(
    visitor: Visitor, world: World, shop: RelyingParty
) -> None:
    address = await visitor.open(address_of(shop))
    methods = await visitor.submit(address, "/app/sign-in", email=EMAIL)
    await visitor.submit(methods, "/app/sign-in/link")
    mailed = await world.mail()
    opened = await visitor.open(f"/auth/magic-link?token={mailed.values['token']}")
    elsewhere = await world.client.get(f"/auth/magic-link?token={mailed.values['token']}")
    await visitor.sign_in(EMAIL, PASSWORD)
    question = await visitor.open(address_of(shop))

    assert mailed.values["place"] == "Shop"
    assert all(is_branded(page, shop) for page in (opened, elsewhere, question))
    assert "Shop" in opened.text


async def test_mails_on_the_way_name_the_service_and_have_the_brand_without_links(
    visitor: Visitor, world: World, shop: RelyingParty
) -> None:
    address = await visitor.open(address_of(shop))
    _, _, way = address.text.partition("/app/register?")
    forgotten = await visitor.open(f"/app/forgot-password?{way.partition(chr(34))[0]}")
    await visitor.submit(forgotten, "/app/forgot-password", email=EMAIL)

    [queued] = await world.installation.database.transact(mail.claim, 10)
    assert (queued.message.template, queued.message.values["place"]) == (MailTemplate.RESET_PASSWORD, "Shop")
    assert queued.brand is not None
    assert (queued.brand.primary_color, queued.brand.terms_url) == ("#7a1f5c", None)
    page = await visitor.open(f"/auth/reset-password?token={queued.message.values['token']}")
    assert is_branded(page, shop)


async def test_the_account_is_never_under_the_brand_of_an_organization(visitor: Visitor, shop: RelyingParty) -> None:
    page = await visitor.sign_in(path=address_of(shop))
    assert page.status == 200

    account = await visitor.open("/app/account")

    assert account.status == 200
    assert not shows(account.text, HEAD)
    assert "/branding/" not in account.text


async def test_a_refusal_on_the_way_has_the_brand_as_well(visitor: Visitor, world: World, shop: RelyingParty) -> None:
    world.user("member@example.com")
    await visitor.sign_in("member@example.com")
    _, _, way = (await visitor.open(address_of(shop, prompt="login"))).text.partition('name="return_id" value="')
    way = way.partition('"')[0]
    chosen = await visitor.open(f"/app/choose-organization?return_id={way}")
    token = chosen.text.partition('name="form_token" value="')[2].partition('"')[0]
    fields: dict[str, Any] = {"form_token": token, "return_id": way, "org_slug": "unknown"}

    refused = await visitor.post("/app/choose-organization", fields)
    without = await visitor.post("/app/choose-organization", {**fields, "return_id": ""})

    assert (refused.status, without.status) == (404, 404)
    assert is_branded(refused, shop)
    assert not shows(without.text, HEAD)


async def test_the_pages_of_a_device_have_the_brand(visitor: Visitor, shop: RelyingParty) -> None:
    device = (await shop.post("/auth/device/code", {"scope": "openid"})).json
    path = device["verification_uri_complete"].removeprefix("http://localhost:8000")

    asked = await visitor.open(path)
    question = await visitor.sign_in(path=path)
    done = await visitor.submit(question, "/auth/device/deny")

    assert all(is_branded(page, shop) for page in (asked, question, done))
    assert "The device is not signed in" in done.text


async def test_a_refusal_by_saml_and_its_question_have_the_brand(visitor: Visitor, saml_shop: SamlService) -> None:
    await brand(saml_shop.world, saml_shop)
    saml_shop.world.user("stranger@example.com")

    asked = await visitor.open(saml_shop.sso())
    await visitor.sign_in("stranger@example.com")
    denied = await visitor.open(saml_shop.sso())
    malformed = await visitor.open(f"{saml_shop.sso().partition('?')[0]}?SAMLRequest=x")

    assert is_branded(asked, saml_shop)
    assert denied.status == 403
    assert is_branded(denied, saml_shop)
    assert malformed.status == 400
    assert is_branded(malformed, saml_shop)
