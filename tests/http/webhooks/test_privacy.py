"""After an anonymization neither deliveries nor the feed mention the person, nor do the answers of receivers."""

from __future__ import annotations

from datetime import timedelta

import pytest
import trio

from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from core.webhooks.events import RETENTION
from tests.receiver import Receiver
from tests.world.hooks import Hooks

MEMBER = "member@example.com"
OTHER = "other@example.com"


@pytest.fixture
def echoing(receiver: Receiver) -> Receiver:
    """A receiver that answers with what it was sent."""

    async def echo(stream: trio.abc.Stream) -> None:
        body = receiver.received[-1].body
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    receiver.answering = echo
    return receiver


async def forget_member(hooks: Hooks) -> None:
    """Anonymize the member."""
    answer = await hooks.team.world.client.delete(
        f"/api/privacy/forget/{hooks.team.ids['member']}", token=await hooks.team.token("owner")
    )
    assert answer.status == 200, answer.text


async def test_deliveries_and_feed_do_not_mention_an_anonymized_person(hooks: Hooks, echoing: Receiver) -> None:
    webhook_id = await hooks.create(echoing.url, "user.login.success", "user.invited")
    await hooks.team.world.sign_in(MEMBER)
    hooks.publish(MEMBER, OTHER)
    await hooks.send()
    before = await hooks.deliveries(webhook_id)
    assert [MEMBER in str(shown["response_body"]) for shown in before].count(True) == 2
    attempts = "SELECT count(*) FROM webhook_attempts WHERE response_body LIKE %s"
    assert hooks.team.world.value(attempts, f"%{MEMBER}%") == 2

    await forget_member(hooks)

    assert hooks.team.world.value(attempts, f"%{MEMBER}%") == 0
    assert hooks.team.world.value(attempts, f"%{OTHER}%") == 1

    after = await hooks.deliveries(webhook_id)
    assert MEMBER not in str(after)
    assert MEMBER not in (await hooks.feed()).text
    # What does not mention the person stays.
    assert [OTHER in str(shown["response_body"]) for shown in after].count(True) == 1
    assert [shown["id"] for shown in after] == [shown["id"] for shown in before]


async def test_a_delivery_that_waits_is_sent_without_the_address(hooks: Hooks, receiver: Receiver) -> None:
    await hooks.create(receiver.url, "user.login.success")
    await hooks.team.world.sign_in(MEMBER)
    await hooks.assign_positions()

    await forget_member(hooks)
    await hooks.send()

    bodies = [received.body.decode() for received in receiver.received]
    assert bodies
    assert not [body for body in bodies if MEMBER in body]


async def test_an_earlier_address_is_replaced_after_its_events_were_deleted(hooks: Hooks) -> None:
    world, ids = hooks.team.world, hooks.team.ids
    await world.sign_in(MEMBER)
    world.connection.execute("UPDATE users SET email = 'new@example.com' WHERE id = %s", (ids["member"],))
    world.connection.execute(
        """
        INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success,
                                   details, created_at)
        VALUES (gen_random_uuid(), %s, %s, 'user.invited', 'invitation', 'x', true, %s::jsonb, %s)
        """,
        (hooks.team.organization_id, ids["owner"], f'{{"invited_email": "{MEMBER}"}}', world.clock()),
    )
    world.clock.advance(RETENTION + timedelta(seconds=1))
    assert await world.installation.database.transact(housekeeping.sweep, Leftover.EVENTS, RETENTION, 100) > 0

    await forget_member(hooks)

    assert world.rows("SELECT details FROM audit_entries WHERE details::text LIKE %s", f"%{MEMBER}%") == []
    assert world.rows("SELECT email FROM known_addresses WHERE user_id = %s", ids["member"]) == []
