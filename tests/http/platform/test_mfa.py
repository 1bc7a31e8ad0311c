"""The second factors of all users, for platform owners."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from core.credentials.mfa import MfaEvent
from core.mail import mail
from entrypoints.installation import Installation
from tests.clock import SettableClock
from tests.ids import id_at
from tests.world.platform import Platform
from tests.world.second_factors import Person, insert_person
from tests.world.world import World, assert_refused

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
REASON = {"reason": " lost the telephone "}


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    return person


def path(user_id: UUID | str) -> str:
    return f"/api/platform/users/{user_id}/mfa"


class TestStatus:
    """The second factor of one user."""

    async def test_the_status_describes_the_second_factor(
        self, platform: Platform, ada: Person, clock: SettableClock
    ) -> None:
        enabled_at = clock.now
        clock.advance(MINUTE)
        await ada.verify(await ada.preauth_token(), ada.backup_codes[0])

        answer = await platform.request("GET", f"{path(ada.id)}/status")

        assert answer.json == {
            "user_id": str(ada.id),
            "email": ada.email,
            "mfa_enabled": True,
            "mfa_enabled_at": enabled_at.isoformat().replace("+00:00", "Z"),
            "backup_codes_remaining": 9,
            "last_mfa_challenge": clock.now.isoformat().replace("+00:00", "Z"),
        }

    async def test_a_user_without_a_second_factor_is_shown_without(self, platform: Platform, world: World) -> None:
        user_id = world.user()

        answer = await platform.request("GET", f"{path(user_id)}/status")

        assert answer.json == {
            "user_id": str(user_id),
            "email": "ada@example.com",
            "mfa_enabled": False,
            "mfa_enabled_at": None,
            "backup_codes_remaining": 0,
            "last_mfa_challenge": None,
        }

    async def test_an_unknown_user_is_not_found(self, platform: Platform) -> None:
        assert_refused(await platform.request("GET", f"{path(UNKNOWN)}/status"), 404, "NOT_FOUND")


class TestForceDisable:
    """Turning MFA off for a user who has lost the second factor."""

    async def test_the_user_signs_in_without_a_code_and_keeps_their_sessions(
        self, platform: Platform, ada: Person
    ) -> None:
        answer = await platform.request("DELETE", path(ada.id), REASON)

        assert (answer.status, answer.content) == (204, b"")
        assert (await ada.mfa("GET", "/status")).json == {"enabled": False, "has_backup_codes": False}
        assert "mfa_required" not in (await ada.log_in()).json

    async def test_it_is_recorded_in_the_logs_published_and_mailed_to_the_user(
        self, platform: Platform, ada: Person, connection: Connection, world: World, installation: Installation
    ) -> None:
        engines = ada.join_organization()
        await installation.database.transact(mail.claim, 100)

        await platform.request("DELETE", path(ada.id), REASON)

        assert ada.world.mfa_log(ada.id)[-1] == "mfa_force_disabled_by_admin"
        assert platform.world.platform_audit_entries("mfa.force_disabled") == [
            (platform.owner_id, str(ada.id), {"reason": "lost the telephone"})
        ]
        assert platform.world.audit_entries("security.mfa.disabled") == [
            (engines, platform.owner_id, str(ada.id), {"by_platform_owner": True})
        ]
        for event in ("user.mfa.disabled", "security.mfa.disabled"):
            assert world.events(event) == [(engines, "owner@example.com", {"user_id": str(ada.id)})]
        [message] = [one.message for one in await installation.database.transact(mail.claim, 100)]
        assert (message.to, message.template) == (ada.email, "mfa_force_disabled")
        assert "turned off" in installation.mail_renderer.render(message).subject

    async def test_a_sign_in_that_waits_for_a_code_must_start_again(self, platform: Platform, ada: Person) -> None:
        preauth_token = await ada.preauth_token()

        await platform.request("DELETE", path(ada.id), REASON)

        assert_refused(await ada.verify(preauth_token, ada.code(1)), 401, "UNAUTHORIZED")

    async def test_the_users_devices_are_no_longer_trusted(
        self, platform: Platform, ada: Person, connection: Connection
    ) -> None:
        ada.next_step()
        await ada.verify(await ada.preauth_token(), ada.code(), trust_device=True)

        await platform.request("DELETE", path(ada.id), REASON)

        assert connection.execute("SELECT FROM device_tokens WHERE mfa_trusted_at IS NOT NULL").fetchall() == []

    async def test_a_user_without_a_second_factor_is_refused(self, platform: Platform, world: World) -> None:
        user_id = world.user()

        assert_refused(await platform.request("DELETE", path(user_id), REASON), 400, "BAD_REQUEST")
        assert_refused(await platform.request("DELETE", path(UNKNOWN), REASON), 404, "NOT_FOUND")
        assert platform.world.platform_audit_entries("mfa.force_disabled") == []

    async def test_a_reason_is_required(self, platform: Platform, ada: Person, subtests: pytest.Subtests) -> None:
        for body in ({}, {"reason": ""}, {"reason": " "}, {"reason": "a" * 1001}, {"reason": None}):
            with subtests.test(body=body):
                assert_refused(await platform.request("DELETE", path(ada.id), body), 400, "BAD_REQUEST")
                assert (await ada.mfa("GET", "/status")).json["enabled"] is True

    async def test_only_platform_owners_turn_it_off(self, platform: Platform, ada: Person) -> None:
        answer = await ada.world.client.delete(path(ada.id), token=ada.token, body=REASON)

        assert_refused(answer, 403, "FORBIDDEN")


class TestMetrics:
    """The second factors of all users, in numbers."""

    async def test_it_counts_accounts_factors_and_the_last_seven_days(self, platform: Platform, world: World) -> None:
        ada, grace = world.user(has_mfa=True), world.user("grace@example.com")
        for age, kind in [(6, "failed"), (6, "failed"), (8, "failed"), (1, "used"), (8, "used")]:
            insert_mfa_event(world, ada if age % 2 else grace, kind, ago=age * DAY)

        answer = await platform.request("GET", "/api/platform/mfa/metrics")

        assert answer.json == {
            "total_users": 3,
            "mfa_enabled_users": 1,
            "mfa_adoption_rate": 33.33,
            "backup_codes_used_7d": 1,
            "mfa_failures_7d": 2,
        }


class TestSuspicious:
    """Possible attacks."""

    async def alerts(self, platform: Platform) -> list[Any]:
        answer = await platform.request("GET", "/api/platform/mfa/suspicious")
        assert answer.status == 200, answer.text
        return answer.json["alerts"]

    async def test_five_failures_within_fifteen_minutes_are_an_alert(
        self, platform: Platform, world: World, clock: SettableClock
    ) -> None:
        user_id = world.user()
        for minutes in (1, 4, 7, 10, 15, 15):
            insert_mfa_event(world, user_id, "failed", ago=minutes * MINUTE)

        assert await self.alerts(platform) == [
            {
                "user_id": str(user_id),
                "email": "ada@example.com",
                "alert_type": "many_mfa_failures",
                "details": {"failures": 6, "within_minutes": 15},
                "detected_at": (clock.now - MINUTE).isoformat().replace("+00:00", "Z"),
            }
        ]

    async def test_fewer_slower_older_and_distributed_failures_are_no_alert(
        self, platform: Platform, world: World
    ) -> None:
        few, slow, old = (world.user(f"{name}@example.com") for name in ("few", "slow", "old"))
        others = [world.user(f"other{number}@example.com") for number in range(5)]
        for number in range(4):
            insert_mfa_event(world, few, "failed", ago=number * MINUTE)
        for number in range(10):
            insert_mfa_event(world, slow, "failed", ago=number * 4 * MINUTE)
        for number in range(5):
            insert_mfa_event(world, old, "failed", ago=7 * DAY + number * MINUTE)
            insert_mfa_event(world, others[number], "failed", ago=MINUTE)

        assert await self.alerts(platform) == []

    async def test_a_backup_code_from_a_new_device_is_an_alert(self, platform: Platform, ada: Person) -> None:
        await ada.verify(await ada.preauth_token(), ada.backup_codes[0])

        [alert] = await self.alerts(platform)

        assert (alert["alert_type"], alert["details"]) == (
            "backup_code_from_new_device",
            {"backup_codes_remaining": 9},
        )

    async def test_a_backup_code_from_a_known_device_is_no_alert(self, platform: Platform, world: World) -> None:
        insert_mfa_event(world, world.user(), "used", ago=MINUTE, details='{"remaining": 5, "is_new_device": false}')

        assert await self.alerts(platform) == []

    async def test_turning_mfa_off_soon_after_a_risky_sign_in_is_an_alert(
        self, platform: Platform, ada: Person, world: World, clock: SettableClock
    ) -> None:
        insert_login_event(world, ada.id, risk=80, ago=30 * MINUTE)
        insert_login_event(world, ada.id, risk=10, ago=MINUTE)
        await ada.mfa("DELETE", "")

        [alert] = await self.alerts(platform)

        assert (alert["alert_type"], alert["user_id"]) == ("mfa_disabled_after_risky_sign_in", str(ada.id))
        assert alert["details"]["risk_score"] == 80
        assert alert["detected_at"] == clock.now.isoformat().replace("+00:00", "Z")

    @pytest.mark.parametrize(("risk", "minutes", "is_success"), [(70, 5, True), (90, 61, True), (90, 5, False)])
    async def test_turning_mfa_off_later_or_after_another_sign_in_is_no_alert(
        self, platform: Platform, ada: Person, world: World, risk: int, minutes: int, is_success: bool
    ) -> None:
        insert_login_event(world, ada.id, risk=risk, ago=minutes * MINUTE, is_success=is_success)
        await ada.mfa("DELETE", "")

        assert await self.alerts(platform) == []

    async def test_the_newest_alerts_come_first_and_their_number_is_limited(
        self, platform: Platform, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("core.platform.mfa.ALERTS_MAX", 2)
        users = [world.user(f"person{number}@example.com") for number in range(4)]
        for number in (2, 0, 3, 1):
            insert_mfa_event(world, users[number], "used", ago=(number + 1) * MINUTE)

        assert [alert["user_id"] for alert in await self.alerts(platform)] == [str(users[0]), str(users[1])]


KINDS = {"failed": MfaEvent.VERIFY_FAILED, "used": MfaEvent.BACKUP_CODE_USED}


def insert_mfa_event(
    world: World,
    user_id: UUID,
    kind: str,
    *,
    ago: timedelta,
    details: str = '{"remaining": 9, "is_new_device": true}',
) -> None:
    """Insert a past event into the log of second factors."""
    world.connection.execute(
        """
        INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
        VALUES (%s, %s, %s, false, %s, %s)
        """,
        (uuid4(), user_id, KINDS[kind], details, world.clock.now - ago),
    )


def insert_login_event(world: World, user_id: UUID, *, risk: int, ago: timedelta, is_success: bool = True) -> None:
    """Insert a past sign-in."""
    world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at)
        VALUES (%s, %s, %s, 'password', %s, %s, '{}', %s)
        """,
        (id_at(world.clock.now - ago), user_id, user_id, is_success, risk, world.clock.now - ago),
    )
