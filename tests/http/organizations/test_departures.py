"""What ends when a member leaves or is removed, by every way, and what stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from tests.world.builder import Service
from tests.world.directory import Directory, insert_directory
from tests.world.signing_in import Tokens
from tests.world.world import World

ADA = "ada@example.com"


@pytest.fixture
def directory(world: World) -> Directory:
    """Return an organization with a directory and a service."""
    team = world.team("acme")
    team.add("owner", "owner")
    return insert_directory(team)


@pytest.fixture
def ada_id(directory: Directory) -> UUID:
    """Return a member of the organization."""
    user_id = directory.world.user(ADA)
    directory.world.member(directory.organization_id, user_id)
    return user_id


@pytest.fixture
def shop(directory: Directory) -> Service:
    """Return the service of the organization."""
    return directory.world.service(directory.organization_id, "shop")


async def removed_by_hand(directory: Directory, user_id: UUID) -> None:
    assert (await directory.team.request("owner", "POST", f"/members/{user_id}")).status == 200


async def left(directory: Directory, user_id: UUID) -> None:
    tokens = await directory.world.sign_in(ADA)
    path = f"{directory.team.path}/leave"
    assert (await directory.world.client.post(path, token=tokens.access_token)).status == 204


async def deleted_by_scim(directory: Directory, user_id: UUID) -> None:
    assert (await directory.request("DELETE", f"/Users/{user_id}")).status == 204


async def absent_from_the_group(directory: Directory, user_id: UUID) -> None:
    assert (await directory.put_group(directory.team.ids["owner"])).status == 200


async def removed_from_the_group(directory: Directory, user_id: UUID) -> None:
    answer = await directory.patch_group({"op": "remove", "path": f'members[value eq "{user_id}"]'})
    assert answer.status == 200, answer.text


WAYS_OUT = [removed_by_hand, left, deleted_by_scim, absent_from_the_group, removed_from_the_group]
each_way_out = pytest.mark.parametrize("go", WAYS_OUT, ids=[go.__name__ for go in WAYS_OUT])
Going = "Callable[[Directory, UUID], Awaitable[None]]"


async def is_alive(world: World, tokens: Tokens) -> bool:
    return (await world.list_sessions(tokens)).status == 200


@each_way_out
async def test_the_links_that_came_with_the_membership_end_with_their_sessions_and_subscriptions(
    directory: Directory, ada_id: UUID, shop: Service, go: Callable[[Directory, UUID], Awaitable[None]]
) -> None:
    world = directory.world
    at_shop = await world.sign_in(ADA, org_slug="acme", service_slug="shop")
    elsewhere = await world.sign_in(ADA)
    world.subscription(world.plan(directory.organization_id, shop.id, "Pro"), ada_id)

    await go(directory, ada_id)

    assert not await is_alive(world, at_shop)
    assert (await world.refresh(at_shop.refresh_token)).status == 401
    assert await is_alive(world, elsewhere)
    assert world.rows("SELECT FROM service_users WHERE user_id = %s", ada_id) == []
    assert world.rows("SELECT FROM subscriptions WHERE user_id = %s", ada_id) == []
    assert len(world.audit_entries("subscription.canceled")) == 1
    assert [data["sessions"] for _, _, data in world.events("session.revoked")] == [1]


@each_way_out
async def test_links_that_the_person_made_before_joining_stay(
    directory: Directory, shop: Service, go: Callable[[Directory, UUID], Awaitable[None]]
) -> None:
    world = directory.world
    user_id = world.user(ADA)
    at_shop = await world.sign_in(ADA, org_slug="acme", service_slug="shop")
    world.member(directory.organization_id, user_id)

    await go(directory, user_id)

    assert world.value("SELECT origin FROM service_users WHERE user_id = %s", user_id) == "self"
    # The directory ends the sessions of its organization as well.
    assert await is_alive(world, at_shop) is (go is not deleted_by_scim)


async def test_a_link_that_is_used_while_its_user_is_a_member_came_with_the_membership(
    directory: Directory, shop: Service
) -> None:
    world = directory.world
    user_id = world.user(ADA)
    await world.sign_in(ADA, org_slug="acme", service_slug="shop")
    world.member(directory.organization_id, user_id)
    await world.sign_in(ADA, org_slug="acme", service_slug="shop")

    await removed_by_hand(directory, user_id)

    assert world.rows("SELECT FROM service_users WHERE user_id = %s", user_id) == []


async def test_a_link_whose_subscription_is_paid_stays(directory: Directory, ada_id: UUID, shop: Service) -> None:
    world = directory.world
    at_shop = await world.sign_in(ADA, org_slug="acme", service_slug="shop")
    subscription_id = world.subscription(world.plan(directory.organization_id, shop.id, "Pro"), ada_id)
    world.connection.execute(
        "UPDATE subscriptions SET billing_subscription_id = 'sub_1' WHERE id = %s", (subscription_id,)
    )

    await removed_by_hand(directory, ada_id)

    assert await is_alive(world, at_shop)
    assert world.value("SELECT count(*) FROM subscriptions WHERE user_id = %s", ada_id) == 1


async def test_what_the_directory_deletes_loses_the_links_of_keys_too(
    directory: Directory, ada_id: UUID, shop: Service
) -> None:
    world = directory.world
    blog = world.service(directory.organization_id, "blog")
    world.link(directory.organization_id, blog.id, ada_id)

    await deleted_by_scim(directory, ada_id)

    assert world.rows("SELECT FROM service_users WHERE user_id = %s", ada_id) == []


async def test_the_identities_of_the_connections_are_unlinked_with_their_sessions(
    directory: Directory, ada_id: UUID
) -> None:
    world = directory.world
    world.mail_domain(directory.organization_id, "acme.example")
    connection_id = world.value("SELECT id FROM upstream_connections")
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, linked_at, used_at)
        VALUES (gen_random_uuid(), %s, 'saml', 'ada', %s, %s, now(), now())
        """,
        (ada_id, connection_id, directory.organization_id),
    )
    by_connection = await world.sign_in(ADA)
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s, connection_id = %s WHERE id = %s",
        (directory.organization_id, connection_id, by_connection.session_id),
    )
    own = await world.sign_in(ADA)

    await removed_by_hand(directory, ada_id)

    assert world.rows("SELECT FROM identities") == []
    assert [await is_alive(world, tokens) for tokens in (by_connection, own)] == [False, True]


async def test_another_organizations_links_stay(directory: Directory, ada_id: UUID, shop: Service) -> None:
    world = directory.world
    globex = world.organization("globex")
    world.member(globex, ada_id)
    world.service(globex, "till")
    at_till = await world.sign_in(ADA, org_slug="globex", service_slug="till")

    await deleted_by_scim(directory, ada_id)

    assert await is_alive(world, at_till)
