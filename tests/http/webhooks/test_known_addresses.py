"""Beside the id of each user, receivers get the address that the organization knows, and no other."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import trio

from tests.http.scim.test_mail_domains import employee, rename
from tests.marks import mark_due
from tests.receiver import Receiver
from tests.world.builder import new_id
from tests.world.directory import insert_directory
from tests.world.hooks import Hooks

MEMBER = "member@example.com"
ROLE_UPDATED = "user.role_updated"


async def change_role(hooks: Hooks) -> None:
    """Give the member another role."""
    answer = await hooks.team.request("owner", "PATCH", f"/members/{hooks.team.ids['member']}", body={"role": "admin"})
    assert answer.status == 200, answer.text


async def remove_member(hooks: Hooks) -> None:
    """Remove the member, some time after they proved their address."""
    hooks.team.world.clock.advance(timedelta(seconds=1))
    answer = await hooks.team.request("owner", "POST", f"/members/{hooks.team.ids['member']}")
    assert answer.status in {200, 204}, answer.text


async def in_feed(hooks: Hooks, event: str) -> list[dict[str, Any]]:
    """Return the data of the events of a type in the feed."""
    await hooks.assign_positions()
    return [one["data"] for one in (await hooks.feed(f"?types={event}")).json["events"]]


def insert_event(hooks: Hooks, user_id: UUID) -> None:
    """Insert a change of the role of any user."""
    connection = hooks.team.world.connection
    with connection.transaction():
        mark_due(connection, hooks.team.organization_id)
        connection.execute(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            VALUES (%s, %s, %s, jsonb_build_object('user_id', %s::text, 'old_role', 'member', 'new_role', 'admin'), %s)
            """,
            (new_id(), ROLE_UPDATED, hooks.team.organization_id, user_id, hooks.team.world.clock()),
        )


async def test_deliveries_the_feed_and_the_log_have_the_address_of_a_member_beside_the_id(
    hooks: Hooks, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url, ROLE_UPDATED)

    await change_role(hooks)
    await hooks.send()

    data = receiver.received[0].payload["data"]
    assert (data["user_id"], data["user_email"]) == (str(hooks.team.ids["member"]), MEMBER)
    assert list(data).index("user_email") == list(data).index("user_id") + 1
    assert await in_feed(hooks, ROLE_UPDATED) == [data]
    assert [one["payload"]["data"] for one in await hooks.deliveries(webhook_id)] == [data]


async def test_the_address_is_not_stored_with_the_event(hooks: Hooks) -> None:
    await change_role(hooks)

    data = hooks.team.world.value("SELECT data FROM events WHERE type = %s", ROLE_UPDATED)
    assert "user_email" not in data


async def test_who_was_removed_is_told_by_the_address_that_the_organization_knew(hooks: Hooks) -> None:
    await remove_member(hooks)

    [data] = await in_feed(hooks, "user.removed")
    assert data["user_email"] == MEMBER


async def test_an_address_that_was_proved_after_the_removal_is_told_to_nobody(hooks: Hooks) -> None:
    await remove_member(hooks)
    hooks.team.world.clock.advance(timedelta(seconds=1))
    hooks.team.world.connection.execute(
        "UPDATE users SET email = 'new@example.com', email_verified_at = %s WHERE id = %s",
        (hooks.team.world.clock(), hooks.team.ids["member"]),
    )

    [data] = await in_feed(hooks, "user.removed")
    assert data["user_email"] is None


async def test_whom_an_organization_only_added_takes_a_new_address_along(hooks: Hooks) -> None:
    world = hooks.team.world
    user_id = world.user("added@example.com")
    world.member(hooks.team.organization_id, user_id, is_confirmed=False)
    world.clock.advance(timedelta(seconds=1))
    tokens = await world.sign_in("added@example.com")

    await world.change_address(tokens.access_token, "private@home.example")

    [data] = await in_feed(hooks, "user.removed")
    assert (data["user_id"], data["reason"], data["user_email"]) == (str(user_id), "address_changed", None)
    log = await hooks.team.request("owner", "GET", "/audit-log")
    assert "user.removed" in log.text
    assert "private@home.example" not in (await hooks.feed()).text + log.text


async def test_an_address_that_a_directory_gave_after_the_removal_is_told_to_nobody_else(hooks: Hooks) -> None:
    world = hooks.team.world
    directory = insert_directory(world.team("globex"))
    world.mail_domain(directory.organization_id, "globex.example")
    user, tokens = await employee(directory, "ada@globex.example")
    world.member(hooks.team.organization_id, world.user_id("ada@globex.example"))
    world.clock.advance(timedelta(seconds=1))
    left = await world.client.post(f"/api/organizations/{hooks.team.slug}/leave", token=tokens.access_token)
    assert left.status == 204, left.text
    assert [one["user_email"] for one in await in_feed(hooks, "user.removed")] == ["ada@globex.example"]
    world.clock.advance(timedelta(seconds=1))

    assert (await directory.patch(user["id"], rename("ada.l@globex.example"))).status == 200

    assert [one["user_email"] for one in await in_feed(hooks, "user.removed")] == [None]


async def test_nobody_is_told_the_address_of_a_stranger(hooks: Hooks) -> None:
    stranger = hooks.team.world.user("stranger@example.com")
    insert_event(hooks, stranger)
    insert_event(hooks, hooks.team.ids["member"])

    assert [one["user_email"] for one in await in_feed(hooks, ROLE_UPDATED)] == [None, MEMBER]


async def test_what_is_told_of_an_end_user_is_not_told_to_another_organization(hooks: Hooks) -> None:
    world = hooks.team.world
    customer = world.user("customer@example.com")
    other_id = world.organization("other")
    world.link(other_id, world.service(other_id, "shop").id, customer)
    insert_event(hooks, customer)
    assert [one["user_email"] for one in await in_feed(hooks, ROLE_UPDATED)] == [None]

    world.link(hooks.team.organization_id, world.service(hooks.team.organization_id, "shop").id, customer)

    assert [one["user_email"] for one in await in_feed(hooks, ROLE_UPDATED)] == ["customer@example.com"]


async def test_an_anonymized_person_has_no_address(hooks: Hooks, receiver: Receiver) -> None:
    await hooks.create(receiver.url, ROLE_UPDATED)
    await change_role(hooks)
    answer = await hooks.team.world.client.delete(
        f"/api/privacy/forget/{hooks.team.ids['member']}", token=await hooks.team.token("owner")
    )
    assert answer.status == 200, answer.text

    await hooks.send()

    assert receiver.received[0].payload["data"]["user_email"] is None


async def test_what_a_receiver_answers_is_kept_without_the_addresses_that_it_was_told(
    hooks: Hooks, receiver: Receiver
) -> None:
    async def echo(stream: trio.abc.Stream) -> None:
        body = receiver.received[-1].body.replace(b"member@", b"Member@")
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    receiver.answering = echo
    webhook_id = await hooks.create(receiver.url, ROLE_UPDATED)
    await change_role(hooks)
    await hooks.send()

    [delivery] = await hooks.deliveries(webhook_id)

    assert json.loads(delivery["response_body"])["data"]["user_email"] == "[address]"
    assert (
        hooks.team.world.value("SELECT count(*) FROM webhook_attempts WHERE response_body ILIKE %s", f"%{MEMBER}%") == 0
    )


async def test_to_whom_a_service_was_assigned_is_told_by_the_address_too(hooks: Hooks, receiver: Receiver) -> None:
    team = hooks.team
    await hooks.create(receiver.url, "service.access_changed")
    service = {"slug": "wiki", "name": "Wiki", "service_type": "web"}
    assert (await team.request("owner", "POST", "/services", body=service)).status == 200
    member = f"user:{team.ids['member']}"
    wanted = {
        "access": "assigned",
        "assignments": [{"subject": member, "roles": []}, {"subject": "role:admin", "roles": []}],
    }

    answer = await team.request("owner", "PATCH", "/services/wiki", body=wanted)
    assert answer.status == 200, answer.text
    await hooks.send()

    added = {one["subject"]: one["user_email"] for one in receiver.received[0].payload["data"]["added"]}
    assert added == {member: MEMBER, "role:admin": None}
