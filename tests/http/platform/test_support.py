"""The platform's support: appointing, listing and demoting its people, and what ends their power."""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

import pytest

from adapters.postgres.database import PostgresDatabase
from core.errors import Forbidden
from core.platform import sessions as platform_sessions
from core.platform import support as platform_support
from core.sessions.origins import BACKGROUND
from ports.unit_of_work import UnitOfWork
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import claims_of
from tests.world.support import HELPER, SUPPORT_PATH, SupportDesk
from tests.world.world import World, assert_refused

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
RACES = 10


@pytest.fixture
async def helper(world: World) -> Person:
    """A person with a second factor, who is not appointed."""
    person = insert_person(world, HELPER)
    await person.turn_mfa_on()
    return person


def is_appointed(world: World, email: str = HELPER) -> bool:
    return world.value("SELECT is_platform_support FROM users WHERE email = %s", email)


class TestAppoint:
    """Appointing a user."""

    async def test_an_appointed_user_has_the_power_on_the_next_request(
        self, platform: Platform, helper: Person, world: World
    ) -> None:
        answer = await platform.request("POST", SUPPORT_PATH, {"email": " Helper@Example.com "})

        expected = {
            "id": str(helper.id),
            "email": HELPER,
            "name": None,
            "email_verified": True,
            "mfa_enabled": True,
            "created_at": "2026-02-03T04:05:06Z",
            "appointed_at": "2026-02-03T04:05:06Z",
        }
        assert (answer.status, answer.json) == (200, {"user": expected})
        assert await SupportDesk(platform, helper).has_power()
        listed = await platform.request("GET", SUPPORT_PATH)
        assert listed.json == {"support": [expected], "total": 1}
        assert world.platform_audit_entries("platform_support.appointed") == [(platform.owner_id, str(helper.id), {})]

    async def test_the_profile_and_new_tokens_say_so(self, desk: SupportDesk, world: World) -> None:
        desk.person.next_step()
        await desk.person.sign_in_with_second_factor()

        profile = await desk.request("GET", "/api/user")

        assert (profile.json["is_platform_support"], profile.json["is_platform_owner"]) == (True, False)
        claims = claims_of(desk.person.token)
        assert claims["is_platform_support"] is True
        assert "is_platform_owner" not in claims

    @pytest.mark.parametrize(
        ("change", "names"),
        [
            ("mfa_enabled_at = NULL", "second factor"),
            ("email_verified_at = NULL", "verified"),
            ("disowned_at = now()", "verified"),
            ("deactivated_at = now()", "deactivated"),
            ("closed_at = now()", "deactivated"),
            ("is_platform_owner = true", "owner"),
            ("is_platform_support = true", "already"),
        ],
    )
    async def test_an_account_that_cannot_be_trusted_is_not_appointed(
        self, platform: Platform, helper: Person, world: World, change: LiteralString, names: str
    ) -> None:
        world.connection.execute(f"UPDATE users SET {change} WHERE email = '{HELPER}'")

        answer = await platform.request("POST", SUPPORT_PATH, {"email": helper.email})

        assert_refused(answer, 409, "CONFLICT")
        assert names in answer.json["error"]
        assert world.platform_audit_entries("platform_support.appointed") == []

    async def test_an_address_without_an_account_is_not_found(self, platform: Platform) -> None:
        assert_refused(await platform.request("POST", SUPPORT_PATH, {"email": "new@example.com"}), 404, "NOT_FOUND")

    async def test_an_invalid_address_is_refused(self, platform: Platform, subtests: pytest.Subtests) -> None:
        for body in ({}, {"email": "ada"}, {"email": None}, {"email": f"{'a' * 250}@example.com"}):
            with subtests.test(body=body):
                assert_refused(await platform.request("POST", SUPPORT_PATH, body), 400, "BAD_REQUEST")

    async def test_of_two_concurrent_appointments_one_succeeds(
        self, platform: Platform, helper: Person, world: World
    ) -> None:
        for _ in range(RACES):
            answers = await at_once(
                *[lambda: platform.request("POST", SUPPORT_PATH, {"email": helper.email})] * 2,
            )

            assert statuses_of(answers) == [200, 409]
            world.connection.execute("UPDATE users SET is_platform_support = false")
        assert len(world.platform_audit_entries("platform_support.appointed")) == RACES

    async def test_an_owner_who_is_demoted_during_the_request_appoints_no_one(
        self, platform: Platform, helper: Person, world: World, database: PostgresDatabase
    ) -> None:
        def demoted_late(uow: UnitOfWork) -> None:
            assert uow.caller.account.is_platform_owner
            world.connection.execute("UPDATE users SET is_platform_owner = false WHERE email = %s", (PLATFORM_OWNER,))
            platform_support.appoint(uow, helper.email)

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, platform.owner.session_id).transact(demoted_late)

        assert not is_appointed(world)


class TestDemote:
    """Demoting a user, by an owner."""

    async def test_a_demoted_user_loses_the_power_immediately_and_stays_signed_in(
        self, desk: SupportDesk, world: World
    ) -> None:
        path = f"{SUPPORT_PATH}/{desk.person.id}"

        answer = await desk.platform.request("DELETE", path)

        assert (answer.status, answer.content) == (204, b"")
        assert not await desk.has_power()
        assert (await desk.request("GET", "/api/user")).json["is_platform_support"] is False
        assert world.platform_audit_entries("platform_support.demoted") == [
            (desk.platform.owner_id, str(desk.person.id), {})
        ]
        assert_refused(await desk.platform.request("DELETE", path), 404, "NOT_FOUND")

    async def test_a_user_who_is_not_appointed_is_not_found(self, platform: Platform, world: World) -> None:
        for named in (world.user(), platform.owner_id, UNKNOWN, "ada"):
            assert_refused(await platform.request("DELETE", f"{SUPPORT_PATH}/{named}"), 404, "NOT_FOUND")

    async def test_who_is_demoted_while_acting_does_not_act(
        self, desk: SupportDesk, world: World, database: PostgresDatabase
    ) -> None:
        ada_id = world.user()
        ada = await world.sign_in()
        session_id = world.value("SELECT id FROM sessions WHERE user_id = %s LIMIT 1", desk.person.id)

        def demoted_late(uow: UnitOfWork, user_id: UUID) -> None:
            assert uow.caller.acts_as_platform_support
            world.connection.execute("UPDATE users SET is_platform_support = false")
            platform_sessions.end_all(uow, user_id)

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, session_id).transact(demoted_late, ada_id)

        assert (await world.list_sessions(ada)).status == 200

    async def test_who_is_signed_out_while_acting_does_not_act(
        self, desk: SupportDesk, world: World, database: PostgresDatabase
    ) -> None:
        ada_id = world.user()
        session_id = world.value("SELECT id FROM sessions WHERE user_id = %s LIMIT 1", desk.person.id)

        def ended_late(uow: UnitOfWork, user_id: UUID) -> None:
            assert uow.caller.acts_as_platform_support
            world.connection.execute("UPDATE sessions SET revoked_at = now()")
            platform_sessions.end_all(uow, user_id)

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, session_id).transact(ended_late, ada_id)


class TestEnd:
    """What else ends the power."""

    async def test_turning_the_second_factor_off_ends_the_appointment_for_good(
        self, desk: SupportDesk, world: World
    ) -> None:
        assert (await desk.person.mfa("DELETE", "")).status == 200

        assert not await desk.has_power()
        assert not is_appointed(world)
        await desk.person.set_up()
        await desk.person.mfa("POST", "/verify", {"code": desk.person.code()})
        assert not await desk.has_power()
        assert world.platform_audit_entries("platform_support.demoted") == [
            (desk.person.id, str(desk.person.id), {"reason": "second_factor_removed"})
        ]

    async def test_a_second_factor_that_an_owner_turns_off_ends_it(self, desk: SupportDesk, world: World) -> None:
        removed = await desk.platform.request(
            "DELETE", f"/api/platform/users/{desk.person.id}/mfa", {"reason": "Phone lost."}
        )

        assert removed.status == 204, removed.text
        assert not await desk.has_power()
        assert not is_appointed(world)

    @pytest.mark.parametrize("change", ["mfa_enabled_at = NULL", "email_verified_at = NULL", "disowned_at = now()"])
    async def test_without_what_it_requires_the_appointment_gives_no_power(
        self, desk: SupportDesk, world: World, change: LiteralString
    ) -> None:
        world.connection.execute(f"UPDATE users SET {change} WHERE email = '{HELPER}'")

        assert not await desk.has_power()
        assert (await desk.request("GET", "/api/user")).json["is_platform_support"] is False

    async def test_a_session_with_one_factor_has_no_power(self, desk: SupportDesk, world: World) -> None:
        world.connection.execute("UPDATE sessions SET amr = '{pwd}'")

        assert not await desk.has_power()

    async def test_closing_the_account_ends_it_also_when_it_is_reopened(self, desk: SupportDesk, world: World) -> None:
        assert (await desk.request("DELETE", "/api/user")).status == 204

        assert not is_appointed(world)
        desk.person.next_step()
        await desk.person.sign_in_with_second_factor()
        assert not await desk.has_power()

    async def test_anonymizing_the_account_ends_it(self, desk: SupportDesk, world: World) -> None:
        answer = await desk.platform.request("DELETE", f"/api/privacy/forget/{desk.person.id}")

        assert answer.status in {200, 204}, answer.text
        assert world.value("SELECT is_platform_support FROM users WHERE id = %s", desk.person.id) is False

    async def test_who_is_promoted_to_owner_is_no_support_any_more(self, desk: SupportDesk, world: World) -> None:
        answer = await desk.platform.request("POST", "/api/platform/owners", {"user_id": str(desk.person.id)})

        assert answer.status == 200, answer.text
        await desk.platform.request("DELETE", f"/api/platform/owners/{desk.person.id}")
        assert not await desk.has_power()
        assert not is_appointed(world)

    async def test_an_impersonator_of_support_has_none_of_its_power(self, desk: SupportDesk) -> None:
        acting = await desk.platform.impersonate(desk.person.id)

        answer = await desk.platform.request("GET", f"/api/platform/users/{desk.person.id}", by=acting)

        assert_refused(answer, 403, "FORBIDDEN")


async def test_support_appoints_and_reads_no_one_who_governs(
    desk: SupportDesk, world: World, subtests: pytest.Subtests
) -> None:
    ada_id = world.user()
    for method, path, body in (
        ("GET", SUPPORT_PATH, None),
        ("POST", SUPPORT_PATH, {"email": EMAIL}),
        ("DELETE", f"{SUPPORT_PATH}/{desk.person.id}", None),
        ("POST", "/api/platform/owners", {"user_id": str(desk.person.id)}),
        ("POST", f"/api/platform/impersonate/{ada_id}", {"reason": "help"}),
        ("DELETE", f"/api/platform/users/{ada_id}/mfa", {"reason": "help"}),
        ("GET", "/api/platform/audit-log", None),
    ):
        with subtests.test(path=path):
            assert_refused(await desk.request(method, path, body), 403, "FORBIDDEN")
