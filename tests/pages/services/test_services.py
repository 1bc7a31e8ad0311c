"""The pages of the services of an organization: the list, creating one, redirect URIs, and the secret."""

from __future__ import annotations

import html
import re

import pytest

from core.secrets import hash_token
from tests.pages.copied import copied
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

HOSTILE = "<b onclick=alert(1)>Bolt</b>"
SHOP = f"{CONSOLE}/shop"
REDIRECT_URI = "https://shop.example/callback"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, a member and a role without capabilities."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    team.custom_role("clerk")
    team.add("kim", "clerk")
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def test_without_a_service_the_kinds_are_shown_as_cards(ann: Visitor) -> None:
    page = await ann.open(CONSOLE)

    for word in ("web", "spa", "app", "api"):
        assert f'href="{CONSOLE}/new?kind={word}"' in page.text


@pytest.mark.parametrize(
    ("kind", "service_type", "has_secret"),
    [("web", "web", True), ("spa", "mobile", False), ("app", "mobile", False), ("api", "api", True)],
)
async def test_a_service_of_each_kind_is_created_and_its_secret_is_shown_once(
    world: World, ann: Visitor, kind: str, service_type: str, has_secret: bool
) -> None:
    form = await ann.open(f"{CONSOLE}/new?kind={kind}")

    page = await ann.submit(
        form, f"{CONSOLE}/new", access="everyone", name="Shop", slug="shop", redirect_uri=REDIRECT_URI
    )

    [(stored_type, uris, client_id, secret_hash)] = world.connection.execute(
        "SELECT service_type, redirect_uris, client_id, client_secret_hash FROM services"
    ).fetchall()
    assert (stored_type, uris) == (service_type, [REDIRECT_URI])
    assert "The service is created." in page.text
    assert copied(page, "client-id") == str(client_id)
    assert ('id="copy-secret"' in page.text) is has_secret
    if has_secret:
        secret = copied(page, "secret")
        assert hash_token(secret) == secret_hash
        assert secret in copied(page, "program-curl")
        assert secret not in (await ann.open(SHOP)).text
        assert "YOUR_CLIENT_SECRET" in copied(await ann.open(SHOP), "program-curl")


async def test_the_secret_has_to_be_kept_before_a_missing_redirect_uri_is_added(ann: Visitor) -> None:
    for slug, kind, redirect_uri, is_said in (
        ("bare", "web", "", True),
        ("whole", "web", REDIRECT_URI, False),
        ("program", "api", "", False),
    ):
        form = await ann.open(f"{CONSOLE}/new?kind={kind}")
        filled = {"access": "everyone", "name": "Shop", "slug": slug, "redirect_uri": redirect_uri}

        page = await ann.submit(form, f"{CONSOLE}/new", filled)

        assert 'id="copy-secret"' in page.text, slug
        assert ("Keep it before you add a redirect URI" in page.text) is is_said, slug


async def test_what_is_wrong_with_a_new_service_is_said_and_what_was_typed_stays(
    world: World, people: Team, ann: Visitor
) -> None:
    shop_of(world, people)
    form = await ann.open(f"{CONSOLE}/new?kind=web")

    taken = await ann.submit(form, f"{CONSOLE}/new", access="members", name="Second", slug="shop")
    odd = await ann.submit(taken, f"{CONSOLE}/new", slug="no slug", redirect_uri="http://shop.example")
    world.connection.execute("UPDATE organizations SET max_services = 1")
    full = await ann.submit(odd, f"{CONSOLE}/new", slug="second", redirect_uri="")

    assert taken.status == 409
    assert "Another service of this organization has this slug already" in taken.text
    assert 'value="Second"' in taken.text
    assert odd.status == 400
    assert "An address begins with https" in odd.text
    assert full.status == 400
    assert "Your tier allows no more services." in full.text
    assert 'value="Second"' in full.text


async def test_a_new_service_offers_the_redirect_uri_of_its_programs(world: World, people: Team, ann: Visitor) -> None:
    local = "http://localhost:8080/callback"
    form = await ann.open(f"{CONSOLE}/new?kind=web")

    created = await ann.submit(form, f"{CONSOLE}/new", access="everyone", name="Shop", slug="shop")
    added = await ann.submit(await ann.open(SHOP), f"{SHOP}/redirect-uris")

    assert f'redirect_uri="{local}",' in copied(created, "program-fastapi")
    assert "No redirect URI is registered yet" in created.text
    assert redirect_uris(world) == [local]
    assert "No redirect URI is registered yet" not in added.text
    assert "below answer at this address" not in added.text


async def test_services_are_found_by_a_part_of_the_name_or_the_slug_and_by_the_client_id(
    world: World, people: Team, ann: Visitor
) -> None:
    shop_of(world, people)
    world.service(people.organization_id, "blog")
    world.connection.execute("UPDATE services SET name = %s WHERE slug = 'shop'", (HOSTILE,))

    everything, bolt, blog, nothing = [
        await ann.open(f"{CONSOLE}?search={word}") for word in ("", "BOLT", "blo", "%25")
    ]

    assert f'href="{SHOP}"' in everything.text
    assert f'href="{CONSOLE}/blog"' in everything.text
    assert HOSTILE not in everything.text
    assert f'href="{SHOP}"' in bolt.text
    assert f'href="{CONSOLE}/blog"' not in bolt.text
    assert f'href="{CONSOLE}/blog"' in blog.text
    assert "No service has this in its name or slug." in nothing.text
    client_id = world.value("SELECT client_id FROM services WHERE slug = 'blog'")
    for path in (f"{CONSOLE}?search={str(client_id).upper()}", f"/app/organizations/acme/search?q={client_id}"):
        found = (await ann.open(path)).text
        assert (f'href="{CONSOLE}/blog"' in found, f'href="{SHOP}"' in found) == (True, False), path


async def test_a_long_list_goes_on_and_stays_small(world: World, people: Team, ann: Visitor) -> None:
    for number in range(60):
        world.service(people.organization_id, f"{'x' * 40}-{number:02}", name="y" * 100)

    page, seen = CONSOLE, set[str]()
    while page:
        answer = await ann.open(page)
        assert len(answer.text.encode()) < 44 * 1024
        seen |= set(re.findall(r'href="[^"]*/services/x+-(\d\d)"', answer.text))
        links = [html.unescape(link) for link in re.findall(r'href="([^"]*after=[^"]*)"', answer.text)]
        page = links[-1] if links else ""

    assert len(seen) == 60


async def test_the_tabs_of_a_service_have_titles_of_their_own_and_the_first_is_small(
    world: World, people: Team, ann: Visitor
) -> None:
    shop_of(world, people)
    tabs = ("", "/options", "/grants", "/plans", "/api-keys", "/single-sign-on")

    texts = [(await ann.open(SHOP + tab)).text for tab in tabs]

    titles = [re.findall("<title>(.*?)</title>", text)[0] for text in texts]
    assert len(set(titles)) == len(tabs)
    assert all(title.count(" · ") == 3 for title in titles)
    assert len(texts[0].encode()) < 44 * 1024


async def test_redirect_uris_are_added_and_removed(world: World, people: Team, ann: Visitor) -> None:
    shop_of(world, people)
    added = await ann.submit(await ann.open(SHOP), f"{SHOP}/redirect-uris", redirect_uri="https://shop.example/other")
    assert redirect_uris(world) == [REDIRECT_URI, "https://shop.example/other"]

    removed = await ann.submit(added, f"{SHOP}/redirect-uris/remove", redirect_uri=REDIRECT_URI)
    assert redirect_uris(world) == ["https://shop.example/other"]
    assert "No sign-in leads there any more." in removed.text

    refused = await ann.submit(removed, f"{SHOP}/redirect-uris", redirect_uri="http://shop.example/plain")
    assert refused.status == 400
    assert "http is only for localhost" in refused.text
    assert 'value="http://shop.example/plain"' in refused.text


async def test_a_form_on_a_service_that_was_changed_meanwhile_says_so_and_keeps_what_was_typed(
    world: World, people: Team, ann: Visitor
) -> None:
    shop_of(world, people)
    shown, rotation = await ann.open(SHOP), await ann.open(f"{SHOP}/secret")
    world.connection.execute("UPDATE services SET updated_at = updated_at + interval '1 second'")

    added = await ann.submit(shown, f"{SHOP}/redirect-uris", redirect_uri="https://shop.example/other")
    removed = await ann.submit(shown, f"{SHOP}/redirect-uris/remove", redirect_uri=REDIRECT_URI)
    rotated = await ann.submit(rotation, f"{SHOP}/secret")

    for answer in (added, removed, rotated):
        assert answer.status == 409
        assert "This service has been changed meanwhile." in answer.text
    assert 'value="https://shop.example/other"' in added.text
    assert redirect_uris(world) == [REDIRECT_URI]


async def test_a_redirect_uri_that_is_gone_is_said(world: World, people: Team, ann: Visitor) -> None:
    shop_of(world, people)
    shown = await ann.open(SHOP)
    world.connection.execute("UPDATE services SET redirect_uris = '{}'")

    answer = await ann.submit(shown, f"{SHOP}/redirect-uris/remove", redirect_uri=REDIRECT_URI)

    assert answer.status == 409


async def test_the_secret_is_replaced_and_shown_once(world: World, people: Team, ann: Visitor) -> None:
    shop_of(world, people)

    page = await ann.submit(await ann.open(f"{SHOP}/secret"), f"{SHOP}/secret")

    secret = copied(page, "secret")
    assert page.headers["Cache-Control"] == "no-store"
    [(secret_hash,)] = world.connection.execute("SELECT client_secret_hash FROM services").fetchall()
    assert hash_token(secret) == secret_hash
    assert secret not in (await ann.open(SHOP)).text


async def test_a_member_sees_the_values_and_what_is_closed(world: World, people: Team, visitor: Visitor) -> None:
    shop_of(world, people)
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(SHOP)
    listed = await visitor.open(CONSOLE)

    assert copied(page, "client-id")
    assert "<code>services.manage</code>" in page.text
    assert f'action="{SHOP}/redirect-uris"' not in page.text
    assert f'href="{SHOP}/secret"' not in page.text
    assert "<code>services.create</code>" in listed.text


async def test_from_what_is_gone_a_button_leads_to_its_list(
    world: World, people: Team, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    shop_of(world, people)
    await visitor.sign_in("ann@example.com")
    organization, gone = "/app/organizations/acme", "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"

    for path, leads_to in (
        (f"webhooks/{gone}", "webhooks"),
        (f"webhooks/{gone}/deliveries", "webhooks"),
        ("services/gone", "services"),
        ("services/gone/plans/new", "services"),
        (f"services/shop/plans/{gone}", "services/shop/plans"),
        (f"services/shop/api-keys/{gone}", "services/shop/api-keys"),
        (f"sign-in/connections/{gone}", "sign-in"),
        (f"sign-in/mail-domains/{gone}", "sign-in/mail-domains"),
        (f"jobs/{gone}", "jobs"),
        ("roles/gone", "roles"),
        (f"keys/{gone}/delete", "keys"),
    ):
        with subtests.test(path=path):
            answer = await visitor.open(f"{organization}/{path}")
            assert answer.status == 404
            main = answer.text.partition("<main")[2].partition("</main>")[0]
            assert f'href="{organization}/{leads_to}"' in main


async def test_a_grant_opens_the_service_and_nothing_else(world: World, people: Team, visitor: Visitor) -> None:
    shop = shop_of(world, people)
    world.grant(people.organization_id, shop.id, people.ids["kim"], "manager")
    await visitor.sign_in("kim@example.com")

    page = await visitor.open(SHOP)
    await visitor.submit(page, f"{SHOP}/redirect-uris", redirect_uri="https://shop.example/other")

    assert "https://shop.example/other" in redirect_uris(world)
    assert (await visitor.open(CONSOLE)).status == 403
    assert f'href="{CONSOLE}"' not in page.text
    assert "The list of all services is closed to you." in page.text
    assert "<code>services.view</code>" in page.text


def redirect_uris(world: World) -> list[str]:
    """Return the redirect URIs of the one service."""
    [(uris,)] = world.connection.execute("SELECT redirect_uris FROM services").fetchall()
    return uris
