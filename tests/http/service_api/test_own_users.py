"""Changing a user's address by key, and removing a user: an organization does both to its own accounts alone."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.backend import KEY, Backend, insert_backend, insert_key
from tests.world.directory import insert_directory
from tests.world.inviter import Inviter
from tests.world.world import World, assert_refused

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


# Each makes an account not the organization's own.
SHARED = {
    "it was created by its user": "UPDATE users SET created_by_organization_id = NULL WHERE id = %(user_id)s",
    "it was created by another organization": """
        UPDATE users SET created_by_organization_id = %(globex_id)s WHERE id = %(user_id)s
    """,
    "its address is proved": "UPDATE users SET email_verified_at = created_at WHERE id = %(user_id)s",
    "it is a platform owner": "UPDATE users SET is_platform_owner = true WHERE id = %(user_id)s",
    "it is of the platform's support": "UPDATE users SET is_platform_support = true WHERE id = %(user_id)s",
    "it owns the organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'owner', now(), now()
    """,
    "it administers the organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'admin', now(), now()
    """,
    "it is a member elsewhere": """
        INSERT INTO memberships SELECT gen_random_uuid(), %(globex_id)s, %(user_id)s, 'member', now(), now()
    """,
    "it signed in to a service elsewhere": """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
        SELECT id, organization_id, %(user_id)s, now(), now() FROM services WHERE organization_id = %(globex_id)s
    """,
}
MEMBER = "INSERT INTO memberships SELECT gen_random_uuid(), %(acme_id)s, %(user_id)s, 'member', now(), now()"
LINKED_ELSEWHERE = """
    INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
    SELECT id, organization_id, %(user_id)s, now() FROM services WHERE organization_id = %(globex_id)s
"""
# What leaves an account the organization's own to delete.
DELETABLE = {"nothing else": "SELECT 1", "it is a member of the organization": MEMBER}


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

    async def test_an_own_user_gets_another_address_which_is_not_proved(self, backend: Backend) -> None:
        user_id = backend.own_user(BOB)

        answer = await change(backend, user_id, "New@example.com")

        assert (answer.status, answer.json["email"]) == (200, NEW), answer.text
        assert backend.world.rows("SELECT email, email_verified_at FROM users WHERE id = %s", user_id) == [(NEW, None)]

    async def test_an_own_user_whom_another_organization_linked_gets_it_too(self, backend: Backend) -> None:
        user_id = prepare(backend, LINKED_ELSEWHERE)

        answer = await change(backend, user_id, "New@example.com")

        assert (answer.status, answer.json["id"], answer.json["email"]) == (200, str(user_id), NEW), answer.text
        query = "SELECT email_verified_at, created_by_organization_id FROM users WHERE email = %s"
        assert backend.world.rows(query, NEW) == [(None, backend.organization_id)]

    async def test_the_address_of_a_member_is_not_a_keys_to_change(self, backend: Backend) -> None:
        user_id = prepare(backend, MEMBER)

        assert_refused(await change(backend, user_id), 403, "FORBIDDEN")

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

    @pytest.mark.parametrize("statement", DELETABLE.values(), ids=DELETABLE)
    async def test_an_own_user_is_deleted_for_good(self, backend: Backend, statement: str) -> None:
        user_id = prepare(backend, statement)
        backend.world.subscription(backend.plan(), user_id)
        await backend.world.client.post("/api/auth/forgot-password", body={"email": BOB})

        answer = await remove(backend, user_id)

        assert (answer.status, answer.content) == (204, b"")
        for table in ("service_users", "memberships", "subscriptions", "mails", "one_time_tokens"):
            assert backend.world.rows(f"SELECT FROM {table}") == [], table
        assert not backend.world.has_user(BOB)

    async def test_an_account_for_which_another_organization_has_a_row_is_never_deleted(self, backend: Backend) -> None:
        user_id = prepare(backend, LINKED_ELSEWHERE)

        answer = await remove(backend, user_id)

        assert (answer.status, backend.world.has_user(BOB)) == (204, True)
        assert await listed(backend) == ([], 0)
        assert backend.world.value("SELECT count(*) FROM service_users WHERE user_id = %s", user_id) == 1

    async def test_mails_of_other_organizations_to_the_address_are_still_sent(
        self, world: World, inviter: Inviter
    ) -> None:
        trap = insert_backend(world, "evil", "trap")
        await world.mails()
        assert (await inviter.send(BOB)).status == 200
        added = await add(trap)

        assert (await remove(trap, added.json["id"])).status == 204

        assert [mail.to for mail in await world.mails()] == [BOB]

    async def test_the_link_of_a_person_who_has_registered_the_address_still_works(
        self, backend: Backend, world: World
    ) -> None:
        added = await add(backend)
        await world.mails()
        await world.register(BOB, "the password of bob")
        [token] = [mail.values["token"] for mail in await world.mails() if mail.to == BOB]

        assert (await remove(backend, added.json["id"])).status == 204

        verified = await world.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})
        assert verified.status == 200

    async def test_who_was_deactivated_with_the_removal_is_active_when_added_again(self, world: World) -> None:
        shop = insert_backend(world)
        world.mail_domain(shop.organization_id, "acme.example")
        email = "ada@acme.example"
        added = await add(shop, email)
        # Another organization knows the address too, so that the account is not deleted.
        await insert_directory(world.team("evil")).create(email)
        assert (await remove(shop, added.json["id"])).status == 204
        deactivated = "SELECT deactivated_at IS NOT NULL FROM users WHERE email = %s"
        was_deactivated = world.value(deactivated, email)

        assert (await add(shop, email)).status == 200

        assert (was_deactivated, world.value(deactivated, email)) == (True, False)

    async def test_a_member_deactivated_by_the_directory_stays_so_when_added_by_a_key(self, world: World) -> None:
        team = world.team("acme")
        service = world.service(team.organization_id)
        insert_key(world, team.organization_id, service.id, KEY)
        world.mail_domain(team.organization_id, "acme.example")
        directory = insert_directory(team)
        user = await directory.create("ada@acme.example")
        await directory.patch(user["id"], {"op": "replace", "value": {"active": False}})

        assert (await add(Backend(world, team.organization_id, service.id), "ada@acme.example")).status == 200

        assert world.value("SELECT deactivated_at IS NOT NULL FROM users WHERE id = %s", user["id"]) is True

    async def test_a_member_who_is_deleted_leaves_no_open_invitations(self, world: World, inviter: Inviter) -> None:
        service = world.service(inviter.organization_id, "shop")
        insert_key(world, inviter.organization_id, service.id, KEY)
        backend = Backend(world, inviter.organization_id, service.id)
        rita = backend.own_user("rita@example.com")
        world.custom_role(inviter.organization_id, "recruiter", "org.members.view", "org.members.manage")
        world.member(inviter.organization_id, rita, "recruiter")
        invitation = await inviter.invite()
        world.connection.execute("UPDATE invitations SET invited_by = %s", (rita,))

        assert (await remove(backend, rita)).status == 204

        assert not world.has_user("rita@example.com")
        assert inviter.status(invitation) == "cancelled"

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
