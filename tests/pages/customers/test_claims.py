"""The page of claims: the list by lines, and what the tokens of a person would say."""

from __future__ import annotations

import re

from markupsafe import escape

from core.organizations.choices import CHOICES_FOUND_MAX, CHOICES_MAX
from tests.shown_text import shows
from tests.world.directory import insert_directory
from tests.world.trade import insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/services/shop/claims"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


async def test_claims_are_saved_by_lines_and_shown_with_their_sources(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    world.connection.execute("UPDATE organizations SET metadata = jsonb_build_object('note', %s::text)", (HOSTILE,))
    await visitor.sign_in("owner@example.com")
    lines = "note organization.metadata.note access\n\nslug organization.slug\r\nmissing customer.slug"

    saved = await visitor.submit(await visitor.open(PAGE), PAGE, {"claims": lines})

    assert world.value("SELECT claims FROM services") == [
        {"claim": "note", "from": "organization.metadata.note", "in_access_token": True},
        {"claim": "slug", "from": "organization.slug", "in_access_token": False},
        {"claim": "missing", "from": "customer.slug", "in_access_token": False},
    ]
    assert "note organization.metadata.note access" in saved.text
    shown = await visitor.open(f"{PAGE}?email=Member%40example.com")
    assert shown.text.count(str(escape(HOSTILE))) >= 4
    assert not shows(shown.text, HOSTILE)
    assert shows(shown.text, "Left out: the source has no value.")
    assert not shows(shown.text, "eyJ")
    assert trade.vendor.ids


async def test_what_cannot_be_is_refused_and_a_stranger_is_not_shown(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    trade.vendor.user("stranger")
    await visitor.sign_in("owner@example.com")
    page = await visitor.open(PAGE)

    for typed in ("alone", "a b c d", "a user.id Access", "a user.password"):
        refused = await visitor.submit(page, PAGE, {"claims": typed})
        assert refused.status == 400, typed
        assert typed in refused.text
    for query in (
        "email=stranger%40example.com",
        "email=nobody%40example.com",
        "email=member%40example.com&customer=x",
    ):
        shown = await visitor.open(f"{PAGE}?{query}")
        assert shown.status == 200, shown.text
        assert not shows(shown.text, "preferred_username")


async def test_roles_and_groups_of_a_person_are_shown_first(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    directory = insert_directory(trade.vendor, groups="directory")
    await directory.create_group(HOSTILE, "member")
    world.connection.execute("UPDATE services SET group_claims = '{all}', groups_as = 'names'")
    await visitor.sign_in("owner@example.com")

    page = await visitor.open(PAGE)
    shown = await visitor.open(f"{PAGE}?email=member%40example.com")

    assert shows(page.text, "Roles and groups")
    [table] = re.findall(r"<table.*?</table>", shown.text, re.DOTALL)
    rows = [re.sub("<[^>]*>", "", row).split() for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)]
    assert ["role", "&#34;member&#34;", "Access", "token"] in rows
    assert str(escape(HOSTILE)) in table
    assert not shows(shown.text, HOSTILE)
    # A person who is no member has neither a role nor groups there.
    stranger = trade.vendor.user("stranger")
    world.link(trade.vendor.organization_id, trade.service.id, stranger)
    world.connection.execute("UPDATE service_users SET last_login_at = now()")
    told = await visitor.open(f"{PAGE}?email=stranger%40example.com")
    assert shows(told.text, "service_roles")
    world.connection.execute("UPDATE services SET group_claims = '{}', roles = '[]', role_ids = '{}'")
    nothing = await visitor.open(f"{PAGE}?email=stranger%40example.com")
    assert shows(nothing.text, "The tokens say nothing of roles and groups.")


async def test_a_member_reads_the_list_and_no_token(visitor: Visitor, world: World) -> None:
    insert_trade(world)
    await visitor.sign_in("member@example.com")

    page = await visitor.open(f"{PAGE}?email=owner%40example.com")

    assert page.status == 200
    assert shows(page.text, "You cannot see what tokens would say.")
    assert not shows(page.text, "preferred_username")


async def test_the_person_and_the_customer_of_a_preview_are_chosen(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    await trade.begin()
    trade.vendor.user("memo")
    customer_id = world.value("SELECT id FROM service_customers")
    await visitor.sign_in("owner@example.com")

    found = (await visitor.open(f"{PAGE}?find_email=mem&customer={customer_id}")).text
    chosen = (await visitor.open(f"{PAGE}?find_email=mem&email=member%40example.com")).text
    whole = (await visitor.open(f"{PAGE}?find_email=member%40example.com")).text

    assert re.findall('name="email" type="radio" value="([^"]+)"', found) == ["member@example.com"]
    assert f'<option value="{customer_id}" selected>Beta (beta)</option>' in found
    assert not shows(found, "preferred_username")
    assert shows(chosen, "preferred_username")
    assert shows(whole, "preferred_username")


async def test_a_preview_offers_customers_where_there_are_some(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    await trade.offer()
    await visitor.sign_in("owner@example.com")

    page = await visitor.open(PAGE)

    assert 'id="customer"' not in page.text


async def test_offers_hide_no_customer_to_choose_from(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    bolt = world.customer(trade.service, world.organization("bolt-works"))
    for number in range(CHOICES_FOUND_MAX + 1):
        await trade.offer(f"bolt-{number}")
    await visitor.sign_in("owner@example.com")

    few = await visitor.open(PAGE)
    for number in range(CHOICES_MAX):
        world.customer(trade.service, world.organization(f"customer-{number}"))
    found = await visitor.open(f"{PAGE}?find_customer=bolt")

    assert f'<option value="{bolt}"' in few.text
    assert f'name="customer" type="radio" value="{bolt}"' in found.text
    assert not shows(found.text, "There are more.")
