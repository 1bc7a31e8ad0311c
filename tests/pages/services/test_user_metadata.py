"""The pages of metadata: of a service's user, of an organization and of a customer."""

from __future__ import annotations

import json

from markupsafe import escape

from tests.shown_text import shows
from tests.world.trade import insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World

HOSTILE = "<b onclick=alert(1)>Bolt</b>"


async def test_a_page_saves_what_differs_from_what_it_has_shown(visitor: Visitor, world: World) -> None:
    team = world.team()
    team.add("ann", "owner")
    service = world.service(team.organization_id)
    eli = team.user("eli")
    world.link(team.organization_id, service.id, eli)
    await visitor.sign_in("ann@example.com")
    page = f"/app/organizations/acme/services/shop/users/{eli}"
    shown = await visitor.open(page)

    saved = await visitor.submit(shown, page, {"metadata": json.dumps({"plan": HOSTILE, "seats": 5})})

    assert not shows(saved.text, HOSTILE)
    assert escape(HOSTILE) in saved.text
    # Another person, or a program, has changed another name meanwhile.
    world.connection.execute('UPDATE service_user_metadata SET metadata = metadata || \'{"seats": 6, "new": true}\'')
    await visitor.submit(saved, page, {"metadata": json.dumps({"seats": 5})})
    assert world.value("SELECT metadata FROM service_user_metadata") == {"seats": 6, "new": True}
    assert page in (await visitor.open(f"/app/organizations/acme/people/end-users/{eli}")).text


async def test_what_is_no_object_is_refused_and_shown_again(visitor: Visitor, world: World) -> None:
    team = world.team()
    team.add("ann", "owner")
    await visitor.sign_in("ann@example.com")
    page = "/app/organizations/acme/settings/metadata"
    shown = await visitor.open(page)

    for typed in ("[", "[]", '"text"', '{"a": null}', '{"a": {"b": 1}}', '{"two words": 1}'):
        refused = await visitor.submit(shown, page, {"metadata": typed})
        assert refused.status == 400, typed
        assert escape(typed) in refused.text, typed
    assert (await visitor.submit(shown, page, {"metadata": '{"a": 1}'})).status == 200
    assert world.value("SELECT metadata FROM organizations WHERE slug = 'acme'") == {"a": 1}


async def test_a_member_who_may_not_change_it_reads_it(visitor: Visitor, world: World) -> None:
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.connection.execute('UPDATE organizations SET metadata = \'{"plan": "gold"}\'')
    await visitor.sign_in("bob@example.com")

    page = await visitor.open("/app/organizations/acme/settings/metadata")

    assert shows(page.text, "gold")
    assert "<textarea" not in page.text


async def test_a_vendor_notes_about_a_customer(visitor: Visitor, world: World) -> None:
    trade = insert_trade(world)
    customer_id = await trade.begin()
    await visitor.sign_in("owner@example.com")
    page = f"/app/organizations/acme/services/shop/customers/{customer_id}"
    assert f"{page}/metadata" in (await visitor.open(page)).text
    shown = await visitor.open(f"{page}/metadata")

    await visitor.submit(shown, f"{page}/metadata", {"metadata": '{"crm": "x-1"}'})

    assert world.value("SELECT metadata FROM service_customers") == {"crm": "x-1"}
