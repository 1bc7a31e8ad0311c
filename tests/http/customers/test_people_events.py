"""The events that vendors get about the people of their customers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.secret_watch import WATCH
from tests.world.customer_backend import CustomerBackend, insert_customer_backend
from tests.world.directory import Directory, insert_directory
from tests.world.people_events import publish_everything
from tests.world.world import World

News = list[tuple[str, str]]


@pytest.fixture
def shop(world: World) -> CustomerBackend:
    """A service for customers with its backend."""
    return insert_customer_backend(world)


@pytest.fixture
async def customer_id(shop: CustomerBackend) -> str:
    """A customer of the service, all of whose members may use it."""
    return await shop.trade.begin(external_id="B-7")


async def news(shop: CustomerBackend, *, people_max: int = 200) -> News:
    """Work off what waits, and return each event with the first part of the person's address, and forget them."""
    world = shop.trade.world
    await publish_everything(world.installation.database, people_max=people_max)
    found = world.rows(
        """
        SELECT   type, organization_id, data, actor_user_id
        FROM     events
        WHERE    type LIKE 'customer.user\\_%'
        ORDER BY type, data ->> 'user_id'
        """
    )
    world.connection.execute("DELETE FROM events WHERE type LIKE 'customer.user\\_%'")
    for _, organization_id, data, actor in found:
        assert (organization_id, actor) == (shop.trade.vendor.organization_id, None)
        assert str(shop.trade.customer.organization_id) not in str(data)
    names = {str(user_id): name for name, user_id in shop.trade.customer.ids.items()}
    return sorted((kind.removeprefix("customer.user_"), names[data["user_id"]]) for kind, _, data, _ in found)


def execute(shop: CustomerBackend, statement: str, *values: Any) -> None:
    shop.trade.world.connection.execute(statement.encode(), values)


async def test_nothing_is_told_of_people_who_have_not_signed_in(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")
    shop.suspend("chief")
    execute(shop, "UPDATE users SET name = 'Head' WHERE email = 'head@example.com'")
    await shop.trade.change_product(assignments=[{"subject": "role:admin", "roles": ["editor"]}])

    assert await news(shop) == []


async def test_a_changed_role_name_address_and_service_role_is_told_once(
    shop: CustomerBackend, customer_id: str
) -> None:
    await shop.sign_in("worker")
    worker = shop.id_of("worker")

    for statement in (
        "UPDATE memberships SET role = 'admin' WHERE user_id = %s",
        "UPDATE users SET name = 'Will' WHERE id = %s",
        "UPDATE users SET email = 'will@example.com' WHERE id = %s",
    ):
        execute(shop, statement, worker)
        assert await news(shop) == [("changed", "worker")], statement
        execute(shop, statement, worker)
        assert await news(shop) == [], statement
    await shop.trade.change_product(assignments=[{"subject": "everyone", "roles": ["editor"]}])
    assert await news(shop) == [("changed", "worker")]
    changed = await shop.trade.vendor.request("owner", "PATCH", "/services/shop", body={"roles": []})
    assert changed.status == 200, changed.text
    assert await news(shop) == [("changed", "worker")]
    await shop.trade.change_product(assignments=[])
    assert await news(shop) == []


async def test_what_is_told_is_what_the_vendor_sees(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")
    await shop.trade.change_product(assignments=[{"subject": "everyone", "roles": ["editor"]}])
    world = shop.trade.world
    await publish_everything(world.installation.database)
    shop.suspend("worker")
    await publish_everything(world.installation.database)

    common = {
        "customer_id": customer_id,
        "external_id": "B-7",
        "client_id": str(shop.trade.service.client_id),
        "service_slug": "shop",
        "user_id": str(shop.id_of("worker")),
    }
    [(_, _, changed)] = world.events("customer.user_changed")
    assert changed == common | {"email": "worker@example.com", "name": None, "service_roles": ["editor"]}
    [(_, _, removed)] = world.events("customer.user_removed")
    assert removed == common
    logged = [(action, actor, details) for action, actor, details in shop.trade.log_of(shop.trade.vendor, "customer.u")]
    assert logged == [
        ("customer.user_changed", None, common | {"service_roles": ["editor"]}),
        ("customer.user_removed", None, common),
    ]


async def test_who_is_let_in_no_longer_is_removed_and_comes_back_as_changed(
    shop: CustomerBackend, customer_id: str
) -> None:
    for name in ("worker", "chief"):
        await shop.sign_in(name)

    shop.suspend("worker")
    assert await news(shop) == [("removed", "worker")]
    shop.suspend("worker", is_suspended=False)
    assert await news(shop) == [("changed", "worker")]
    await shop.trade.change_product(access="assigned", assignments=[{"subject": "role:admin"}])
    assert await news(shop) == [("removed", "worker")]
    await shop.trade.change_product(access="members")
    assert await news(shop) == [("changed", "worker")]
    await shop.remove("worker")
    assert await news(shop) == [("removed", "worker")]
    execute(shop, "UPDATE users SET deactivated_at = now() WHERE id = %s", shop.id_of("chief"))
    assert await news(shop) == [("removed", "chief")]
    execute(shop, "DELETE FROM users WHERE id = %s", shop.id_of("worker"))
    assert await news(shop) == []


async def test_an_account_that_is_deleted_is_told(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")

    execute(shop, "DELETE FROM users WHERE id = %s", shop.id_of("worker"))

    assert await news(shop) == [("removed", "worker")]


async def test_a_shared_directory_tells_of_confirmed_members(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")
    shop.add_unconfirmed("guest")

    await shop.trade.change_product(shares_directory=True)
    assert await news(shop) == [("added", "chief"), ("added", "head")]
    execute(shop, "UPDATE memberships SET confirmed_at = now() WHERE user_id = %s", shop.id_of("guest"))
    assert await news(shop) == [("added", "guest")]
    shop.trade.customer.add("late", "member")
    assert await news(shop) == [("added", "late")]
    shop.suspend("late")
    assert await news(shop) == [("removed", "late")]
    # The vendor sees only people who have signed in.
    await shop.trade.change_product(shares_directory=False)
    assert await news(shop) == [("removed", "chief"), ("removed", "guest"), ("removed", "head")]


async def test_groups_that_are_assigned_change_people(shop: CustomerBackend, customer_id: str) -> None:
    directory: Directory = insert_directory(shop.trade.customer, groups="directory")
    group_id = UUID(await directory.create_group("Editors"))
    await shop.sign_in("worker")
    await shop.trade.change_product(assignments=[{"subject": f"group:{group_id}", "roles": ["editor"]}])
    assert await news(shop) == []

    put_in = await directory.put_in(str(group_id), shop.id_of("worker"))
    assert put_in.status < 300, put_in.text
    assert await news(shop) == [("changed", "worker")]
    execute(shop, "DELETE FROM directory_groups WHERE id = %s", group_id)
    assert await news(shop) == [("changed", "worker")]


# What makers of tokens allow: a custom role with these capabilities, and whether its token gives what products give.
MAKERS: list[tuple[tuple[str, ...], bool]] = [
    (("integrations.manage", "org.members.manage", "org.roles.manage"), False),
    (("integrations.manage", "org.members.manage", "products.manage"), True),
]


@pytest.mark.parametrize(("capabilities", "gives"), MAKERS)
async def test_a_group_gives_a_product_as_far_as_the_maker_of_the_token_could(
    shop: CustomerBackend, customer_id: str, capabilities: tuple[str, ...], gives: bool
) -> None:
    team = shop.trade.customer
    team.custom_role("connector", *capabilities)
    team.add("connector", "connector")
    made = await team.request("connector", "POST", "/scim-tokens", body={"name": "Okta", "groups": "directory"})
    WATCH.add(made.json["token"])
    weak, strong = Directory(team, made.json["token"]), insert_directory(team, groups="directory")
    group_id = await weak.create_group("Editors")
    await shop.sign_in("worker")
    rules = [{"subject": f"group:{group_id}", "roles": ["editor"]}]
    await shop.trade.change_product(assignments=rules)

    await weak.put_in(group_id, shop.id_of("worker"))
    told = await news(shop)
    await shop.trade.change_product(access="assigned")
    signed_in = await shop.sign_in("worker")
    # An owner's token that names the same member gives it.
    await strong.put_in(group_id, shop.id_of("worker"))

    assert told == ([("changed", "worker")] if gives else [])
    assert signed_in.status == (200 if gives else 403)
    assert (await shop.sign_in("worker")).status == 200


async def test_a_change_of_the_word_by_which_people_are_in_a_group_is_told(
    shop: CustomerBackend, customer_id: str
) -> None:
    team = shop.trade.customer
    weak = insert_directory(team, f"scim_live_weak00_{'w' * 43}", groups="directory", maker_role="member")
    strong = insert_directory(team, groups="directory")
    group_id = await weak.create_group("Editors", shop.id_of("worker"))
    await shop.sign_in("worker")
    await shop.trade.change_product(assignments=[{"subject": f"group:{group_id}", "roles": ["editor"]}])
    before = await news(shop)

    await strong.put_in(group_id, shop.id_of("worker"))

    assert (before, await news(shop)) == ([], [("changed", "worker")])


async def test_the_end_of_a_customer_is_told_alone(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")
    await shop.trade.at_vendor("DELETE", f"/{customer_id}")

    assert await news(shop) == []
    assert shop.trade.world.value("SELECT count(*) FROM customer_users_told") == 0


async def test_many_people_and_customers_are_worked_off_in_parts(shop: CustomerBackend, customer_id: str) -> None:
    for slug in ("gamma", "delta"):
        team = shop.trade.world.team(slug)
        shop.trade.world.member(team.organization_id, shop.id_of("worker"))
        shop.trade.world.customer(shop.trade.service, team.organization_id)
    for name in ("worker", "chief", "head"):
        await shop.sign_in(name)
    await shop.sign_in("worker", customer="gamma")
    await shop.trade.change_product(assignments=[{"subject": "everyone", "roles": ["editor"]}])
    everyone = [("changed", name) for name in ("chief", "head", "worker")]

    assert await news(shop, people_max=1) == everyone
    await shop.trade.vendor.request("owner", "PATCH", "/services/shop", body={"roles": []})
    assert await news(shop, people_max=2) == everyone
    execute(shop, "UPDATE users SET name = 'Will' WHERE id = %s", shop.id_of("worker"))
    assert await news(shop, people_max=1) == [("changed", "worker")] * 2


async def test_roles_that_the_vendor_gives_are_told_once(shop: CustomerBackend, customer_id: str) -> None:
    await shop.sign_in("worker")
    await shop.give(customer_id, "worker", "editor")

    assert await news(shop) == [("changed", "worker")]
    execute(shop, "UPDATE memberships SET role = role WHERE user_id = %s", shop.id_of("worker"))
    assert await news(shop) == []


async def test_roles_of_a_person_who_was_removed_are_told_when_they_are_let_in_again(
    shop: CustomerBackend, customer_id: str
) -> None:
    await shop.sign_in("worker")
    shop.suspend("worker")
    assert await news(shop) == [("removed", "worker")]

    await shop.give(customer_id, "worker", "editor")

    assert await news(shop) == []
    logged = shop.trade.log_of(shop.trade.vendor, "customer.user_changed")
    assert [details["own_roles"] for _, _, details in logged] == [["editor"]]
    shop.suspend("worker", is_suspended=False)
    assert await news(shop) == [("changed", "worker")]


async def test_who_confirms_the_membership_by_signing_in_is_added_where_the_directory_is_shared(
    shop: CustomerBackend, customer_id: str
) -> None:
    shop.add_unconfirmed("guest")
    await shop.trade.change_product(shares_directory=True)
    await news(shop)

    assert (await shop.sign_in("guest")).status == 200

    assert await news(shop) == [("added", "guest")]
    await shop.sign_in("guest")
    assert await news(shop) == []


async def test_who_signs_in_before_the_vendor_was_told_that_they_are_let_in_again_is_told_as_changed(
    shop: CustomerBackend, customer_id: str
) -> None:
    await shop.sign_in("worker")
    shop.suspend("worker")
    assert await news(shop) == [("removed", "worker")]

    shop.suspend("worker", is_suspended=False)
    shop.trade.world.clock.advance(timedelta(minutes=1))
    await shop.sign_in("worker")

    assert await news(shop) == [("changed", "worker")]


async def test_who_leaves_before_the_vendor_was_told_of_them_is_told_as_removed(
    shop: CustomerBackend, customer_id: str
) -> None:
    shop.add_unconfirmed("guest")
    await shop.trade.change_product(shares_directory=True)
    await news(shop)

    await shop.sign_in("guest")
    shop.suspend("guest")

    assert await news(shop) == [("removed", "guest")]


async def test_roles_that_are_given_before_the_vendor_was_told_of_the_person_come_with_that(
    shop: CustomerBackend, customer_id: str
) -> None:
    shop.add_unconfirmed("guest")
    await shop.trade.change_product(shares_directory=True)
    await news(shop)
    await shop.sign_in("guest")

    await shop.give(customer_id, "guest", "editor")

    assert await news(shop) == [("added", "guest")]
