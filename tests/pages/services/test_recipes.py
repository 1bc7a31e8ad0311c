"""The recipes on the page of a service: how to connect a program of others, with the values of the service."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.services.services import ServiceType
from entrypoints.pages.console.recipes import RECIPES
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.services.connecting import kind_of
from tests.application import Answer
from tests.pages.services.shop import CONSOLE, SECRET, shop_of
from tests.world.builder import Service
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

OWNER = "ann@example.com"
PGADMIN = "https://db.acme.example/pg/oauth2/authorize"


@pytest.fixture
def shop(world: World) -> Service:
    """A confidential service of an organization with an owner and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    return shop_of(world, team)


def settings(page: Answer) -> str:
    """Return the settings that a page shows for a program, with the name of each file before its text."""
    found = re.findall(r'<pre class="code" id="copy-recipe-\d+"[^>]*><code>(.*?)</code>', page.text, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", "\n".join(found)))


@pytest.mark.usefixtures("shop")
async def test_the_page_offers_every_program_and_shows_none_at_first(visitor: Visitor) -> None:
    page = await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop")

    offered = re.findall(r'<option value="([^"]*)"', page.text[page.text.index('<select id="recipe"') :])
    assert offered[: len(RECIPES) + 1] == ["", *RECIPES]
    assert settings(page) == ""
    assert settings(await visitor.open(f"{CONSOLE}/shop?recipe=nothing")) == ""


async def test_a_recipe_has_the_values_of_the_service_and_never_its_secret(
    world: World, shop: Service, visitor: Visitor
) -> None:
    world.connection.execute("UPDATE services SET redirect_uris = %s", ([PGADMIN],))

    page = await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop?recipe=pgadmin")

    shown = settings(page)
    assert f'"OAUTH2_CLIENT_ID": "{shop.client_id}"' in shown
    assert "/auth/authorize" in shown
    assert "YOUR_CLIENT_SECRET" in shown
    assert SECRET not in page.text
    assert f">{PGADMIN}</textarea>" in page.text
    assert ">https://db.acme.example/pg/</textarea>" in page.text
    assert "It is registered." in page.text
    assert "Tokens of this service name no groups yet." in page.text
    assert "tried with version 9.18" in page.text


@pytest.mark.usefixtures("shop")
async def test_the_redirect_uri_of_a_recipe_is_added_by_its_button(world: World, visitor: Visitor) -> None:
    page = await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop?recipe=grafana")
    wanted = "https://shop.example/login/generic_oauth"
    assert "It is not registered yet." in page.text

    [form] = [form for form in forms_of(page) if form.fields.get("redirect_uri") == wanted]
    await visitor.post(form.action, form.fields)

    assert world.connection.execute("SELECT redirect_uris FROM services").fetchall() == [
        (["https://shop.example/callback", wanted],)
    ]
    assert "It is registered." in (await visitor.open(f"{CONSOLE}/shop?recipe=grafana")).text


@pytest.mark.usefixtures("shop")
async def test_a_recipe_says_which_kind_of_service_it_needs(visitor: Visitor) -> None:
    kind = "This program needs a service of the kind Single-page application."

    assert kind in (await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop?recipe=oidc-client-ts")).text
    assert kind not in (await visitor.open(f"{CONSOLE}/shop?recipe=gitlab")).text


@pytest.mark.usefixtures("shop")
async def test_a_recipe_of_saml_has_the_addresses_of_the_identity_provider(visitor: Visitor) -> None:
    page = await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop?recipe=passport-saml")

    assert "/saml/acme/shop/sso" in settings(page)
    assert ">https://shop.example/saml/acs</textarea>" in page.text
    assert f'href="{CONSOLE}/shop/single-sign-on"' in page.text


@pytest.mark.usefixtures("shop")
async def test_the_page_says_when_tokens_name_groups_as_no_program_reads_them(world: World, visitor: Visitor) -> None:
    said = "Tokens of this service do not have the names of groups as a plain list"
    world.connection.execute("UPDATE services SET group_claims = '{all}', groups_as = 'objects'")

    assert said in (await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop?recipe=directus")).text
    # Assertions have names.
    assert said not in (await visitor.open(f"{CONSOLE}/shop?recipe=passport-saml")).text
    world.connection.execute("UPDATE services SET groups_as = 'names'")
    assert said not in (await visitor.open(f"{CONSOLE}/shop?recipe=directus")).text


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
@pytest.mark.usefixtures("shop")
async def test_every_recipe_is_shown_in_every_language(visitor: Visitor, tag: str) -> None:
    await visitor.switch(await visitor.sign_in(OWNER, path=f"{CONSOLE}/shop"), tag)

    for word, recipe in RECIPES.items():
        page = await visitor.open(f"{CONSOLE}/shop?recipe={word}")

        assert page.status == 200, word
        assert f"<h3>{recipe.name}</h3>" in unescape(page.text), word
        assert "@CLIENT@" not in page.text, word


@pytest.mark.usefixtures("shop")
async def test_who_may_not_change_the_service_reads_the_recipe(visitor: Visitor) -> None:
    page = await visitor.sign_in("cid@example.com", path=f"{CONSOLE}/shop?recipe=grafana")

    assert "It is not registered yet." in page.text
    assert "client_secret = YOUR_CLIENT_SECRET" in settings(page)
    assert all("redirect_uri" not in form.fields for form in forms_of(page))


@pytest.mark.parametrize(
    ("service_type", "name"),
    [
        (ServiceType.WEB, "Web application"),
        (ServiceType.MOBILE, "Single-page application"),
        (ServiceType.DESKTOP, "Mobile or desktop application"),
        (ServiceType.API, "Machine or API"),
    ],
)
def test_a_recipe_names_the_kind_that_the_page_of_a_new_service_offers(service_type: ServiceType, name: str) -> None:
    assert kind_of(service_type).name == name
