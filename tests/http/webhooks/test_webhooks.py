"""Webhooks: created, read, changed, tested, rotated and deleted."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from core.events.events import EventType
from core.webhooks.webhooks import WEBHOOKS_MAX
from tests.concurrency import at_once, statuses_of
from tests.receiver import Received, Receiver
from tests.world.hooks import Hooks
from tests.world.team import Team
from tests.world.world import World, assert_refused

URL = "https://hooks.example.com/gatehouse"
DAY = timedelta(hours=24)
SECOND = timedelta(seconds=1)
BODY = {"name": "hook", "url": URL, "events": ["user.invited"]}


def signed_by(received: Received, secret: str) -> bool:
    """Return whether one of the signatures is by this secret, computed as Standard Webhooks describe it."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    headers = received.headers
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{received.body.decode()}"
    expected = base64.b64encode(hmac.new(key, content.encode(), hashlib.sha256).digest()).decode()
    return f"v1,{expected}" in headers["webhook-signature"].split()


class TestCreation:
    """POST /webhooks."""

    async def test_the_answer_is_the_webhook_with_its_secret_which_no_other_answer_shows(self, hooks: Hooks) -> None:
        created = await hooks.request("POST", body=BODY)

        webhook = created.json
        assert created.status == 200
        assert created.headers["Cache-Control"] == "no-store"
        assert len(base64.b64decode(webhook.pop("secret").removeprefix("whsec_"))) == 32
        assert webhook == {
            "id": webhook["id"],
            **BODY,
            "is_active": True,
            "created_at": "2026-02-03T04:05:06Z",
            "updated_at": "2026-02-03T04:05:06Z",
        }
        shown = await hooks.request("GET", f"/{webhook['id']}")
        listed = await hooks.request("GET")
        assert (shown.status, shown.json) == (200, webhook)
        assert (listed.status, listed.json) == (200, {"webhooks": [webhook], "total": 1})

    async def test_the_secret_is_stored_encrypted(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL)

        [row] = hooks.team.world.rows("SELECT webhooks::text, secret_sealed FROM webhooks")
        secret = hooks.secrets[webhook_id]
        assert secret not in row[0]
        assert secret.encode() not in bytes(row[1])

    async def test_invalid_input_is_refused_with_the_field(self, hooks: Hooks, subtests: pytest.Subtests) -> None:
        for field, value in (
            *(("name", ""), ("name", "  "), ("name", "n" * 101), ("url", ""), ("url", "ftp://example.com")),
            *(("url", "http://10.0.0.1/"), ("url", "http://192.168.0.1/"), ("url", "http://2130706433/")),
            *(("url", "http://[::ffff:10.0.0.1]/"), ("events", []), ("events", ["user.invited", "no.such"])),
        ):
            with subtests.test(field=field, value=value):
                answer = await hooks.request("POST", body=BODY | {field: value})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [problem["field"] for problem in answer.json["details"]] == [field]
                assert (await hooks.request("GET")).json["total"] == 0

    async def test_all_invalid_fields_are_named_at_once(self, hooks: Hooks) -> None:
        created = await hooks.request("POST", body={"name": "", "url": "ftp://x", "events": []})
        changed = await hooks.change(str(uuid4()), name="", url="ftp://x", events=[])

        for answer in (created, changed):
            assert answer.status == 400
            assert [detail["field"] for detail in answer.json["details"]] == ["name", "url", "events"]

    async def test_an_unknown_event_type_is_refused_with_the_valid_ones(self, hooks: Hooks) -> None:
        answer = await hooks.request("POST", body=BODY | {"events": ["no.such"]})

        assert all(event.value in answer.json["details"][0]["message"] for event in EventType)

    async def test_event_types_are_kept_once_each(self, hooks: Hooks) -> None:
        body = BODY | {"events": ["user.invited", "user.login.success", "user.invited"]}

        answer = await hooks.request("POST", body=body)

        assert answer.json["events"] == ["user.login.success", "user.invited"]

    async def test_a_name_is_taken_in_one_organization_and_free_in_others(self, hooks: Hooks, world: World) -> None:
        await hooks.create(URL)
        other = world.team("globex")
        other.add("olga", "owner")

        assert_refused(await hooks.request("POST", body=BODY), 400, "BAD_REQUEST")
        assert (await other.request("olga", "POST", "/webhooks", body=BODY)).status == 200

    async def test_of_two_webhooks_of_one_name_at_once_one_is_created(self, hooks: Hooks) -> None:
        await hooks.team.token("owner")

        answers = await at_once(*[lambda: hooks.request("POST", body=BODY)] * 2)

        assert statuses_of(answers) == [200, 400]

    async def test_the_number_of_webhooks_is_limited_also_at_once(self, hooks: Hooks) -> None:
        for number in range(WEBHOOKS_MAX - 1):
            await hooks.create(URL, name=f"hook {number}")

        answers = await at_once(
            lambda: hooks.request("POST", body=BODY | {"name": "a"}),
            lambda: hooks.request("POST", body=BODY | {"name": "b"}),
        )

        assert statuses_of(answers) == [200, 400]


class TestChange:
    """PATCH /webhooks/:webhook_id."""

    async def test_only_the_named_fields_change(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL, "user.invited")
        before = (await hooks.request("GET", f"/{webhook_id}")).json
        hooks.team.world.clock.advance(SECOND)

        answer = await hooks.change(webhook_id, events=["user.joined"])

        assert answer.json == before | {"events": ["user.joined"], "updated_at": "2026-02-03T04:05:07Z"}
        assert (await hooks.request("GET", f"/{webhook_id}")).json == answer.json
        everything = {"name": "new", "url": "https://new.example.com/", "events": ["user.invited"], "is_active": False}
        assert (await hooks.change(webhook_id, **everything)).json.items() >= everything.items()

    async def test_changing_nothing_changes_nothing(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL)
        before = (await hooks.request("GET", f"/{webhook_id}")).json
        hooks.team.world.clock.advance(SECOND)

        assert (await hooks.change(webhook_id)).json == before
        assert (await hooks.change(webhook_id, name="hook")).json == before

    async def test_invalid_input_is_refused_before_an_unknown_webhook(
        self, hooks: Hooks, subtests: pytest.Subtests
    ) -> None:
        webhook_id = await hooks.create(URL)

        for body in ({"name": ""}, {"url": "nonsense"}, {"url": "http://10.0.0.1/"}, {"events": []}, {"events": ["x"]}):
            with subtests.test(body=body):
                assert_refused(await hooks.change(webhook_id, **body), 400, "BAD_REQUEST")
                assert_refused(await hooks.change(str(uuid4()), **body), 400, "BAD_REQUEST")
                assert_refused(await hooks.change(str(uuid4())), 404, "NOT_FOUND")

    async def test_a_name_of_another_webhook_is_refused(self, hooks: Hooks) -> None:
        await hooks.create(URL, name="one")
        webhook_id = await hooks.create(URL, name="two")

        assert_refused(await hooks.change(webhook_id, name="one"), 400, "BAD_REQUEST")


class TestForeignWebhooks:
    """A webhook of another organization is not found."""

    async def test_it_is_not_found_and_unchanged(self, hooks: Hooks, world: World, subtests: pytest.Subtests) -> None:
        webhook_id = await hooks.create(URL)
        delivery_id = await hooks.test(webhook_id)
        tables = ("webhooks", "webhook_deliveries", "webhook_queues")
        before = [world.rows(f"SELECT t::text FROM {table} t") for table in tables]
        other = world.team("globex")
        other.add("olga", "owner")

        for method, path, body in (
            ("GET", "", None),
            ("PATCH", "", {"name": "mine"}),
            ("DELETE", "", None),
            ("GET", "/deliveries", None),
            ("POST", "/test", None),
            ("POST", "/rotate-secret", None),
            ("POST", "/redeliver-failed", {"since": "2026-01-01T00:00:00Z"}),
            ("POST", "/deliveries/{delivery}/redeliver", None),
        ):
            with subtests.test(method=method, path=path, body=body):
                answer = await other.request(
                    "olga", method, f"/webhooks/{webhook_id}{path.format(delivery=delivery_id)}", body=body
                )

                assert_refused(answer, 404, "NOT_FOUND")
                assert [world.rows(f"SELECT t::text FROM {table} t") for table in tables] == before

    async def test_a_delivery_of_another_webhook_is_not_found(self, hooks: Hooks) -> None:
        one, two = await hooks.create(URL, name="one"), await hooks.create(URL, name="two")
        delivery_id = await hooks.test(one)

        answer = await hooks.request("POST", f"/{two}/deliveries/{delivery_id}/redeliver")

        assert_refused(answer, 404, "NOT_FOUND")


class TestSecret:
    """The secret that signs, and its rotation."""

    async def test_a_delivery_is_signed_by_the_secret(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url)
        await hooks.test(webhook_id)

        await hooks.send()

        [received] = receiver.received
        assert signed_by(received, hooks.secrets[webhook_id])
        assert not signed_by(received, "whsec_" + base64.b64encode(bytes(32)).decode())

    async def test_for_a_day_after_a_rotation_both_secrets_sign(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url)
        before = (await hooks.request("GET", f"/{webhook_id}")).json
        rotated = (await hooks.request("POST", f"/{webhook_id}/rotate-secret")).json
        old, new = hooks.secrets[webhook_id], rotated.pop("secret")
        assert (rotated, new != old) == (before, True)

        await hooks.test(webhook_id)
        await hooks.send_after(DAY - SECOND)
        await hooks.test(webhook_id)
        await hooks.send_after(SECOND)

        during, after = receiver.received
        assert [signed_by(during, secret) for secret in (old, new)] == [True, True]
        assert [signed_by(after, secret) for secret in (old, new)] == [False, True]

    async def test_a_second_rotation_ends_the_first_secret(self, hooks: Hooks, receiver: Receiver) -> None:
        webhook_id = await hooks.create(receiver.url)
        first = hooks.secrets[webhook_id]
        second = (await hooks.request("POST", f"/{webhook_id}/rotate-secret")).json["secret"]
        third = (await hooks.request("POST", f"/{webhook_id}/rotate-secret")).json["secret"]
        await hooks.test(webhook_id)

        await hooks.send()

        [received] = receiver.received
        assert [signed_by(received, secret) for secret in (first, second, third)] == [False, True, True]


class TestDeletion:
    """DELETE /webhooks/:webhook_id."""

    async def test_the_webhook_and_its_deliveries_are_deleted(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL)
        await hooks.test(webhook_id)

        answer = await hooks.request("DELETE", f"/{webhook_id}")

        assert (answer.status, answer.json) == (200, {})
        assert_refused(await hooks.request("GET", f"/{webhook_id}"), 404, "NOT_FOUND")
        assert_refused(await hooks.request("GET", f"/{webhook_id}/deliveries"), 404, "NOT_FOUND")
        assert hooks.team.world.rows("SELECT id FROM webhook_deliveries") == []
        assert await hooks.send() == 0

    async def test_deleting_it_beside_an_event_loses_neither(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL, "user.invited")
        hooks.publish(*"abcdefgh")

        async def assign_positions() -> Any:
            await hooks.assign_positions()
            return await hooks.feed()

        answers = await at_once(assign_positions, lambda: hooks.request("DELETE", f"/{webhook_id}"))

        assert statuses_of(answers) == [200, 200]
        assert len([event for event in (await hooks.feed()).json["events"] if event["event"] == "user.invited"]) == 8


async def test_the_event_types_are_all_types_with_their_descriptions(team: Team) -> None:
    answer = await team.request("owner", "GET", "/webhooks/event-types")

    assert answer.status == 200
    assert [item["value"] for item in answer.json] == [event.value for event in EventType]
    assert all(item["label"] and item["category"] and item["description"] for item in answer.json)
    assert all(item.keys() == {"value", "label", "category", "description"} for item in answer.json)


async def test_changes_are_in_the_audit_log_without_the_path_of_the_url(hooks: Hooks, world: World) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/hidden?key=hidden", "user.invited")
    await hooks.change(webhook_id, is_active=False)
    await hooks.change(webhook_id, is_active=False)
    await hooks.request("POST", f"/{webhook_id}/rotate-secret")
    await hooks.request("DELETE", f"/{webhook_id}")

    entries = world.audit_entries("organization.updated", "actor_user_id", "target_id", "details")
    described = {
        "webhook_id": webhook_id,
        "webhook_name": "hook",
        "webhook_host": "hooks.example.com",
        "webhook_events": ["user.invited"],
    }
    assert [details for _, _, details in entries] == [
        {"change": "webhook_created", "is_active": True, **described},
        {"change": "webhook_updated", "is_active": False, **described},
        {"change": "webhook_secret_rotated", "is_active": False, **described},
        {"change": "webhook_deleted", "is_active": False, **described},
    ]
    owner, organization = hooks.team.ids["owner"], str(hooks.team.organization_id)
    assert {(actor, target) for actor, target, _ in entries} == {(owner, organization)}
    assert len(world.events("organization.updated")) == 4


async def test_tests_and_redeliveries_are_in_the_audit_log_with_who_asked_for_them(hooks: Hooks, world: World) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/", "user.invited")
    delivery_id = await hooks.test(webhook_id)
    path, since = f"/{webhook_id}/deliveries/{delivery_id}/redeliver", "2026-02-03T05:05:06+01:00"
    assert (await hooks.request("POST", path, by="admin")).status == 200
    body = {"since": since}
    assert (await hooks.request("POST", f"/{webhook_id}/redeliver-failed", by="admin", body=body)).status == 200
    assert_refused(await hooks.request("POST", f"/{uuid4()}/deliveries/{delivery_id}/redeliver"), 404, "NOT_FOUND")

    named = {"webhook_id": webhook_id, "webhook_name": "hook"}
    owner, admin = hooks.team.ids["owner"], hooks.team.ids["admin"]
    assert world.audit_entries("webhook.tested", "actor_user_id", "details") == [
        (owner, {**named, "delivery_id": delivery_id})
    ]
    assert world.audit_entries("webhook.redelivered", "actor_user_id", "details") == [
        (admin, {**named, "delivery_id": delivery_id, "queued": 1}),
        (admin, {**named, "since": "2026-02-03T04:05:06Z", "queued": 0}),
    ]
