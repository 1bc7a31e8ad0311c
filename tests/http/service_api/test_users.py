"""The backend of a service manages its users."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.backend import Backend, insert_backend
from tests.world.builder import NO_ID
from tests.world.world import assert_refused

BOB = "bob@example.com"
NEW = "new@example.com"


async def add(backend: Backend, email: str = BOB) -> Answer:
    return await backend.request("POST", "/users", body={"email": email})


async def listed(backend: Backend, query: str = "") -> tuple[list[str], int]:
    answer = await backend.request("GET", f"/users{query}")
    assert answer.status == 200, answer.text
    return [user["email"] for user in answer.json["users"]], answer.json["total"]


class TestList:
    """GET /api/service/users."""

    async def test_the_users_of_the_service_alone_in_the_order_of_their_ids(self, backend: Backend) -> None:
        ids = {backend.user(email): email for email in ("ann@example.com", BOB, "cid@example.com")}
        ordered = [ids[user_id] for user_id in sorted(ids, reverse=True)]
        backend.world.user("stranger@example.com")
        insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}").user("foreign@example.com")

        found = [await listed(backend), await listed(backend, "?limit=1&offset=1"), await listed(backend, "?offset=3")]

        assert found == [
            (ordered, 3),
            ([ordered[1]], 3),
            ([], 3),
        ]

    async def test_a_user_has_the_fields_of_the_document(self, backend: Backend, clock: SettableClock) -> None:
        user_id = backend.user(BOB)

        at = clock.now.isoformat().replace("+00:00", "Z")
        user = {"id": str(user_id), "email": BOB, "created_at": at, "metadata": {}}
        assert (await backend.request("GET", "/users")).json == {"users": [user], "total": 1}
        assert (await backend.request("GET", f"/users/{user_id}")).json == user

    async def test_a_service_without_users_has_an_empty_list(self, backend: Backend) -> None:
        assert await listed(backend) == ([], 0)

    async def test_invalid_paging_is_400(self, backend: Backend, subtests: pytest.Subtests) -> None:
        for query in ("?limit=0", "?offset=-1", "?limit=many"):
            with subtests.test(query=query):
                assert_refused(await backend.request("GET", f"/users{query}"), 400, "BAD_REQUEST")

    async def test_the_limit_is_lowered_to_the_maximum_and_the_offset_has_no_end(self, backend: Backend) -> None:
        for number in range(101):
            backend.user(f"user-{number}@example.com")

        assert len((await listed(backend, "?limit=1000"))[0]) == 100
        assert await listed(backend, f"?offset={10**30}") == ([], 101)

    async def test_key_and_page_are_read_in_two_statements(self, backend: Backend) -> None:
        backend.user(BOB)
        await listed(backend)

        with recorded_statements() as statements:
            await listed(backend)

        assert len(statements) == 2


class TestAdd:
    """POST /api/service/users."""

    async def test_an_account_without_password_is_created_for_a_new_address(self, backend: Backend) -> None:
        answer = await add(backend, " Bob@Example.com ")

        assert answer.status == 200, answer.text
        assert answer.json["email"] == BOB
        row = "SELECT password_hash, email_verified_at, created_by_organization_id FROM users WHERE email = %s"
        assert backend.world.rows(row, BOB) == [(None, None, backend.organization_id)]
        assert await listed(backend) == ([BOB], 1)

    async def test_it_publishes_the_sign_up_and_sends_no_mail(self, backend: Backend) -> None:
        user_id = (await add(backend)).json["id"]

        [(organization_id, actor, data)] = backend.world.events("user.signup.success")
        assert (organization_id, actor) == (backend.organization_id, None)
        assert data == {
            "user_id": user_id,
            "service_id": str(backend.service_id),
            "api_key_id": str(backend.world.value("SELECT id FROM api_keys")),
        }
        assert await backend.world.mails() == []

    async def test_a_new_account_takes_six_statements(self, backend: Backend) -> None:
        await add(backend)
        with recorded_statements() as statements:
            assert (await add(backend, NEW)).status == 200

        # Statements for the key, the account with its lock, its link, the mark and the event.
        assert len(statements) == 6

    async def test_an_existing_account_is_linked_as_it_is(self, backend: Backend) -> None:
        user_id = backend.world.user(BOB)

        answer = await add(backend)

        assert (answer.status, answer.json["id"]) == (200, str(user_id))
        assert set(answer.json) == {"id", "email", "created_at", "metadata"}
        assert backend.world.rows("SELECT created_by_organization_id FROM users") == [(None,)]
        # As for an account that is made: the service learns that the person is new to it, and no more.
        assert len(backend.world.events("user.signup.success")) == 1
        assert await listed(backend) == ([BOB], 1)

    async def test_repeating_it_changes_nothing(self, backend: Backend) -> None:
        answers = [await add(backend), await add(backend)]

        assert answers[0].json == answers[1].json
        assert len(backend.world.events("user.signup.success")) == 1
        assert await listed(backend) == ([BOB], 1)

    async def test_concurrent_calls_create_one_account(self, backend: Backend) -> None:
        other = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")

        answers = await at_once(*[partial(add, one) for one in (backend, other) * 4])

        assert statuses_of(answers) == [200] * 8
        assert len({answer.json["id"] for answer in answers}) == 1
        organizations = [organization_id for organization_id, _, _ in backend.world.events("user.signup.success")]
        assert len(organizations) == 2
        assert {*organizations} == {backend.organization_id, other.organization_id}
        assert await listed(backend) == await listed(other) == ([BOB], 1)

    async def test_signing_in_later_keeps_the_account_and_the_time_of_the_link(
        self, backend: Backend, clock: SettableClock
    ) -> None:
        backend.world.user(BOB)
        linked_at = clock.now
        await add(backend)
        clock.now += timedelta(hours=1)

        await backend.world.sign_in(BOB, org_slug="acme", service_slug="shop")
        await add(backend)

        times = backend.world.rows("SELECT first_login_at, last_login_at FROM service_users")
        assert times == [(linked_at, clock.now)]

    async def test_an_invalid_address_is_400(self, backend: Backend, subtests: pytest.Subtests) -> None:
        for email in ("", "bob", "bob@example", "b b@example.com", f"{'b' * 250}@example.com"):
            with subtests.test(email=email):
                assert_refused(await add(backend, email), 400, "BAD_REQUEST")

    async def test_a_body_without_an_address_is_400(self, backend: Backend) -> None:
        assert_refused(await backend.request("POST", "/users", body={}), 400, "BAD_REQUEST")

    async def test_the_placeholder_of_an_anonymized_account_is_no_address(self, backend: Backend) -> None:
        placeholder = "anonymized-20260101@deleted.local"
        backend.world.user(placeholder, is_verified=False, password_hash=None, is_active=False)
        backend.world.connection.execute("UPDATE users SET anonymized_at = created_at")

        assert_refused(await add(backend, placeholder), 400, "BAD_REQUEST")
        assert await listed(backend) == ([], 0)


class TestSecrecy:
    """What an organization learns of an account by adding it with a key."""

    async def seen(self, backend: Backend, user_id: UUID) -> tuple[Any, ...]:
        owner = await backend.world.signed_in_member(backend.organization_id, email="owner@example.com")
        [item] = (await owner.get("/api/organizations/acme/users")).json["users"]
        detail = (await owner.get(f"/api/organizations/acme/users/{user_id}")).json
        assert item["mfa_enabled"] == detail["mfa_enabled"]
        return detail["email_verified"], detail["mfa_enabled"], detail["updated_at"] == detail["created_at"]

    async def test_how_an_account_is_protected_stays_unknown(self, backend: Backend) -> None:
        user_id = backend.world.user(BOB, has_mfa=True)
        backend.world.connection.execute("UPDATE users SET updated_at = now()")

        await add(backend)

        assert await self.seen(backend, user_id) == (False, False, True)

    async def test_once_its_user_has_signed_in_it_is_seen(self, backend: Backend, clock: SettableClock) -> None:
        user_id = backend.user(BOB)
        backend.world.connection.execute("UPDATE users SET updated_at = now()")
        await backend.world.sign_in(BOB, org_slug="acme", service_slug="shop")

        assert await self.seen(backend, user_id) == (True, False, False)

    async def test_an_account_that_the_organization_created_is_seen_no_more(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)
        backend.world.connection.execute("UPDATE users SET email_verified_at = now(), mfa_enabled_at = now()")

        assert await self.seen(backend, user_id) == (False, False, True)


class TestForeign:
    """Accounts that are no users of the service: answers do not tell whether they exist."""

    @pytest.fixture
    def others(self, backend: Backend) -> list[UUID]:
        """An id of no account, a stranger, a user of another tenant and one of a sibling service."""
        globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")
        till = backend.world.service(backend.organization_id, "till")
        sibling = backend.world.user("sibling@example.com")
        backend.world.link(backend.organization_id, till.id, sibling)
        return [NO_ID, backend.world.user("stranger@example.com"), globex.own_user("foreign@example.com"), sibling]

    async def test_every_one_of_them_is_404(
        self, backend: Backend, others: list[UUID], subtests: pytest.Subtests
    ) -> None:
        for method, body in (("GET", None), ("PATCH", {"email": NEW}), ("DELETE", None)):
            with subtests.test(method=method, body=body):
                answers = [await backend.request(method, f"/users/{user_id}", body=body) for user_id in others]

                assert {(answer.status, answer.json["error"]) for answer in answers} == {
                    (404, "This service has no such user.")
                }
                assert backend.world.value("SELECT count(*) FROM service_users") == 2
                assert not backend.world.has_user(NEW)
