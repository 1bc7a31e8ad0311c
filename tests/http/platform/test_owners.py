"""Promoting and demoting platform owners."""

from __future__ import annotations

from uuid import UUID

import pytest

from adapters.postgres.database import PostgresDatabase
from core.errors import Forbidden
from core.platform import owners as platform_owners
from core.sessions.origins import BACKGROUND
from ports.unit_of_work import UnitOfWork
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.support import SupportDesk
from tests.world.world import World, assert_refused

PATH = "/api/platform/owners"
UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
RACES = 20


async def may_govern(platform: Platform, email: str) -> bool:
    """Return whether a user may call an endpoint of platform owners."""
    answer = await platform.request("GET", "/api/platform/mfa/metrics", by=await platform.world.sign_in(email))
    return answer.status == 200


def owners(world: World) -> int:
    return world.value("SELECT count(*) FROM users WHERE is_platform_owner")


class TestList:
    """Listing the platform owners."""

    async def test_owners_are_listed_with_what_protects_their_accounts(self, platform: Platform, world: World) -> None:
        grace = world.user("grace@example.com")
        promoted = await platform.request("POST", PATH, {"user_id": str(grace)})
        assert promoted.status == 200
        world.connection.execute(
            "UPDATE users SET name = 'Grace', deactivated_at = now(), disowned_at = now() WHERE id = %s", (grace,)
        )

        answer = await platform.request("GET", PATH)

        found = {owner["email"]: owner for owner in answer.json["owners"]}
        assert answer.json["total"] == 2
        assert list(found) == ["grace@example.com", PLATFORM_OWNER]
        assert found["grace@example.com"] == {
            "id": str(grace),
            "email": "grace@example.com",
            "name": "Grace",
            "email_verified": False,
            "mfa_enabled": False,
            "is_active": False,
            "created_at": "2026-02-03T04:05:06Z",
            "appointed_at": "2026-02-03T04:05:06Z",
        }
        # This one was not appointed by a use case.
        assert found[PLATFORM_OWNER]["appointed_at"] is None

    async def test_support_sees_no_owners(self, platform: Platform, desk: SupportDesk) -> None:
        assert_refused(await desk.request("GET", PATH), 403, "FORBIDDEN")


class TestPromote:
    """Making a user a platform owner."""

    async def test_a_promoted_user_has_the_power_on_the_next_request(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        ada = await world.sign_in()

        answer = await platform.request("POST", PATH, {"user_id": str(user_id)})

        assert (answer.status, answer.json) == (
            200,
            {
                "user": {
                    "id": str(user_id),
                    "email": EMAIL,
                    "is_platform_owner": True,
                    "created_at": "2026-02-03T04:05:06Z",
                }
            },
        )
        assert (await platform.request("GET", "/api/platform/mfa/metrics", by=ada)).status == 200
        assert platform.world.platform_audit_entries("platform_owner.promoted") == [
            (platform.owner_id, str(user_id), {})
        ]

    async def test_a_platform_owner_cannot_be_promoted_again(self, platform: Platform, world: World) -> None:
        user_id = world.user(is_platform_owner=True)

        assert_refused(await platform.request("POST", PATH, {"user_id": str(user_id)}), 409, "CONFLICT")
        assert platform.world.platform_audit_entries("platform_owner.promoted") == []

    async def test_an_address_that_its_organization_took_back_is_not_promoted(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()
        world.connection.execute("UPDATE users SET disowned_at = now() WHERE id = %s", (user_id,))

        assert_refused(await platform.request("POST", PATH, {"user_id": str(user_id)}), 409, "CONFLICT")
        assert owners(world) == 1

    @pytest.mark.parametrize(("is_verified", "is_active"), [(False, True), (True, False)])
    async def test_an_unverified_or_deactivated_user_cannot_be_promoted(
        self, platform: Platform, world: World, *, is_verified: bool, is_active: bool
    ) -> None:
        user_id = world.user(is_verified=is_verified, is_active=is_active)

        assert_refused(await platform.request("POST", PATH, {"user_id": str(user_id)}), 409, "CONFLICT")
        assert owners(world) == 1

    async def test_an_unknown_user_cannot_be_promoted(self, platform: Platform) -> None:
        assert_refused(await platform.request("POST", PATH, {"user_id": UNKNOWN}), 404, "NOT_FOUND")

    async def test_an_invalid_id_is_refused(self, platform: Platform, subtests: pytest.Subtests) -> None:
        for body in ({}, {"user_id": "ada"}, {"user_id": None}):
            with subtests.test(body=body):
                assert_refused(await platform.request("POST", PATH, body), 400, "BAD_REQUEST")

    async def test_only_platform_owners_promote(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        ada = await world.sign_in()

        assert_refused(await platform.request("POST", PATH, {"user_id": str(user_id)}, by=ada), 403, "FORBIDDEN")

    async def test_promoting_an_impersonated_user_ends_the_impersonation(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()
        acting = await platform.impersonate(user_id)

        await platform.request("POST", PATH, {"user_id": str(user_id)})

        assert (await world.list_sessions(acting)).status == 401


class TestDemote:
    """Demoting a platform owner."""

    async def test_a_demoted_owner_loses_the_power_immediately_and_stays_signed_in(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user(is_platform_owner=True)
        ada = await world.sign_in()

        answer = await platform.request("DELETE", f"{PATH}/{user_id}")

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await platform.request("GET", "/api/platform/mfa/metrics", by=ada), 403, "FORBIDDEN")
        assert (await world.list_sessions(ada)).status == 200
        assert platform.world.platform_audit_entries("platform_owner.demoted") == [
            (platform.owner_id, str(user_id), {})
        ]

    async def test_an_owner_cannot_demote_themselves_and_so_the_last_one_stays(
        self, platform: Platform, world: World
    ) -> None:
        answer = await platform.request("DELETE", f"{PATH}/{platform.owner_id}")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert owners(world) == 1

    async def test_a_user_who_is_no_owner_cannot_be_demoted(self, platform: Platform, world: World) -> None:
        user_id = world.user()

        for named in (user_id, UNKNOWN, "ada"):
            assert_refused(await platform.request("DELETE", f"{PATH}/{named}"), 404, "NOT_FOUND")

    async def test_only_platform_owners_demote(self, platform: Platform, world: World) -> None:
        world.user()
        answer = await platform.request("DELETE", f"{PATH}/{platform.owner_id}", by=await world.sign_in())

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_demoting_an_owner_ends_their_impersonations_for_good(self, platform: Platform, world: World) -> None:
        second_id = world.user("second@example.com", is_platform_owner=True)
        second = Platform(world, second_id, await world.sign_in("second@example.com"))
        acting = await second.impersonate(world.user())
        assert (await world.list_sessions(acting)).status == 200

        await platform.request("DELETE", f"{PATH}/{second_id}")

        assert (await world.list_sessions(acting)).status == 401
        assert (await world.refresh(acting.refresh_token)).status == 401
        await platform.request("POST", PATH, {"user_id": str(second_id)})
        assert (await world.list_sessions(acting)).status == 401

    async def test_of_two_owners_who_demote_each_other_concurrently_one_stays(
        self, platform: Platform, world: World
    ) -> None:
        other_id = world.user(is_platform_owner=True)
        other = await world.sign_in()

        for _ in range(RACES):
            answers = await at_once(
                lambda: platform.request("DELETE", f"{PATH}/{other_id}"),
                lambda: platform.request("DELETE", f"{PATH}/{platform.owner_id}", by=other),
            )

            assert statuses_of(answers) == [204, 403]
            assert owners(world) == 1
            world.connection.execute("UPDATE users SET is_platform_owner = true")

    async def test_an_owner_who_is_demoted_during_the_request_is_refused(
        self, platform: Platform, world: World, database: PostgresDatabase
    ) -> None:
        other_id = world.user(is_platform_owner=True)

        def demote_late(uow: UnitOfWork, user_id: UUID) -> None:
            assert uow.caller.account.is_platform_owner
            world.connection.execute("UPDATE users SET is_platform_owner = false WHERE email = %s", (PLATFORM_OWNER,))
            platform_owners.demote(uow, user_id)

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, platform.owner.session_id).transact(demote_late, other_id)

        assert await may_govern(platform, EMAIL)
