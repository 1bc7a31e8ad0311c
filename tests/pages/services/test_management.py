"""The settings of a service in the console, and its deletion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markupsafe import escape

from core.organizations.choices import CHOICES_MAX
from tests.pages.services.shop import CONSOLE, shop_of
from tests.shown_text import shows
from tests.world.builder import Service
from tests.world.directory import insert_directory
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

OPTIONS = f"{CONSOLE}/shop/options"
DELETION = f"{CONSOLE}/shop/deletion"
KEYS = '{"keys": [{"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}]}'


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin and a member."""
    team = world.team()
    for name, role in (("ann", "owner"), ("bob", "admin"), ("cid", "member")):
        team.add(name, role)
    return team


@pytest.fixture
def shop(world: World, people: Team) -> Service:
    """A service of the organization."""
    return shop_of(world, people)


@pytest.fixture
async def ann(shop: Service, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def stored(world: World, *columns: str) -> list[Any]:
    """Return columns of the one service."""
    [(row,)] = world.connection.execute("SELECT to_jsonb(s) FROM services s").fetchall()
    return [row[column] for column in columns]


async def test_groups_in_tokens_are_ticked_by_their_names(world: World, people: Team, ann: Visitor) -> None:
    directory = insert_directory(people, groups="directory")
    ids = [
        (await directory.request("POST", "/Groups", {"displayName": name})).json["id"]
        for name in ("Readers", "<i>Writers</i>")
    ]

    page = await ann.open(OPTIONS)
    saved = await ann.submit(page, OPTIONS, {"name": "Shop", "service_type": "web", "group_claims": ids[1]})

    refused = await ann.submit(saved, OPTIONS, {"name": "Shop", "service_type": "web", "group_claims": "none"})
    await ann.submit(saved, OPTIONS, {"name": "Shop", "service_type": "web", "group_claims": f"{ids[0]}\r\n{ids[1]}"})
    both = stored(world, "group_claims")
    await ann.submit(await ann.open(OPTIONS), OPTIONS, {"name": "Shop", "service_type": "web"})

    assert re.findall('name="group_claims" type="checkbox" value="([^"]+)"', page.text) == ["all", *ids]
    assert "<i>Writers" not in page.text
    assert re.findall('name="group_claims" type="checkbox" value="([^"]+)" checked', saved.text) == [ids[1]]
    assert refused.status == 400
    # What is no group any more stays, so that it is seen and can be taken out.
    assert 'name="group_claims" type="checkbox" value="none" checked' in refused.text
    assert both == [ids]
    assert stored(world, "group_claims") == [[]]


async def test_the_form_of_groups_is_chosen(world: World, ann: Visitor) -> None:
    page = await ann.open(OPTIONS)
    assert '<option value="objects" selected>' in page.text
    settings = {"name": "Shop", "service_type": "web"}

    saved = await ann.submit(page, OPTIONS, {**settings, "groups_as": "ids"})
    refused = await ann.submit(saved, OPTIONS, {**settings, "groups_as": "emails"})

    assert '<option value="ids" selected>' in saved.text
    assert refused.status == 400
    assert shows(refused.text, "Choose one of the forms.")
    assert stored(world, "groups_as") == ["ids"]


async def test_the_signature_of_tokens_is_chosen(world: World, ann: Visitor) -> None:
    page = await ann.open(OPTIONS)
    assert '<option value="RS256" selected>' in page.text
    settings = {"name": "Shop", "service_type": "web"}

    saved = await ann.submit(page, OPTIONS, {**settings, "token_signing": "ES256"})
    refused = await ann.submit(saved, OPTIONS, {**settings, "token_signing": "HS256"})
    # A form that says nothing of it, such as one of before, leaves it as it is.
    await ann.submit(await ann.open(OPTIONS), OPTIONS, {**settings, "token_signing": ""})

    assert '<option value="ES256" selected>' in saved.text
    assert refused.status == 400
    assert shows(refused.text, "Choose one of the algorithms.")
    assert stored(world, "token_signing") == ["ES256"]


async def test_groups_in_tokens_are_typed_by_who_sees_no_members_and_of_many(people: Team, ann: Visitor) -> None:
    directory = insert_directory(people, groups="directory")
    people.custom_role("shopkeeper", "services.manage")
    people.add("dora", "shopkeeper")
    dora = Visitor(people.world.client)
    await dora.sign_in("dora@example.com")

    by_dora = await dora.open(OPTIONS)
    for number in range(CHOICES_MAX + 1):
        await directory.request("POST", "/Groups", {"displayName": f"Readers {number}"})
    of_many = await ann.open(OPTIONS)

    for page in (by_dora, of_many):
        assert '<textarea id="group_claims"' in page.text
        assert "All groups" not in page.text


async def test_every_setting_is_changed(world: World, ann: Visitor) -> None:
    page = await ann.submit(
        await ann.open(OPTIONS),
        OPTIONS,
        {
            "name": "Corner shop",
            "service_type": "api",
            "post_logout_redirect_uris": "https://shop.example/bye\r\n\r\n https://shop.example/gone ",
            "frontchannel_logout_uri": "https://shop.example/front",
            "device_activation_uri": "https://shop.example/device",
            "websuite_scopes": "openid  email",
            "jwks": KEYS,
        },
    )

    assert "The settings of the service are saved." in page.text
    columns = (
        *("name", "service_type", "post_logout_redirect_uris", "frontchannel_logout_uri", "device_activation_uri"),
        *("websuite_scopes", "codehost_scopes", "backchannel_logout_uri"),
    )
    assert stored(world, *columns) == [
        *("Corner shop", "api", ["https://shop.example/bye", "https://shop.example/gone"]),
        *("https://shop.example/front", "https://shop.example/device", ["openid", "email"], None, None),
    ]
    [(details,)] = world.audit_entries("service.updated", "details")
    assert set(details["changes"]) >= {"name", "service_type", "jwks"}


async def test_a_form_without_a_change_records_nothing(world: World, ann: Visitor) -> None:
    form = await ann.open(OPTIONS)

    page = await ann.submit(form, OPTIONS, service_type="web", security_profile="")

    assert page.status == 200
    assert world.audit_entries("service.updated") == []


async def test_everything_that_is_wrong_is_said_at_its_field_and_stays(world: World, ann: Visitor) -> None:
    page = await ann.submit(
        await ann.open(OPTIONS),
        OPTIONS,
        {
            "service_type": "web",
            "frontchannel_logout_uri": "http://shop.example/front",
            "websuite_scopes": 'a"b',
            "post_logout_redirect_uris": "nowhere",
        },
    )
    odd = await ann.submit(page, OPTIONS, service_type="toaster", security_profile="fapi9", jwks="[" * 5000)

    assert page.status == 400
    for name in ("frontchannel_logout_uri", "websuite_scopes", "post_logout_redirect_uris"):
        assert f'id="{name}-problem"' in page.text
    assert 'value="http://shop.example/front"' in page.text
    assert ">nowhere</textarea>" in page.text
    assert odd.status == 400
    for name in ("service_type", "security_profile", "jwks"):
        assert f'id="{name}-problem"' in odd.text


async def test_settings_that_were_changed_meanwhile_are_not_overwritten(world: World, ann: Visitor) -> None:
    form = await ann.open(OPTIONS)
    world.connection.execute("UPDATE services SET name = 'Other', updated_at = updated_at + interval '1 second'")

    page = await ann.submit(form, OPTIONS, name="Mine", service_type="web")

    assert page.status == 409
    assert "This service has been changed meanwhile." in page.text
    assert 'value="Mine"' in page.text
    assert stored(world, "name") == ["Other"]


async def test_a_service_that_becomes_public_loses_its_secret(world: World, ann: Visitor) -> None:
    await ann.submit(await ann.open(OPTIONS), OPTIONS, service_type="mobile")

    assert stored(world, "service_type", "client_secret_hash") == ["mobile", None]


async def test_a_member_reads_the_settings_and_sees_what_is_closed(shop: Service, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(OPTIONS)

    assert "<code>services.manage</code>" in page.text
    assert f'action="{OPTIONS}"' not in page.text
    assert "Only the owner can do this." in page.text


async def test_the_owner_deletes_a_service_whose_slug_was_typed(
    world: World, people: Team, shop: Service, ann: Visitor
) -> None:
    world.link(people.organization_id, shop.id, world.user("eve@example.com"))
    asked = await ann.open(DELETION)
    assert "This ends at once, for good" in asked.text

    wrong = await ann.submit(asked, DELETION, slug="blog", note="No longer used")
    page = await ann.submit(wrong, DELETION, slug=" shop ")

    assert wrong.status == 400
    assert "This is not the slug of the service." in wrong.text
    assert 'value="No longer used"' in wrong.text
    assert "The service is deleted for good." in page.text
    assert world.connection.execute("SELECT FROM services").fetchall() == []
    [(details,)] = world.audit_entries("service.deleted", "details")
    assert details["note"] == "No longer used"


async def test_only_the_owner_deletes_a_service(shop: Service, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")

    assert f'href="{DELETION}"' not in (await visitor.open(OPTIONS)).text
    assert (await visitor.open(DELETION)).status == 403


async def test_scopes_are_lines_and_what_a_line_lacks_is_said_beside_it(world: World, ann: Visitor) -> None:
    # A browser sends the kind that the page has chosen.
    kind = {"service_type": "web"}
    lines = "orders.read See your <b>orders</b>.\r\n\r\n  orders.write   Change  your orders. "

    page = await ann.submit(
        await ann.open(OPTIONS), OPTIONS, {**kind, "scopes": lines, "machine_scopes": " orders.read  "}
    )

    scopes = [
        {"name": "orders.read", "description": "See your <b>orders</b>."},
        {"name": "orders.write", "description": "Change  your orders."},
    ]
    assert stored(world, "scopes", "machine_scopes") == [scopes, ["orders.read"]]
    assert escape("See your <b>orders</b>.") in page.text
    refused = await ann.submit(page, OPTIONS, {**kind, "scopes": "orders.read"})
    assert refused.status == 400
    assert stored(world, "scopes") == [scopes]
    # With the same lines another change leaves them as they are.
    again = await ann.open(OPTIONS)
    await ann.submit(again, OPTIONS, {**kind, "scopes": lines, "name": "Corner shop"})
    assert stored(world, "scopes", "machine_scopes", "name") == [scopes, ["orders.read"], "Corner shop"]
