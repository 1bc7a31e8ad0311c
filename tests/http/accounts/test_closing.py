"""Closing an account: who may, what ends, how it is reopened, and when it is forgotten."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from core.accounts.users import REOPENABLE_FOR
from core.privacy import anonymization
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import insert_person
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

MINUTE = timedelta(minutes=1)


async def close(user: SignedInUser) -> None:
    """Close the account of a user."""
    assert (await user.client.delete("/api/user", token=user.token)).status == 204


def is_forgotten(world: World, user_id: UUID) -> bool:
    """Whether the account is anonymized."""
    return world.value("SELECT anonymized_at IS NOT NULL FROM users WHERE id = %s", user_id)


class TestWhoMay:
    """A person without organization, in person."""

    @pytest.mark.parametrize("role", ["member", "admin", "owner"])
    async def test_a_member_of_an_organization_is_told_to_leave_first(self, world: World, role: str) -> None:
        ada = await world.signed_in_member(world.organization(), role)

        answer = await ada.client.delete("/api/user", token=ada.token)

        assert_refused(answer, 403, "FORBIDDEN")
        assert "Leave your organizations first" in answer.json["error"]
        assert (await ada.get("/api/user")).status == 200

    async def test_a_membership_that_the_user_never_confirmed_does_not_keep_them(self, world: World) -> None:
        ada = await world.signed_in_user()
        world.member(world.organization(), ada.id, is_confirmed=False)

        await close(ada)

    async def test_a_platform_owner_is_refused(self, world: World) -> None:
        root = await world.signed_in_platform_owner()

        assert_refused(await root.client.delete("/api/user", token=root.token), 403, "FORBIDDEN")

    async def test_an_organization_created_at_the_same_moment_never_belongs_to_a_closed_account(
        self, world: World
    ) -> None:
        ada = await world.signed_in_user()
        creation = {"slug": "acme", "name": "Acme"}

        answers = await at_once(
            partial(ada.client.delete, "/api/user", token=ada.token), partial(ada.post, "/api/organizations", creation)
        )

        assert statuses_of(answers) in ([204, 401], [200, 403])


class TestClosing:
    """What ends with it."""

    async def test_every_session_ends(self, world: World) -> None:
        ada = await world.signed_in_user()
        other = await world.sign_in()

        await close(ada)

        assert (await ada.get("/api/user")).status == 401
        assert (await world.list_sessions(other)).status == 401
        assert (await world.refresh(other.refresh_token)).status == 401
        assert world.events("session.revoked") == [(None, EMAIL, {"sessions": 2})]

    async def test_the_user_is_told_until_when_signing_in_reopens_the_account(self, world: World) -> None:
        ada = await world.signed_in_user()

        await close(ada)

        mail = await world.mail()
        assert (mail.to, mail.template) == (EMAIL, "account_closed")
        assert mail.values["until"] == "2026-02-17 04:05 UTC"
        assert world.mfa_log(ada.id) == ["account_closed"]

    async def test_the_address_stays_taken(self, world: World) -> None:
        await close(await world.signed_in_user())

        assert (await world.register()).status == 409

    async def test_a_wrong_password_is_refused_as_for_any_account(self, world: World) -> None:
        await close(await world.signed_in_user())

        assert_refused(await world.log_in(EMAIL, "not the password"), 401, "UNAUTHORIZED")

    async def test_a_platform_owner_cannot_impersonate_a_closed_account(self, world: World) -> None:
        ada = await world.signed_in_user()
        root = await world.signed_in_platform_owner()
        await close(ada)

        answer = await root.post(f"/api/platform/impersonate/{ada.id}", {"reason": "Support case 42."})

        assert answer.status in {400, 404, 409}


class TestReopening:
    """By signing in, with every factor that the account requires."""

    async def test_signing_in_within_14_days_opens_the_account_again(self, world: World, clock: SettableClock) -> None:
        ada = await world.signed_in_user()
        await close(ada)

        clock.advance(REOPENABLE_FOR - MINUTE)
        tokens = await world.sign_in()
        clock.advance(2 * MINUTE)

        assert (await world.list_sessions(tokens)).status == 200
        assert world.mfa_log(ada.id) == ["account_closed", "account_reopened"]
        assert (await world.log_in()).status == 200

    async def test_a_passkey_and_a_mailed_link_open_it_too(self, world: World, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        assert (await world.client.delete("/api/user", token=keyring.token)).status == 204

        assert (await keyring.sign_in(authenticator)).status == 200
        await close(await world.sign_in_as(world.value("SELECT id FROM users"), EMAIL))
        await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
        token = (await world.mails())[-1].values["token"]
        answer = await world.client.post("/api/auth/magic-link/verify", body={"token": token})

        assert answer.status == 200
        assert world.value("SELECT closed_at IS NULL FROM users")

    async def test_the_code_of_the_second_factor_opens_it(self, world: World) -> None:
        person = insert_person(world)
        await person.turn_mfa_on()
        assert (await world.client.delete("/api/user", token=person.token)).status == 204
        person.next_step()

        await person.sign_in_with_second_factor()

        assert (await world.client.get("/api/user", token=person.token)).status == 200
        assert world.value("SELECT closed_at IS NULL FROM users")

    async def test_the_first_factor_alone_does_not_open_it(self, world: World) -> None:
        ada = await world.signed_in_user()
        world.connection.execute("UPDATE users SET mfa_enabled_at = created_at WHERE id = %s", (ada.id,))
        world.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
        await close(ada)

        answer = await world.log_in()

        assert answer.json["mfa_required"]
        assert world.value("SELECT closed_at IS NOT NULL FROM users WHERE id = %s", ada.id)

    async def test_a_new_password_alone_does_not_open_it_and_signing_in_with_it_does(self, world: World) -> None:
        ada = await world.signed_in_user()
        await close(ada)
        await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
        token = (await world.mails())[-1].values["token"]

        body = {"token": token, "new_password": "another good password"}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200

        assert world.value("SELECT closed_at IS NOT NULL FROM users WHERE id = %s", ada.id)
        assert (await world.log_in(EMAIL, "another good password")).status == 200
        assert not world.value("SELECT closed_at IS NOT NULL FROM users WHERE id = %s", ada.id)

    async def test_an_account_that_others_deactivated_meanwhile_stays_deactivated(self, world: World) -> None:
        await close(await world.signed_in_user())
        world.deactivate()

        assert_refused(await world.log_in(EMAIL, PASSWORD), 401, "UNAUTHORIZED")


class TestForgetting:
    """After 14 days, by the housekeeper."""

    async def test_a_closed_account_is_anonymized_when_its_time_is_over(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        ada, bob = await world.signed_in_user(), await world.signed_in_user("bob@example.com")
        await close(ada)

        clock.advance(REOPENABLE_FOR - MINUTE)
        early = await database.transact(anonymization.forget_next_closed)
        clock.advance(MINUTE)
        due = [await database.transact(anonymization.forget_next_closed) for _ in range(2)]

        assert (early, due) == (False, [True, False])
        assert (is_forgotten(world, ada.id), is_forgotten(world, bob.id)) == (True, False)
        assert world.events("user.anonymized") == [(None, None, {"user_id": str(ada.id)})]

    async def test_a_reopened_account_is_kept(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        ada = await world.signed_in_user()
        await close(ada)
        await world.sign_in()

        clock.advance(REOPENABLE_FOR)

        assert not await database.transact(anonymization.forget_next_closed)
        assert not is_forgotten(world, ada.id)

    async def test_an_account_that_came_to_belong_to_an_organization_is_kept(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        ada = await world.signed_in_user()
        await close(ada)
        world.member(world.organization(), ada.id, "owner")

        clock.advance(REOPENABLE_FOR)

        assert not await database.transact(anonymization.forget_next_closed)
        assert (await world.log_in()).status == 200

    async def test_a_suspended_membership_neither_keeps_the_account_open_nor_from_being_forgotten(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        ada = await world.signed_in_user()
        world.member(world.organization(), ada.id)
        world.connection.execute("UPDATE memberships SET suspended_at = created_at")
        await close(ada)

        clock.advance(REOPENABLE_FOR)

        assert await database.transact(anonymization.forget_next_closed)
        assert is_forgotten(world, ada.id)

    async def test_a_forgotten_account_is_not_signed_in_to(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        await close(await world.signed_in_user())
        clock.advance(REOPENABLE_FOR)
        await database.transact(anonymization.forget_next_closed)

        assert_refused(await world.log_in(), 401, "UNAUTHORIZED")

    async def test_a_service_that_the_user_used_is_told(
        self, world: World, acme_shop: AcmeShop, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        ada = await world.signed_in_user("carl@example.com")
        await world.sign_in("carl@example.com", org_slug=acme_shop.org_slug, service_slug=acme_shop.service_slug)
        await close(ada)

        clock.advance(REOPENABLE_FOR)
        await database.transact(anonymization.forget_next_closed)

        assert world.audit_entries("user.anonymized", "actor_user_id", "target_id") == [(None, str(ada.id))]

    async def test_two_housekeepers_forget_every_account_once(
        self, world: World, database: PostgresDatabase, clock: SettableClock
    ) -> None:
        for number in range(4):
            await close(await world.signed_in_user(f"user{number}@example.com"))
        clock.advance(REOPENABLE_FOR)

        async def forget_all() -> None:
            while await database.transact(anonymization.forget_next_closed):
                pass

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(forget_all)

        assert len(world.events("user.anonymized")) == 4
