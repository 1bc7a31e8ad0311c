"""Deliveries: from an event to the receiver, and as the list shows them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.attempts import JITTER, POSTPONEMENT, RETRY_DELAYS
from core.mail.mail import BY_ORGANIZATION, MailTemplate
from tests.receiver import Receiver, open_receiver
from tests.world.hooks import Hooks
from tests.world.world import World, assert_refused

FAILURE = b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nhelp"
GONE = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
SECOND = timedelta(seconds=1)
# The longest possible delay of each retry.
LATEST = [delay * (1 + JITTER) for delay in RETRY_DELAYS]


class TestDelivery:
    """An event reaches the webhooks that subscribe to it."""

    async def test_a_subscribed_event_arrives_with_the_documented_payload(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        webhook_id = await hooks.create(receiver.url, "user.invited")
        await hooks.team.request("owner", "POST", "/invitations", body={"email": "new@example.com", "role": "member"})

        await hooks.send()

        [received] = receiver.received
        payload = received.payload
        assert list(payload) == [
            *("id", "event", "timestamp", "organization_id", "actor_user_id", "actor_email", "data"),
        ]
        assert payload == {
            "id": received.headers["webhook-id"],
            "event": "user.invited",
            "timestamp": "2026-02-03T04:05:06.000000Z",
            "organization_id": str(hooks.team.organization_id),
            "actor_user_id": str(hooks.team.ids["owner"]),
            "actor_email": "owner@example.com",
            "data": {"invited_email": "new@example.com", "role": "member"},
        }
        [shown] = await hooks.deliveries(webhook_id)
        assert shown == {
            "id": shown["id"],
            "webhook_id": webhook_id,
            "webhook_name": "hook",
            "event_type": "user.invited",
            "payload": payload,
            "response_status_code": 200,
            "response_body": "fine",
            "attempt_count": 1,
            "max_attempts": 5,
            "next_retry_at": None,
            "delivered": True,
            "delivery_error": None,
            "created_at": "2026-02-03T04:05:06Z",
            "updated_at": "2026-02-03T04:05:06Z",
        }
        assert list(shown["payload"]) == list(payload)

    async def test_a_delivery_that_was_not_attempted_yet_is_due(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url)
        delivery_id = await hooks.test(webhook_id)

        [shown] = await hooks.deliveries(webhook_id)

        assert (shown["id"], shown["attempt_count"], shown["delivered"]) == (delivery_id, 0, False)
        assert shown["next_retry_at"] == "2026-02-03T04:05:06Z"
        assert (shown["response_status_code"], shown["response_body"], shown["delivery_error"]) == (None, None, None)

    async def test_an_event_goes_to_every_webhook_that_subscribes_and_to_no_other(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        one = await hooks.create(receiver.url, "user.invited", "user.joined", name="one")
        two = await hooks.create(receiver.url, "user.invited", name="two")
        three = await hooks.create(receiver.url, "user.joined", name="three")
        hooks.publish("a")
        hooks.publish("b", organization_id=world.organization("globex"))

        await hooks.send()

        assert [received.payload["data"]["name"] for received in receiver.received] == ["a", "a"]
        assert [len(await hooks.deliveries(webhook_id)) for webhook_id in (one, two, three)] == [1, 1, 0]

    async def test_what_happened_before_a_webhook_was_created_is_not_sent_to_it(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        hooks.publish("before")
        hooks.team.world.clock.advance(SECOND)
        await hooks.create(receiver.url, "user.invited")
        hooks.publish("after")

        await hooks.send()

        assert [received.payload["data"]["name"] for received in receiver.received] == ["after"]

    async def test_a_test_goes_to_its_webhook_only_whatever_is_subscribed(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        tested = await hooks.create(receiver.url, "user.invited", name="tested")
        other = await hooks.create(receiver.url, "webhook.test", name="other")

        delivery_id = await hooks.test(tested)
        await hooks.send()

        [received] = receiver.received
        assert (received.payload["event"], received.payload["data"]) == ("webhook.test", {"webhook_id": tested})
        assert [shown["id"] for shown in await hooks.deliveries(tested)] == [delivery_id]
        assert await hooks.deliveries(other) == []


class TestAttempts:
    """Failed attempts are repeated by the schedule."""

    async def test_attempts_follow_the_schedule_and_end_after_the_fifth(self, hooks: Hooks, receiver: Receiver) -> None:
        receiver.answers(FAILURE)
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)

        assert await hooks.send() == 1
        for number, latest in enumerate(LATEST, start=1):
            [shown] = await hooks.deliveries(webhook_id)
            assert (shown["attempt_count"], shown["delivered"]) == (number, False)
            assert (shown["response_status_code"], shown["response_body"]) == (500, "help")
            assert shown["delivery_error"] == "The receiver answered 500."
            assert await hooks.send_after(RETRY_DELAYS[number - 1] * (1 - JITTER) - SECOND) == 0
            assert await hooks.send_after(latest - RETRY_DELAYS[number - 1] * (1 - JITTER) + SECOND) == 1

        [shown] = await hooks.deliveries(webhook_id)
        assert (shown["attempt_count"], shown["next_retry_at"], shown["delivered"]) == (5, None, False)
        assert await hooks.send_after(timedelta(days=1)) == 0
        assert len({received.headers["webhook-id"] for received in receiver.received}) == 1
        assert len({received.body for received in receiver.received}) == 1

    async def test_a_retry_that_succeeds_ends_the_delivery(self, hooks: Hooks, receiver: Receiver) -> None:
        receiver.answers(FAILURE)
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)
        await hooks.send()
        receiver.answers(b"HTTP/1.1 204 None\r\n\r\n")

        await hooks.send_after(LATEST[0])

        [shown] = await hooks.deliveries(webhook_id)
        assert (shown["delivered"], shown["attempt_count"], shown["next_retry_at"]) == (True, 2, None)
        assert (shown["response_status_code"], shown["response_body"], shown["delivery_error"]) == (204, "", None)

    async def test_a_target_that_is_refused_is_a_failed_delivery_that_says_why(
        self, hooks: Hooks, world: World
    ) -> None:
        webhook_id = await hooks.create("https://hooks.example.com/")
        world.connection.execute("UPDATE webhooks SET url = 'http://10.0.0.1/'")
        await hooks.test(webhook_id)

        await hooks.send()

        [shown] = await hooks.deliveries(webhook_id)
        assert (shown["response_status_code"], shown["attempt_count"]) == (None, 1)
        assert "private address" in shown["delivery_error"]

    async def test_the_answer_410_ends_the_delivery_and_deactivates_the_webhook(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        receiver.answers(GONE)
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)

        await hooks.send()

        [shown] = await hooks.deliveries(webhook_id)
        assert (shown["response_status_code"], shown["delivered"], shown["next_retry_at"]) == (410, False, None)
        assert (await hooks.request("GET", f"/{webhook_id}")).json["is_active"] is False

    async def test_a_deactivation_by_410_is_in_the_audit_log_once_and_has_no_actor(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        receiver.answers(GONE)
        webhook_id = await hooks.create(receiver.url)
        for _ in range(3):
            await hooks.test(webhook_id)

        await hooks.send()

        entries = world.audit_entries("organization.updated", "actor_user_id", "details->>'change'")
        assert entries[1:] == [(None, "webhook_deactivated")]

    async def test_the_owner_is_mailed_once_that_410_has_switched_a_webhook_off(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        receiver.answers(GONE)
        webhook_id = await hooks.create(f"{receiver.url}?key=private", name="crm")
        for _ in range(3):
            await hooks.test(webhook_id)

        await hooks.send()

        message = await world.mail()
        assert (message.to, message.template) == ("owner@example.com", MailTemplate.WEBHOOK_OFF)
        assert message.values == {
            "organization": "Acme",
            "webhook": "crm",
            "host": "127.0.0.1",
            "at": "2026-02-03 04:05 UTC",
        }
        assert MailTemplate.WEBHOOK_OFF not in BY_ORGANIZATION

    async def test_the_reason_and_the_time_last_until_the_webhook_is_active_again(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        receiver.answers(GONE)
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)
        await hooks.send()
        why = "SELECT off_reason, off_at FROM webhooks"
        off_at = world.clock.now

        world.clock.advance(timedelta(minutes=5))
        await hooks.change(webhook_id, name="renamed")
        assert world.rows(why) == [("receiver_gone", off_at)]

        await hooks.change(webhook_id, is_active=True)
        assert world.rows(why) == [(None, None)]

        await hooks.change(webhook_id, is_active=False)
        assert world.rows(why) == [(None, None)]

    async def test_a_webhook_whose_url_was_changed_during_the_attempt_stays_active_after_410(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        webhook_id = await hooks.create(receiver.url)

        async def gone(stream: Any) -> None:
            await hooks.change(webhook_id, url="https://new.example.com/")
            await stream.send_all(GONE)

        receiver.answering = gone
        await hooks.test(webhook_id)

        await hooks.send()

        assert (await hooks.request("GET", f"/{webhook_id}")).json["is_active"] is True


class TestInactive:
    """An inactive webhook or organization gets nothing."""

    async def test_no_delivery_is_made_for_an_inactive_webhook(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url, "user.invited")
        await hooks.change(webhook_id, is_active=False)
        hooks.publish("a")
        await hooks.send()
        await hooks.change(webhook_id, is_active=True)

        await hooks.send()

        assert (receiver.received, await hooks.deliveries(webhook_id)) == ([], [])

    async def test_what_waits_while_a_webhook_is_inactive_goes_on_when_it_is_active_again(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)
        await hooks.change(webhook_id, is_active=False)
        assert await hooks.send() == 0

        await hooks.change(webhook_id, is_active=True)

        assert await hooks.send() == 1

    async def test_deliveries_of_a_suspended_organization_wait_until_it_is_active(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        await hooks.create(receiver.url, "user.invited")
        world.set_organization_status(hooks.team.organization_id, "suspended")
        hooks.publish("a")
        assert await hooks.send() == 0
        assert await hooks.send_after(POSTPONEMENT) == 0

        world.set_organization_status(hooks.team.organization_id, "active")

        assert await hooks.send_after(POSTPONEMENT) == 1
        assert [received.payload["data"]["name"] for received in receiver.received] == ["a"]


class TestRedelivery:
    """POST …/redeliver and …/redeliver-failed."""

    async def test_a_delivery_is_sent_again_with_the_same_id(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url)
        delivery_id = await hooks.test(webhook_id)
        await hooks.send()

        answer = await hooks.request("POST", f"/{webhook_id}/deliveries/{delivery_id}/redeliver")

        assert (answer.status, answer.json) == (200, {"delivery_id": delivery_id})
        assert await hooks.send() == 1
        first, second = receiver.received
        assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])

    async def test_a_delivery_that_failed_for_good_has_five_attempts_again(
        self, hooks: Hooks, receiver: Receiver
    ) -> None:
        receiver.answers(FAILURE)
        webhook_id = await hooks.create(receiver.url)
        delivery_id = await hooks.test(webhook_id)
        await hooks.send()
        for latest in LATEST:
            await hooks.send_after(latest)

        await hooks.request("POST", f"/{webhook_id}/deliveries/{delivery_id}/redeliver")
        await hooks.send()

        [shown] = await hooks.deliveries(webhook_id)
        assert shown["attempt_count"] == 1
        assert shown["next_retry_at"] is not None

    async def test_all_that_failed_since_a_moment_is_sent_again(self, hooks: Hooks, receiver: Receiver) -> None:
        receiver.answers(FAILURE)
        webhook_id = await hooks.create(receiver.url, "user.invited")
        hooks.publish("old")
        await hooks.assign_positions()
        hooks.team.world.clock.advance(SECOND)
        hooks.publish("failed")
        await hooks.send()
        for latest in LATEST:
            await hooks.send_after(latest)
        hooks.publish("waiting")
        await hooks.send()
        receiver.received.clear()

        since = {"since": "2026-02-03T04:05:07Z"}
        answer = await hooks.request("POST", f"/{webhook_id}/redeliver-failed", body=since)

        assert (answer.status, answer.json) == (200, {"queued": 1})
        await hooks.send()
        assert [received.payload["data"]["name"] for received in receiver.received] == ["failed"]

    async def test_the_moment_needs_a_time_zone(self, hooks: Hooks, subtests: pytest.Subtests) -> None:
        webhook_id = await hooks.create("https://hooks.example.com/")

        no_utc = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
        for since in ("2026-02-03T04:05:07", "yesterday", 7, None, *no_utc):
            with subtests.test(since=since):
                answer = await hooks.request("POST", f"/{webhook_id}/redeliver-failed", body={"since": since})

                assert_refused(answer, 400, "BAD_REQUEST")


class TestList:
    """GET …/deliveries."""

    async def test_the_newest_delivery_comes_first_in_pages(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url, "user.invited")
        for name in ("a", "b", "c"):
            hooks.publish(name)
            await hooks.assign_positions()
            hooks.team.world.clock.advance(SECOND)

        answers = [
            (await hooks.request("GET", f"/{webhook_id}/deliveries?limit=2&page={page}")).json for page in (1, 2, 3)
        ]

        names = [[shown["payload"]["data"]["name"] for shown in answer["deliveries"]] for answer in answers]
        assert names == [["c", "b"], ["a"], []]
        assert answers[1]["pagination"] == {
            "page": 2,
            "limit": 2,
            "total": 3,
            "total_pages": 2,
            "has_next": False,
            "has_prev": True,
        }

    async def test_the_list_is_filtered_by_type_and_by_success(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url, "user.invited")
        hooks.publish("a")
        await hooks.send()
        await hooks.test(webhook_id)

        async def types(query: str) -> list[str]:
            return [shown["event_type"] for shown in await hooks.deliveries(webhook_id, query)]

        assert await types("?delivered=true") == ["user.invited"]
        assert await types("?delivered=false") == ["webhook.test"]
        assert await types("?event_type=webhook.test") == ["webhook.test"]
        assert await types("?event_type=webhook.test&delivered=true") == []
        assert_refused(await hooks.request("GET", f"/{webhook_id}/deliveries?event_type=x"), 400, "BAD_REQUEST")
        assert_refused(await hooks.request("GET", f"/{webhook_id}/deliveries?delivered=maybe"), 400, "BAD_REQUEST")


class TestFairness:
    """The receivers of one organization leave places to other organizations."""

    async def test_an_organization_with_many_webhooks_leaves_places_to_others(
        self, hooks: Hooks, receiver: Receiver, world: World
    ) -> None:
        for number in range(20):
            await hooks.create(receiver.url, "user.invited", name=f"hook {number}")
        hooks.publish(*"abc")
        await hooks.assign_positions()
        world.clock.advance(SECOND)
        other = world.team("globex")
        other.add("olga", "owner")
        async with open_receiver() as theirs:
            body = {"name": "hook", "url": theirs.url, "events": ["user.invited"]}
            await other.request("olga", "POST", "/webhooks", body=body)
            hooks.publish("theirs", organization_id=other.organization_id)
            await hooks.assign_positions()

            leased = await hooks.lease(webhooks_max=10)

        organizations = [webhook.organization_id for webhook in leased]
        assert organizations.count(hooks.team.organization_id) == 8
        assert organizations.count(other.organization_id) == 1
        assert await hooks.lease(webhooks_max=10) == []
