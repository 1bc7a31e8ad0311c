"""The users of a service as its backend manages them (identity 2.2 and 4.5, decisions 5.7 and 6.4)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.backend import Backend, insert_backend
from tests.world.builder import NO_ID
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from uuid import UUID

    from tests.application import Answer
    from tests.clock import SettableClock

BOB = "bob@example.com"
NEW = "new@example.com"


async def add(backend: Backend, email: str = BOB) -> Answer:
    return await backend.request("POST", "/users", body={"email": email})


async def change(backend: Backend, user_id: UUID, email: str | None = NEW) -> Answer:
    return await backend.request("PATCH", f"/users/{user_id}", body={"email": email})


async def remove(backend: Backend, user_id: UUID) -> Answer:
    return await backend.request("DELETE", f"/users/{user_id}")


async def listed(backend: Backend, query: str = "") -> tuple[list[str], int]:
    answer = await backend.request("GET", f"/users{query}")
    assert answer.status == 200, answer.text
    return [user["email"] for user in answer.json["users"]], answer.json["total"]


class TestList:
    """GET /api/service/users."""

    async def test_the_users_of_the_service_alone_the_newest_accounts_first(self, backend: Backend) -> None:
        for name in ("ann", "bob", "cid"):
            backend.user(f"{name}@example.com")
        backend.world.user("stranger@example.com")
        insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}").user("foreign@example.com")

        found = [await listed(backend), await listed(backend, "?limit=1&offset=1"), await listed(backend, "?offset=3")]

        assert found == [
            (["cid@example.com", "bob@example.com", "ann@example.com"], 3),
            (["bob@example.com"], 3),
            ([], 3),
        ]

    async def test_a_user_has_the_fields_of_the_document(self, backend: Backend, clock: SettableClock) -> None:
        user_id = backend.user(BOB)

        user = {"id": str(user_id), "email": BOB, "created_at": clock.now.isoformat().replace("+00:00", "Z")}
        assert (await backend.request("GET", "/users")).json == {"users": [user], "total": 1}
        assert (await backend.request("GET", f"/users/{user_id}")).json == user

    async def test_a_service_without_users_has_an_empty_list(self, backend: Backend) -> None:
        assert await listed(backend) == ([], 0)

    @pytest.mark.parametrize("query", ["?limit=0", "?offset=-1", "?limit=many"])
    async def test_invalid_paging_is_400(self, backend: Backend, query: str) -> None:
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

    async def test_an_existing_account_is_linked_as_it_is(self, backend: Backend) -> None:
        user_id = backend.world.user(BOB)

        answer = await add(backend)

        assert (answer.status, answer.json["id"]) == (200, str(user_id))
        assert set(answer.json) == {"id", "email", "created_at"}
        assert backend.world.rows("SELECT created_by_organization_id FROM users") == [(None,)]
        assert backend.world.events("user.signup.success") == []
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
        assert len(backend.world.events("user.signup.success")) == 1
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

    @pytest.mark.parametrize("email", ["", "bob", "bob@example", "b b@example.com", f"{'b' * 250}@example.com"])
    async def test_an_invalid_address_is_400(self, backend: Backend, email: str) -> None:
        assert_refused(await add(backend, email), 400, "BAD_REQUEST")

    async def test_a_body_without_an_address_is_400(self, backend: Backend) -> None:
        assert_refused(await backend.request("POST", "/users", body={}), 400, "BAD_REQUEST")

    async def test_the_placeholder_of_an_anonymized_account_is_no_address(self, backend: Backend) -> None:
        placeholder = "anonymized-20260101@deleted.local"
        backend.world.user(placeholder, is_verified=False, password_hash=None, is_active=False)
        backend.world.connection.execute("UPDATE users SET anonymized_at = created_at")

        assert_refused(await add(backend, placeholder), 400, "BAD_REQUEST")
        assert await listed(backend) == ([], 0)

    async def test_an_address_that_its_account_may_get_back_is_409(self, backend: Backend) -> None:
        ada = await backend.world.signed_in_user()
        assert (await ada.patch("/api/user", {"email": NEW})).status == 200

        assert_refused(await add(backend, ada.email), 409, "CONFLICT")
        assert not backend.world.has_user(ada.email)


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

    async def test_an_account_that_the_organization_created_is_seen(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)
        backend.world.connection.execute("UPDATE users SET email_verified_at = now()")

        assert await self.seen(backend, user_id) == (True, False, True)


class TestForeign:
    """Accounts that are no users of the service: whether they exist cannot be told."""

    @pytest.fixture
    def others(self, backend: Backend) -> list[UUID]:
        """An id of no account, a stranger, a user of another tenant and one of a sibling service."""
        globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")
        till = backend.world.service(backend.organization_id, "till")
        sibling = backend.world.user("sibling@example.com")
        backend.world.link(backend.organization_id, till.id, sibling)
        return [NO_ID, backend.world.user("stranger@example.com"), globex.own_user("foreign@example.com"), sibling]

    @pytest.mark.parametrize(("method", "body"), [("GET", None), ("PATCH", {"email": NEW}), ("DELETE", None)])
    async def test_every_one_of_them_is_404(self, backend: Backend, others: list[UUID], method: str, body: Any) -> None:
        answers = [await backend.request(method, f"/users/{user_id}", body=body) for user_id in others]

        assert {(answer.status, answer.json["error"]) for answer in answers} == {
            (404, "This service has no such user.")
        }
        assert backend.world.value("SELECT count(*) FROM service_users") == 2
        assert not backend.world.has_user(NEW)


# Each makes an account not the organization's own.
SHARED = {
    "it was created by its user": "UPDATE users SET created_by_organization_id = NULL WHERE id = %(user_id)s",
    "it was created by another organization": """
        UPDATE users SET created_by_organization_id = %(globex_id)s WHERE id = %(user_id)s
    """,
    "its address is proved": "UPDATE users SET email_verified_at = created_at WHERE id = %(user_id)s",
    "it is a platform owner": "UPDATE users SET is_platform_owner = true WHERE id = %(user_id)s",
    "it owns the organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'owner', now()
    """,
    "it administers the organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'admin', now()
    """,
    "it is a member elsewhere": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(globex_id)s, %(user_id)s, 'member', now()
    """,
    "it signed in to a service elsewhere": """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
        SELECT id, organization_id, %(user_id)s, now(), now() FROM services WHERE organization_id = %(globex_id)s
    """,
}
OWN = {
    "nothing else": "SELECT 1",
    "it is a member of the organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'member', now()
    """,
    "another organization linked it, which its user never confirmed": """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
        SELECT id, organization_id, %(user_id)s, now() FROM services WHERE organization_id = %(globex_id)s
    """,
}


def prepare(backend: Backend, statement: str) -> UUID:
    """Insert a user whose account the organization created, and change what the statement says."""
    globex = insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")
    user_id = backend.own_user(BOB)
    backend.world.connection.execute(
        statement.encode(),
        {"user_id": user_id, "acme_id": backend.organization_id, "globex_id": globex.organization_id}
        if "%(" in statement
        else {},
    )
    return user_id


class TestChange:
    """PATCH /api/service/users/:user_id."""

    @pytest.mark.parametrize("statement", OWN.values(), ids=OWN)
    async def test_an_own_user_gets_another_address_which_is_not_proved(self, backend: Backend, statement: str) -> None:
        user_id = prepare(backend, statement)

        answer = await change(backend, user_id, "New@example.com")

        assert (answer.status, answer.json["email"]) == (200, NEW), answer.text
        assert backend.world.rows("SELECT email, email_verified_at FROM users WHERE id = %s", user_id) == [(NEW, None)]

    @pytest.mark.parametrize("statement", SHARED.values(), ids=SHARED)
    async def test_any_other_account_is_403(self, backend: Backend, statement: str) -> None:
        user_id = prepare(backend, statement)

        assert_refused(await change(backend, user_id), 403, "FORBIDDEN")
        assert backend.world.has_user(BOB)

    async def test_the_links_mailed_to_the_old_address_end(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)
        await backend.world.client.post("/api/auth/forgot-password", body={"email": BOB})
        [token] = [mail.values["token"] for mail in await backend.world.mails() if mail.to == BOB]

        await change(backend, user_id)

        reset = await backend.world.client.post(
            "/api/auth/reset-password", body={"token": token, "new_password": "a new password"}
        )
        assert_refused(reset, 400, "BAD_REQUEST")

    async def test_the_same_address_or_none_changes_nothing(self, backend: Backend) -> None:
        for user_id in (backend.own_user(BOB), backend.user("shared@example.com")):
            email = backend.world.value("SELECT email FROM users WHERE id = %s", user_id)

            for given in (None, email, email.upper()):
                answer = await change(backend, user_id, given)
                assert (answer.status, answer.json["email"]) == (200, email)

    async def test_an_address_of_another_account_is_400(self, backend: Backend) -> None:
        backend.world.user(NEW)

        assert_refused(await change(backend, backend.own_user(BOB)), 400, "BAD_REQUEST")

    async def test_an_address_that_its_account_may_get_back_is_400(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)
        ada = await backend.world.signed_in_user()
        assert (await ada.patch("/api/user", {"email": NEW})).status == 200

        assert_refused(await change(backend, user_id, ada.email), 400, "BAD_REQUEST")

    async def test_an_invalid_address_is_400(self, backend: Backend) -> None:
        assert_refused(await change(backend, backend.own_user(BOB), "nonsense"), 400, "BAD_REQUEST")

    async def test_of_two_changes_to_one_address_one_succeeds(self, backend: Backend) -> None:
        ids = [backend.own_user(BOB), backend.own_user("cid@example.com")]

        answers = await at_once(*[partial(change, backend, user_id) for user_id in ids])

        assert statuses_of(answers) == [200, 400]


class TestRemove:
    """DELETE /api/service/users/:user_id."""

    @pytest.mark.parametrize("statement", OWN.values(), ids=OWN)
    async def test_an_own_user_is_deleted_for_good(self, backend: Backend, statement: str) -> None:
        user_id = prepare(backend, statement)
        backend.world.subscription(backend.plan(), user_id)
        await backend.world.client.post("/api/auth/forgot-password", body={"email": BOB})

        answer = await remove(backend, user_id)

        assert (answer.status, answer.content) == (204, b"")
        for table in ("service_users", "memberships", "subscriptions", "mails", "one_time_tokens"):
            assert backend.world.rows(f"SELECT FROM {table}") == [], table
        assert not backend.world.has_user(BOB)

    async def test_who_was_deleted_may_come_back_as_another_account(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)
        await remove(backend, user_id)

        answer = await backend.world.register(BOB)

        assert answer.status == 200
        assert backend.world.user_id(BOB) != user_id

    @pytest.mark.parametrize("statement", SHARED.values(), ids=SHARED)
    async def test_any_other_account_loses_what_the_service_gave_and_the_answer_is_the_same(
        self, backend: Backend, statement: str
    ) -> None:
        user_id = prepare(backend, statement)
        backend.world.subscription(backend.plan(), user_id)

        answer = await remove(backend, user_id)

        assert (answer.status, answer.content) == (204, b"")
        assert backend.world.has_user(BOB)
        assert backend.world.rows("SELECT FROM subscriptions") == []
        assert await listed(backend) == ([], 0)

    async def test_sessions_and_sign_ins_of_the_service_end_and_others_stay(self, backend: Backend) -> None:
        world = backend.world
        user_id = world.user(BOB)
        world.service(backend.organization_id, "till")
        shop = await world.sign_in(BOB, org_slug="acme", service_slug="shop")
        till = await world.sign_in(BOB, org_slug="acme", service_slug="till")
        platform = await world.sign_in(BOB)

        assert (await remove(backend, user_id)).status == 204

        assert [(await world.list_sessions(tokens)).status for tokens in (shop, till, platform)] == [401, 200, 200]
        assert_refused(await world.refresh(shop.refresh_token), 401, "UNAUTHORIZED")
        slugs = "SELECT s.slug FROM login_events JOIN services s ON s.id = service_id WHERE user_id = %s"
        assert world.rows(slugs, user_id) == [("till",)]
        assert [data["sessions"] for _, _, data in world.events("session.revoked")] == [1]

    async def test_it_is_recorded_with_the_key_and_without_an_actor(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)

        await remove(backend, user_id)

        [(organization_id, actor_id, target_id, details)] = backend.world.audit_entries("user.removed")
        assert (organization_id, actor_id, target_id) == (backend.organization_id, None, str(user_id))
        assert details == {
            "user_id": str(user_id),
            "service_id": str(backend.service_id),
            "service_slug": "shop",
            "deleted": True,
            "api_key_id": str(backend.world.value("SELECT id FROM api_keys")),
        }

    async def test_of_two_concurrent_removals_one_succeeds(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)

        answers = await at_once(*[partial(remove, backend, user_id)] * 2)

        assert statuses_of(answers) == [204, 404]

    async def test_a_user_who_is_removed_and_added_at_once_is_either(self, backend: Backend, world: World) -> None:
        user_id = backend.own_user(BOB)

        answers = await at_once(partial(remove, backend, user_id), partial(add, backend))

        assert statuses_of(answers) == [200, 204]
        assert world.value("SELECT count(*) FROM service_users") == world.value("SELECT count(*) FROM users")
