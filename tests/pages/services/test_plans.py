"""The tab of a service with its plans."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PLANS = "/app/organizations/acme/services/shop/plans"
NEW = f"{PLANS}/new"
HOSTILE = "<b onclick=alert(1)>Pro</b>"


@pytest.fixture
def shop(world: World) -> Team:
    """An organization with an owner, a member, and a service with its default plan."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(shop: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def make(visitor: Visitor, name: str = "Pro", price: str = "9.90", **fields: str) -> Answer:
    """Create a plan by the form."""
    return await visitor.submit(await visitor.open(NEW), NEW, {"name": name, "price": price, **fields})


def stored(world: World, name: str) -> tuple[int, str, list[str], str | None]:
    """Return the price, the currency, the features and the billing price of the plan with a name."""
    [row] = world.rows("SELECT price_cents, currency, features, billing_price_id FROM plans WHERE name = %s", name)
    return row


def plan_page(world: World, name: str) -> str:
    """Return the address of the plan with a name."""
    return f"{PLANS}/{world.value('SELECT id FROM plans WHERE name = %s', name)}"


async def test_a_plan_is_made_listed_and_found(world: World, ann: Visitor) -> None:
    made = await make(
        ann, HOSTILE, "19,5", currency="EUR", features="reports\n\n export \n", billing_price_id=" price_1 "
    )
    listed = await ann.open(PLANS)

    assert "The plan is created." in made.text
    assert "19.50 EUR" in made.text
    assert stored(world, HOSTILE) == (1950, "eur", ["reports", "export"], "price_1")
    assert "2 found" in listed.text
    assert HOSTILE not in listed.text
    assert "For sale" in listed.text
    assert "For everyone without a subscription" in listed.text
    assert "1 found" not in (await ann.open(f"{PLANS}?search=pro")).text
    assert "One found" in (await ann.open(f"{PLANS}?search=PRO%3C/b")).text
    assert "No plan has this in its name." in (await ann.open(f"{PLANS}?search=%25")).text


async def test_what_is_no_price_is_refused_and_kept(world: World, ann: Visitor) -> None:
    form = await ann.open(NEW)

    for price in (
        *("", "-1", "1e3", "9.999", "1000000", "1.000,00", "NaN", "\u0663", "1 000", "0x10", "9..9", "\u200b1", "7."),
    ):
        refused = await ann.submit(form, NEW, {"name": "Odd", "price": price})

        assert refused.status == 400, price
        assert "Enter an amount from 0 to 999999.99" in refused.text, price
        assert 'value="Odd"' in refused.text, price
    assert world.value("SELECT count(*) FROM plans") == 1


async def test_prices_at_the_limits(world: World, ann: Visitor) -> None:
    for price, cents in (("0", 0), ("999999.99", 99_999_999), ("0.5", 50), (" 7 ", 700)):
        answer = await make(ann, f"Edge {cents}", price)

        assert answer.status == 200, price
        assert stored(world, f"Edge {cents}")[0] == cents, price


async def test_what_the_interface_refuses_is_said_at_its_field(ann: Visitor) -> None:
    refused = await make(ann, " ", currency="euro", features="x" * 101, billing_price_id="two words")

    assert refused.status == 400
    for field in ("name", "currency", "features", "billing_price_id"):
        assert f'id="{field}-problem"' in refused.text


async def test_a_price_of_another_plan_is_refused_and_kept(world: World, ann: Visitor) -> None:
    globex = world.organization("globex")
    world.plan(globex, world.service(globex, "till").id, "Theirs", billing_price_id="price_1")

    refused = await make(ann, "Pro", billing_price_id="price_1")

    assert (refused.status, "Another plan has this price already." in refused.text) == (409, True)
    assert 'value="price_1"' in refused.text
    assert not shows(refused.text, "Theirs")


async def test_a_plan_is_changed(world: World, ann: Visitor) -> None:
    await make(ann, features="reports", billing_price_id="price_1")
    page = plan_page(world, "Pro")

    changed = await ann.submit(
        await ann.open(page), page, {"name": "Team", "price": "12", "features": "reports", "billing_price_id": ""}
    )

    assert "The plan is saved." in changed.text
    assert stored(world, "Team") == (1200, "usd", ["reports"], None)
    assert "It has no price" not in changed.text
    assert "This plan cannot be bought" in changed.text


async def test_a_form_on_a_changed_plan_is_refused_and_keeps_what_was_typed(world: World, ann: Visitor) -> None:
    await make(ann)
    page = plan_page(world, "Pro")
    first, second = await ann.open(page), await ann.open(page)
    await ann.submit(first, page, price="12")

    late = await ann.submit(second, page, price="15", name="Late")
    again = await ann.submit(late, page, price="15", name="Late")

    assert (late.status, "Another person has changed this plan meanwhile." in late.text) == (409, True)
    assert 'value="15"' in late.text
    assert 'value="Late"' in late.text
    assert "12.00 USD" in late.text
    assert again.status == 200
    assert stored(world, "Late")[0] == 1500


async def test_a_plan_with_subscribers_stays_and_one_without_goes_with_the_ended_ones(
    world: World, shop: Team, ann: Visitor
) -> None:
    await make(ann)
    page = plan_page(world, "Pro")
    plan_id: UUID = world.value("SELECT id FROM plans WHERE name = 'Pro'")
    world.subscription(plan_id, shop.user("eli"), "cancelled")
    asked = await ann.open(f"{page}/delete")
    live = world.subscription(plan_id, shop.user("fay"))

    assert "One ended subscription is deleted with it." in asked.text
    assert "One subscription to it is running." in (await ann.open(f"{page}/delete")).text
    refused = await ann.submit(asked, f"{page}/delete")
    assert (refused.status, "This plan has active subscriptions." in refused.text) == (400, True)

    world.connection.execute("UPDATE subscriptions SET status = 'expired' WHERE id = %s", (live,))
    second = await ann.open(f"{page}/delete")
    assert "2 ended subscriptions are deleted with it." in second.text
    assert "The plan is deleted." in (await ann.submit(second, f"{page}/delete")).text
    late = await ann.submit(asked, f"{page}/delete")
    assert (late.status, "This service has no such plan." in late.text) == (404, True)
    assert world.value("SELECT count(*) FROM subscriptions") == 0


async def test_the_default_plan_cannot_be_deleted(world: World, ann: Visitor) -> None:
    page = plan_page(world, "Free")

    shown, asked = await ann.open(page), await ann.open(f"{page}/delete")
    token = re.findall('name="form_token" value="([^"]+)"', shown.text)[0]
    refused = await ann.post(f"{page}/delete", {"form_token": token})

    assert f"{page}/delete" not in shown.text
    for answer in (asked, refused):
        assert "The default plan cannot be deleted" in answer.text
    assert refused.status == 400


async def test_plans_of_another_service_or_organization_are_not_found(world: World, shop: Team, ann: Visitor) -> None:
    desk, globex = world.service(shop.organization_id, "desk"), world.organization("globex")
    theirs = (
        world.plan(shop.organization_id, desk.id, "Desk", billing_price_id="price_1"),
        world.plan(globex, world.service(globex, "till").id, "Till", billing_price_id="price_2"),
    )
    token = re.findall('name="form_token" value="([^"]+)"', (await ann.open(NEW)).text)[0]
    filled = {"form_token": token, "name": "Stolen", "price": "1"}

    for plan_id in theirs:
        for path in (f"{PLANS}/{plan_id}", f"{PLANS}/{plan_id}/delete", f"{PLANS}/{plan_id}/buy"):
            assert (await ann.open(path)).status == 404
            assert (await ann.post(path, filled)).status == 404
    assert sorted(name for (name,) in world.rows("SELECT name FROM plans WHERE billing_price_id IS NOT NULL")) == [
        "Desk",
        "Till",
    ]


async def test_a_member_reads_plans_and_a_manager_of_the_service_changes_them(
    world: World, shop: Team, visitor: Visitor
) -> None:
    page = plan_page(world, "Free")
    await visitor.sign_in("bob@example.com")

    read, closed = await visitor.open(page), await visitor.open(NEW)
    world.grant(shop.organization_id, world.value("SELECT id FROM services"), shop.ids["bob"], "manager")
    made = await make(visitor)

    assert (read.status, closed.status, made.status) == (200, 403, 200)
    assert "<code>services.manage</code>" in read.text
    assert 'name="seen_state"' not in read.text


async def test_many_plans_are_paged_and_small(world: World, ann: Visitor) -> None:
    world.connection.execute(
        """
        INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, features, is_default,
                           created_at, updated_at)
        SELECT gen_random_uuid(), organization_id, service_id, repeat('w', 90) || number, 1, 'usd',
               ARRAY(SELECT repeat('f', 90) || feature FROM generate_series(1, 20) AS feature), false,
               created_at + number / 2 * interval '1 second', created_at
        FROM   plans, generate_series(1, 99) AS number
        """
    )
    page, seen, sizes = PLANS, list[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen += re.findall(rf'href="{PLANS}/([0-9a-f-]{{36}})"', answer.text)
        links = re.findall(r'href="([^"]+after=[^"]+)"', answer.text)
        page = links[0].replace("&amp;", "&") if links else ""

    assert (len(seen), len(set(seen))) == (100, 100)
    assert max(sizes) < 40 * 1024
