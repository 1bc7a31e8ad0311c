"""The page of a subscription that an organization has sold: another plan, and cancelling at once."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

SOLD = "/app/organizations/acme/billing/sold"


class Sale:
    """An organization with two plans, one of which is sold."""

    def __init__(self, world: World) -> None:
        self.team: Team = world.team()
        self.team.add("ann", "owner")
        organization_id = self.team.organization_id
        self.service = world.service(organization_id, "shop")
        self.pro: UUID = world.plan(organization_id, self.service.id, "Pro")
        self.team_plan: UUID = world.plan(organization_id, self.service.id, "Team")
        user_id = self.team.user("eli")
        world.link(organization_id, self.service.id, user_id)
        self.id: UUID = world.subscription(self.pro, user_id)
        self.page = f"{SOLD}/{self.id}"


@pytest.fixture
def sale(world: World) -> Sale:
    """A sold subscription."""
    return Sale(world)


@pytest.fixture
async def ann(sale: Sale, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def state(world: World, subscription_id: UUID) -> tuple[str, UUID]:
    """Return the status and the plan of a subscription."""
    [row] = world.rows("SELECT status, plan_id FROM subscriptions WHERE id = %s", subscription_id)
    return row[0], row[1]


async def test_a_subscription_moves_to_another_plan(world: World, sale: Sale, ann: Visitor) -> None:
    changed = await ann.submit(await ann.open(sale.page), sale.page, plan_id=str(sale.team_plan))

    assert "The plan is changed." in changed.text
    assert state(world, sale.id) == ("active", sale.team_plan)
    assert "eli@example.com" in changed.text
    entries = await ann.open(f"/app/organizations/acme/audit?target={sale.id}")
    assert "Team" in entries.text


async def test_a_plan_that_is_none_of_the_service_is_refused_at_its_field(
    world: World, sale: Sale, ann: Visitor
) -> None:
    other = world.service(sale.team.organization_id, "desk")
    desk = world.plan(sale.team.organization_id, other.id, "Desk")
    page = await ann.open(sale.page)

    for plan_id in (str(desk), "x", ""):
        refused = await ann.submit(page, sale.page, plan_id=plan_id)
        assert refused.status == 400
        assert "Choose one of the plans of this service." in refused.text
    assert state(world, sale.id) == ("active", sale.pro)


async def test_cancelling_says_what_happens_and_keeps_the_note(world: World, sale: Sale, ann: Visitor) -> None:
    asked = await ann.follow(await ann.open(sale.page), f"{sale.page}/cancel")
    cancelled = await ann.submit(asked, f"{sale.page}/cancel", note="asked by phone")

    assert "eli@example.com" in asked.text
    assert "the plan Free" in asked.text
    assert "The subscription is cancelled." in cancelled.text
    assert "This subscription has ended" in cancelled.text
    assert state(world, sale.id) == ("cancelled", sale.pro)
    assert world.value("SELECT details->>'note' FROM audit_entries WHERE action = 'subscription.canceled'") == (
        "asked by phone"
    )
    assert world.value("SELECT count(*) FROM events WHERE data::text LIKE '%%asked by phone%%'") == 0


async def test_what_another_admin_has_changed_meanwhile_is_not_changed_on_top(
    world: World, sale: Sale, ann: Visitor
) -> None:
    change, cancel = await ann.open(sale.page), await ann.open(f"{sale.page}/cancel")
    await ann.submit(await ann.open(sale.page), sale.page, plan_id=str(sale.team_plan))

    late_change = await ann.submit(change, sale.page, plan_id=str(sale.pro))
    late_cancel = await ann.submit(cancel, f"{sale.page}/cancel", note="kept words")

    assert late_change.status == late_cancel.status == 409
    assert "has changed meanwhile" in late_change.text
    assert "kept words" in late_cancel.text
    assert state(world, sale.id) == ("active", sale.team_plan)
    # The form that is shown now works.
    again = await ann.submit(late_cancel, f"{sale.page}/cancel")
    assert "The subscription is cancelled." in again.text


async def test_what_the_payment_provider_bills_is_closed_with_the_reason(
    world: World, sale: Sale, ann: Visitor
) -> None:
    page, cancel = await ann.open(sale.page), await ann.open(f"{sale.page}/cancel")
    world.rows("UPDATE subscriptions SET billing_subscription_id = 'sub_1' WHERE id = %s RETURNING id", sale.id)

    shown = await ann.open(sale.page)
    assert "The payment provider bills this subscription." in shown.text
    assert sale.page not in {form.action for form in forms_of(shown)}
    for answer in (
        await ann.submit(page, sale.page, plan_id=str(sale.team_plan)),
        await ann.submit(cancel, f"{sale.page}/cancel"),
    ):
        assert answer.status == 409
        assert "The payment provider bills this subscription" in answer.text
    assert state(world, sale.id) == ("active", sale.pro)


async def test_an_ended_subscription_is_not_changed(world: World, sale: Sale, ann: Visitor) -> None:
    page = await ann.open(sale.page)
    world.rows("UPDATE subscriptions SET status = 'expired' WHERE id = %s RETURNING id", sale.id)

    assert (await ann.submit(page, sale.page, plan_id=str(sale.team_plan))).status == 409
    assert "This subscription has ended." in (await ann.open(f"{sale.page}/cancel")).text
