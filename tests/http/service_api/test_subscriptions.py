"""The backend of a service manages the subscriptions of its users."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from adapters.postgres.driver.connection import RawConnection
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.backend import Backend, insert_backend
from tests.world.builder import NO_ID
from tests.world.signing_in import claims_of
from tests.world.world import assert_refused

BOB = "bob@example.com"
END = "2027-01-31T12:00:00Z"


@pytest.fixture
def pro(backend: Backend) -> UUID:
    """A plan of the service."""
    return backend.plan(features=["reports"])


@pytest.fixture
def bob(backend: Backend) -> UUID:
    """A user of the service."""
    return backend.user(BOB)


async def create(backend: Backend, user_id: UUID | str, plan_id: UUID | str, **fields: Any) -> Answer:
    body = {"user_id": str(user_id), "plan_id": str(plan_id)} | fields
    return await backend.request("POST", "/subscriptions", body=body)


async def change(backend: Backend, user_id: UUID, **fields: Any) -> Answer:
    return await backend.request("PATCH", f"/subscriptions/{user_id}", body=fields)


async def show(backend: Backend, user_id: UUID) -> Answer:
    return await backend.request("GET", f"/subscriptions/{user_id}")


def bill(backend: Backend) -> None:
    """Make every subscription one that the payment provider bills."""
    backend.world.connection.execute("UPDATE subscriptions SET billing_subscription_id = 'sub_' || id")


class TestCreate:
    """POST /api/service/subscriptions."""

    async def test_a_subscription_has_the_fields_of_the_document_and_lasts_thirty_days(
        self, backend: Backend, bob: UUID, pro: UUID, clock: SettableClock
    ) -> None:
        answer = await create(backend, bob, pro)

        assert answer.status == 200, answer.text
        assert answer.json == {
            "id": answer.json["id"],
            "user_id": str(bob),
            "plan_id": str(pro),
            "plan_name": "Pro",
            "status": "active",
            "current_period_end": (clock.now + timedelta(days=30)).isoformat().replace("+00:00", "Z"),
        }
        assert (await show(backend, bob)).json == answer.json

    async def test_status_and_end_of_the_period_are_taken_as_given(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        answer = await create(backend, bob, pro, status="past_due", current_period_end="2027-01-31T13:00:00+01:00")

        assert (answer.json["status"], answer.json["current_period_end"]) == ("past_due", END)

    async def test_it_is_recorded_with_the_key_and_without_an_actor(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        subscription_id = (await create(backend, bob, pro)).json["id"]

        details = {
            "subscription_id": subscription_id,
            "service_id": str(backend.service_id),
            "user_id": str(bob),
            "plan_id": str(pro),
            "plan_name": "Pro",
            "status": "active",
        }
        key_id = str(backend.world.value("SELECT id FROM api_keys"))
        assert backend.world.audit_entries("subscription.created") == [
            (backend.organization_id, None, subscription_id, details | {"api_key_id": key_id})
        ]
        assert backend.world.events("subscription.created") == [(backend.organization_id, None, details)]

    async def test_it_is_in_the_user_s_tokens_from_the_next_refresh_on(self, backend: Backend, pro: UUID) -> None:
        bob = backend.world.user(BOB)
        tokens = await backend.world.sign_in(BOB, org_slug="acme", service_slug="shop")
        await create(backend, bob, pro)

        claims = claims_of((await backend.world.refresh(tokens.refresh_token)).json["access_token"])

        assert (claims["plan"], claims["subscription_status"], claims["features"]) == ("Pro", "active", ["reports"])

    @pytest.mark.parametrize("live", ["active", "past_due"])
    @pytest.mark.parametrize("given", ["active", "cancelled"])
    async def test_beside_an_active_subscription_it_is_409(
        self, backend: Backend, bob: UUID, pro: UUID, live: str, given: str
    ) -> None:
        await create(backend, bob, pro, status=live)

        assert_refused(await create(backend, bob, pro, status=given), 409, "CONFLICT")

    async def test_after_one_has_ended_another_may_begin(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        await create(backend, bob, pro, status="cancelled")

        assert (await create(backend, bob, pro)).status == 200
        assert (await show(backend, bob)).json["status"] == "active"

    async def test_of_concurrent_calls_one_succeeds(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        answers = await at_once(*[partial(create, backend, bob, pro)] * 6)

        assert statuses_of(answers) == [200] + [409] * 5
        assert len(backend.world.audit_entries("subscription.created")) == 1

    async def test_an_unknown_user_and_one_of_another_service_are_404(self, backend: Backend, pro: UUID) -> None:
        globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")
        strangers = [NO_ID, backend.world.user("stranger@example.com"), globex.user("foreign@example.com")]

        for user_id in strangers:
            assert_refused(await create(backend, user_id, pro), 404, "NOT_FOUND")

    async def test_an_unknown_plan_and_one_of_another_tenant_are_404(self, backend: Backend, bob: UUID) -> None:
        globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")

        for plan_id in (NO_ID, globex.plan()):
            assert_refused(await create(backend, bob, plan_id), 404, "NOT_FOUND")

    async def test_a_plan_of_a_sibling_service_is_403(self, backend: Backend, bob: UUID) -> None:
        till = backend.world.service(backend.organization_id, "till")
        plan_id = backend.world.plan(backend.organization_id, till.id)

        assert_refused(await create(backend, bob, plan_id), 403, "FORBIDDEN")

    async def test_an_invalid_field_is_400(
        self, backend: Backend, bob: UUID, pro: UUID, subtests: pytest.Subtests
    ) -> None:
        for fields, field in (
            ({"user_id": "bob"}, "user_id"),
            ({"plan_id": 7}, "plan_id"),
            ({"status": "canceled"}, "status"),
            ({"current_period_end": "tomorrow"}, "current_period_end"),
            ({"current_period_end": "2027-01-31T12:00:00"}, "current_period_end"),
            ({"current_period_end": "1969-12-31T23:59:59Z"}, "current_period_end"),
            ({"current_period_end": "0001-01-01T00:00:00+14:00"}, "current_period_end"),
            ({"current_period_end": "9999-12-31T23:59:59-14:00"}, "current_period_end"),
        ):
            with subtests.test(fields=fields, field=field):
                answer = await backend.request(
                    "POST", "/subscriptions", body={"user_id": str(bob), "plan_id": str(pro)} | fields
                )

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field


class TestRead:
    """Listing subscriptions, and showing one."""

    async def test_the_newest_come_first_filtered_by_status(
        self, backend: Backend, pro: UUID, clock: SettableClock
    ) -> None:
        users = [backend.user(f"user-{number}@example.com") for number in range(4)]
        for user_id, status in zip(users, ("active", "cancelled", "active", "past_due"), strict=True):
            clock.now += timedelta(seconds=1)
            await create(backend, user_id, pro, status=status)
        insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")

        async def listed(query: str) -> tuple[list[int], int]:
            answer = (await backend.request("GET", f"/subscriptions{query}")).json
            numbers = [[str(one) for one in users].index(found["user_id"]) for found in answer["subscriptions"]]
            return numbers, answer["total"]

        assert await listed("") == ([3, 2, 1, 0], 4)
        assert await listed("?limit=2&offset=1") == ([2, 1], 4)
        assert await listed("?status=active&limit=1") == ([2], 2)
        assert await listed("?status=expired") == ([], 0)

    async def test_an_invalid_query_is_400(self, backend: Backend, subtests: pytest.Subtests) -> None:
        for query in ("?status=canceled", "?limit=0", "?offset=-1"):
            with subtests.test(query=query):
                assert_refused(await backend.request("GET", f"/subscriptions{query}"), 400, "BAD_REQUEST")

    async def test_a_user_without_one_is_404_like_one_of_another_tenant(self, backend: Backend, bob: UUID) -> None:
        globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")
        foreign = globex.user("foreign@example.com")
        backend.world.subscription(globex.plan(), foreign)

        for user_id in (NO_ID, bob, foreign):
            assert_refused(await show(backend, user_id), 404, "NOT_FOUND")
            assert_refused(await change(backend, user_id, status="expired"), 404, "NOT_FOUND")
            answer = await backend.request("DELETE", f"/subscriptions/{user_id}")
            assert_refused(answer, 404, "NOT_FOUND")
        assert backend.world.rows("SELECT status FROM subscriptions") == [("active",)]


class TestChange:
    """PATCH /api/service/subscriptions/:user_id."""

    async def test_the_named_fields_change_and_the_others_stay(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        before = (await create(backend, bob, pro)).json
        gold = backend.plan("Gold")

        first = await change(backend, bob, status="past_due")
        second = await change(backend, bob, plan_id=str(gold), current_period_end=END)

        assert (first.status, first.json) == (200, before | {"status": "past_due"})
        assert second.json == first.json | {"plan_id": str(gold), "plan_name": "Gold", "current_period_end": END}

    async def test_a_change_is_recorded_and_a_cancellation_as_such(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        await create(backend, bob, pro)

        for status in ("past_due", "past_due", "cancelled", "cancelled"):
            await change(backend, bob, status=status)

        [(_, actor_id, _, updated)] = backend.world.audit_entries("subscription.updated")
        assert (actor_id, updated["changes"]) == (None, {"status": {"from": "active", "to": "past_due"}})
        [(_, _, _, canceled)] = backend.world.audit_entries("subscription.canceled")
        assert canceled["changes"] == {"status": {"from": "past_due", "to": "cancelled"}}
        assert len(backend.world.events("subscription.canceled")) == 1

    async def test_the_new_plan_and_end_are_in_the_record(
        self, backend: Backend, bob: UUID, pro: UUID, clock: SettableClock
    ) -> None:
        await create(backend, bob, pro)
        gold = backend.plan("Gold")

        await change(backend, bob, plan_id=str(gold), current_period_end=END)

        [(_, _, _, details)] = backend.world.audit_entries("subscription.updated")
        end = (clock.now + timedelta(days=30)).isoformat().replace("+00:00", "Z")
        assert details["changes"] == {
            "plan_id": {"from": str(pro), "to": str(gold)},
            "plan_name": {"from": "Pro", "to": "Gold"},
            "current_period_end": {"from": end, "to": END},
        }

    async def test_a_change_that_names_nothing_changes_nothing(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        before = (await create(backend, bob, pro)).json

        answer = await change(backend, bob)

        assert (answer.status, answer.json) == (200, before)
        assert backend.world.audit_entries("subscription.updated") == []

    async def test_an_ended_subscription_may_be_resumed(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        await create(backend, bob, pro, status="cancelled")

        assert (await change(backend, bob, status="active")).json["status"] == "active"

    async def test_of_a_new_subscription_and_a_resumed_one_one_wins(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        for _ in range(5):
            backend.world.connection.execute("DELETE FROM subscriptions")
            await create(backend, bob, pro, status="cancelled")

            answers = await at_once(partial(create, backend, bob, pro), partial(change, backend, bob, status="active"))

            live = "SELECT count(*) FROM subscriptions WHERE status = 'active'"
            assert backend.world.value(live) == 1
            assert statuses_of(answers) in ([200, 200], [200, 409])

    async def test_plans_are_refused_as_in_a_new_subscription(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        await create(backend, bob, pro)
        till = backend.world.service(backend.organization_id, "till")
        sibling = backend.world.plan(backend.organization_id, till.id)

        assert_refused(await change(backend, bob, plan_id=str(NO_ID)), 404, "NOT_FOUND")
        assert_refused(await change(backend, bob, plan_id=str(sibling)), 403, "FORBIDDEN")
        assert_refused(await change(backend, bob, plan_id="pro"), 400, "BAD_REQUEST")

    async def test_what_the_payment_provider_bills_is_changed_there(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        before = (await create(backend, bob, pro)).json
        bill(backend)

        assert_refused(await change(backend, bob, status="cancelled"), 409, "CONFLICT")
        assert_refused(await backend.request("DELETE", f"/subscriptions/{bob}"), 409, "CONFLICT")
        assert (await change(backend, bob, status="active")).json == before

    async def test_what_the_payment_provider_no_longer_bills_is_changed_here(
        self, backend: Backend, bob: UUID, pro: UUID
    ) -> None:
        await create(backend, bob, pro, status="expired")
        bill(backend)

        assert (await change(backend, bob, status="cancelled")).status == 200


class TestDelete:
    """DELETE /api/service/subscriptions/:user_id."""

    async def test_all_subscriptions_of_the_user_go(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        await create(backend, bob, pro, status="cancelled")
        await create(backend, bob, pro)

        answer = await backend.request("DELETE", f"/subscriptions/{bob}")

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await show(backend, bob), 404, "NOT_FOUND")
        [(_, _, _, details)] = backend.world.audit_entries("subscription.canceled")
        assert (details["deleted"], details["plan_name"]) == (True, "Pro")

    async def test_of_two_concurrent_deletions_one_succeeds(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        await create(backend, bob, pro)

        answers = await at_once(*[partial(backend.request, "DELETE", f"/subscriptions/{bob}")] * 2)

        assert statuses_of(answers) == [204, 404]


class TestRaces:
    """Another subscription is made, or what belongs to one goes, at the same moment."""

    @pytest.mark.parametrize("is_resumed", [False, True])
    async def test_a_subscription_that_another_overtakes_is_409(
        self, backend: Backend, bob: UUID, pro: UUID, raw_connection: RawConnection, is_resumed: bool
    ) -> None:
        if is_resumed:
            await create(backend, bob, pro, status="cancelled")
        answers: list[Answer] = []

        async def subscribe() -> None:
            late = change(backend, bob, status="active") if is_resumed else create(backend, bob, pro)
            answers.append(await late)

        async with trio.open_nursery() as nursery:
            with raw_connection.transaction():
                raw_connection.execute(
                    """
                    INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at,
                                               updated_at)
                    SELECT gen_random_uuid(), organization_id, service_id, %s, id, 'active', now(), now()
                    FROM   plans
                    WHERE  id = %s
                    """,
                    (bob, pro),
                )
                nursery.start_soon(subscribe)
                await waiting_for_a_lock(backend.world.connection)

        assert_refused(answers[0], 409, "CONFLICT")
        assert backend.world.value("SELECT count(*) FROM subscriptions WHERE status = 'active'") == 1

    async def test_a_plan_is_deleted_or_subscribed_to(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        world = backend.world
        owner = await world.signed_in_member(backend.organization_id)
        path = "/api/organizations/acme/services/shop/plans"

        answers = await at_once(partial(create, backend, bob, pro), partial(owner.delete, f"{path}/{pro}"))

        assert statuses_of(answers) in ([200, 400], [204, 404])

    async def test_a_service_is_deleted_or_subscribed_to(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        owner = await backend.world.signed_in_member(backend.organization_id)

        answers = await at_once(
            partial(create, backend, bob, pro), partial(owner.delete, "/api/organizations/acme/services/shop")
        )

        assert statuses_of(answers) in ([200, 400], [204, 401], [204, 404])

    async def test_a_user_is_removed_or_subscribed(self, backend: Backend, bob: UUID, pro: UUID) -> None:
        answers = await at_once(partial(create, backend, bob, pro), partial(backend.request, "DELETE", f"/users/{bob}"))

        assert statuses_of(answers) in ([200, 204], [204, 404])
        assert backend.world.rows("SELECT FROM subscriptions") == []
