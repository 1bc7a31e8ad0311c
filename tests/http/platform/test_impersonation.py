"""Acting as somebody (identity 2.9 and 4.8, decisions 5.11)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from core.errors import Forbidden
from core.platform import impersonation
from core.platform.impersonation import ImpersonationTarget
from core.sessions.callers import BACKGROUND
from entrypoints.settings import Settings
from tests.platform import OWNER, Platform, platform
from tests.sign_ins import EMAIL, PASSWORD, Door, Entered, assert_refused, claims_of, door

if TYPE_CHECKING:
    from adapters.postgres.database import PostgresDatabase
    from ports.unit_of_work import UnitOfWork
    from tests.clock import SettableClock

__all__ = ["door", "platform"]

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
REASON = {"reason": " a question "}


def path(user_id: UUID | str) -> str:
    return f"/api/platform/impersonate/{user_id}"


class TestStart:
    """The beginning."""

    async def test_the_answer_is_a_session_of_the_person_for_an_hour(
        self, platform: Platform, door: Door, clock: SettableClock
    ) -> None:
        user_id = door.account()

        answer = await platform.ask("POST", path(user_id), REASON)

        assert answer.status == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        body = answer.json
        assert set(body) == {
            *("access_token", "refresh_token", "expires_in", "token_type"),
            *("impersonated_user", "session_id", "expires_at", "audit_log_id"),
        }
        assert body["impersonated_user"] == {"id": str(user_id), "email": EMAIL}
        assert body["expires_at"] == (clock.now + HOUR).isoformat().replace("+00:00", "Z")
        profile = await door.client.get("/api/user", token=body["access_token"])
        assert (profile.status, profile.json["id"]) == (200, str(user_id))

    async def test_the_token_says_who_acts_and_in_which_session(self, platform: Platform, door: Door) -> None:
        user_id = door.account()

        body = (await platform.ask("POST", path(user_id), REASON)).json

        claims = claims_of(body["access_token"])
        assert (claims["sub"], claims["sid"]) == (str(user_id), body["session_id"])
        assert claims["impersonator"] == str(platform.owner_id)
        assert claims["impersonation_session"] == body["session_id"]
        assert "is_platform_owner" not in claims

    async def test_the_platform_log_says_who_acts_as_whom_and_why(self, platform: Platform, door: Door) -> None:
        user_id = door.account()

        body = (await platform.ask("POST", path(user_id), REASON)).json

        assert platform.log("impersonation.started") == [
            (
                platform.owner_id,
                str(user_id),
                {"reason": "a question", "impersonation_session": body["session_id"], "service_id": None},
            )
        ]
        assert door.value("SELECT id FROM platform_audit_entries") == UUID(body["audit_log_id"])

    async def test_it_is_no_sign_in_of_the_person(self, platform: Platform, door: Door) -> None:
        user_id = door.account()
        door.member(door.organization(), user_id)

        await platform.impersonate(user_id)

        assert door.rows("SELECT FROM login_events WHERE user_id = %s", user_id) == []
        assert door.rows("SELECT FROM devices WHERE user_id = %s", user_id) == []
        assert door.rows("SELECT FROM audit_entries") == []
        assert [email for _, email, _ in door.events("user.login.success")] == [OWNER]

    async def test_the_person_finds_it_among_their_sessions_and_may_end_it(
        self, platform: Platform, door: Door
    ) -> None:
        user_id = door.account()
        ada = await door.enter()

        acting = await platform.impersonate(user_id)

        [theirs] = [one for one in (await door.ask(ada)).json["sessions"] if not one["is_current"]]
        assert (theirs["id"], theirs["provider"]) == (str(acting.session_id), "impersonation")
        # From where the platform owner acts is none of their business.
        assert (theirs["ip_address"], theirs["user_agent"]) == (None, None)
        await door.client.delete(f"/api/user/sessions/{acting.session_id}", token=ada.access_token)
        assert (await door.ask(acting)).status == 401

    async def test_in_an_organization_the_token_is_a_members(self, platform: Platform, door: Door) -> None:
        user_id, acme = door.account(), door.organization()
        door.member(acme, user_id, "admin")

        acting = await platform.impersonate(user_id, org_slug="acme")

        assert (acting.claims["org"], acting.claims["role"]) == ("acme", "admin")
        assert door.value("SELECT organization_id FROM platform_audit_entries") == acme

    async def test_with_a_service_the_token_is_an_end_users(self, platform: Platform, door: Door) -> None:
        user_id = door.account()
        client_id = door.service(door.organization())
        await door.enter(org_slug="acme", service_slug="shop")

        acting = await platform.impersonate(user_id, org_slug="acme", service_slug="shop")

        assert (acting.claims["service"], acting.claims["aud"]) == ("shop", str(client_id))
        assert (await door.ask(acting)).status == 200

    async def test_an_organization_that_asks_for_two_factors_asks_them_of_the_person_not_of_who_acts(
        self, platform: Platform, door: Door
    ) -> None:
        user_id, acme = door.account(), door.organization(mfa_required=True)
        door.member(acme, user_id)

        acting = await platform.impersonate(user_id, org_slug="acme")

        assert (await door.client.get("/api/user", token=acting.access_token)).status == 200


class TestRefused:
    """Who cannot be impersonated, by whom."""

    async def test_nobody_acts_as_a_platform_owner_oneself_included(self, platform: Platform, door: Door) -> None:
        other_id = door.account(is_platform_owner=True)

        for user_id in (platform.owner_id, other_id):
            assert_refused(await platform.ask("POST", path(user_id), REASON), 400, "BAD_REQUEST")
        assert platform.log("impersonation.started") == []

    async def test_nobody_acts_as_who_is_not_there_or_deactivated(self, platform: Platform, door: Door) -> None:
        user_id = door.account(is_active=False)

        for named in (UNKNOWN, "ada", user_id):
            assert_refused(await platform.ask("POST", path(named), REASON), 404, "NOT_FOUND")

    async def test_nobody_acts_as_who_was_forgotten(self, platform: Platform, door: Door) -> None:
        user_id = door.account()
        assert (await platform.ask("DELETE", f"/api/privacy/forget/{user_id}")).status == 200

        assert_refused(await platform.ask("POST", path(user_id), REASON), 404, "NOT_FOUND")

    async def test_only_platform_owners_do_it_and_nobody_who_acts_already(self, platform: Platform, door: Door) -> None:
        user_id, other_id = door.account(), door.account("bob@example.com")
        acting = await platform.impersonate(user_id)

        for asking in (await door.enter(), acting):
            assert_refused(await platform.ask("POST", path(other_id), REASON, by=asking), 403, "FORBIDDEN")

    async def test_who_was_promoted_while_somebody_acts_as_them_lends_nobody_the_power(
        self, platform: Platform, door: Door
    ) -> None:
        user_id, other_id = door.account(), door.account("bob@example.com")
        acting = await platform.impersonate(user_id)
        door.connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (user_id,))

        assert_refused(await platform.ask("POST", path(other_id), REASON, by=acting), 403, "FORBIDDEN")
        assert_refused(await platform.ask("GET", "/api/platform/mfa/metrics", by=acting), 403, "FORBIDDEN")
        assert_refused(await platform.ask("GET", f"/api/privacy/export/{other_id}", by=acting), 403, "FORBIDDEN")

    @pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": 7}, {"reason": "a" * 1001}])
    async def test_there_must_be_a_reason(self, platform: Platform, door: Door, body: dict[str, Any]) -> None:
        assert_refused(await platform.ask("POST", path(door.account()), body), 400, "BAD_REQUEST")

    async def test_the_person_must_belong_where_they_are_impersonated(self, platform: Platform, door: Door) -> None:
        user_id = door.account()
        door.service(door.organization())

        for where in ({"org_slug": "acme"}, {"org_slug": "acme", "service_slug": "shop"}, {"service_slug": "shop"}):
            assert_refused(await platform.ask("POST", path(user_id), {**REASON, **where}), 400, "BAD_REQUEST")
        for where in ({"org_slug": "bolt"}, {"org_slug": "acme", "service_slug": "till"}):
            assert_refused(await platform.ask("POST", path(user_id), {**REASON, **where}), 404, "NOT_FOUND")
        assert door.rows("SELECT FROM sessions WHERE user_id = %s", user_id) == []

    async def test_nobody_is_impersonated_in_an_organization_that_is_not_active(
        self, platform: Platform, door: Door
    ) -> None:
        user_id = door.account()
        door.member(door.organization(status="suspended"), user_id)

        answer = await platform.ask("POST", path(user_id), {**REASON, "org_slug": "acme"})

        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_who_is_demoted_while_they_begin_begins_nothing(
        self, platform: Platform, door: Door, database: PostgresDatabase
    ) -> None:
        user_id = door.account()

        def start_late(uow: UnitOfWork) -> None:
            assert uow.caller.is_platform_owner
            door.connection.execute("UPDATE users SET is_platform_owner = false")
            impersonation.start(uow, user_id, ImpersonationTarget(reason="a question"))

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, platform.owner.session_id).transact(start_late)

        assert door.rows("SELECT FROM sessions WHERE user_id = %s", user_id) == []


class TestEnd:
    """An hour at most."""

    async def test_it_is_over_after_an_hour_however_it_is_refreshed(
        self, platform: Platform, door: Door, clock: SettableClock
    ) -> None:
        acting = await platform.impersonate(door.account())
        ends_at = clock.now + HOUR
        refresh_token, left = acting.refresh_token, HOUR
        for minutes in (20, 20, 15):
            clock.advance(timedelta(minutes=minutes))
            left -= timedelta(minutes=minutes)
            answer = await door.refresh(refresh_token)
            assert answer.status == 200, answer.text
            refresh_token = answer.json["refresh_token"]
            assert answer.json["expires_in"] == min(900, left.total_seconds())
            assert door.value("SELECT expires_at FROM sessions WHERE id = %s", acting.session_id) == ends_at
            claims = claims_of(answer.json["access_token"])
            assert claims["impersonator"] == str(platform.owner_id)
            assert claims["impersonation_session"] == str(acting.session_id)

        newest = answer.json["access_token"]
        clock.advance(left - SECOND)
        assert (await door.client.get("/api/user", token=newest)).status == 200
        clock.advance(SECOND)

        assert_refused(await door.client.get("/api/user", token=newest), 401, "TOKEN_EXPIRED")
        assert_refused(await door.refresh(refresh_token), 401, "UNAUTHORIZED")

    async def test_it_ends_by_signing_out(self, platform: Platform, door: Door) -> None:
        user_id = door.account()
        ada = await door.enter()
        acting = await platform.impersonate(user_id)

        answer = await door.client.post("/api/auth/logout", token=acting.access_token)

        assert answer.status == 200
        assert (await door.ask(acting)).status == 401
        assert (await door.ask(ada)).status == 200
        assert (await door.ask(platform.owner)).status == 200

    @pytest.mark.parametrize("change", ["is_platform_owner = false", "deactivated_at = now()"])
    async def test_it_is_over_when_the_owner_is_none_any_more(
        self, platform: Platform, door: Door, change: str
    ) -> None:
        acting = await platform.impersonate(door.account())

        door.connection.execute(f"UPDATE users SET {change} WHERE email = '{OWNER}'".encode())

        assert (await door.ask(acting)).status == 401
        assert (await door.refresh(acting.refresh_token)).status == 401

    @pytest.mark.parametrize("way", ["new password", "all other sessions"])
    async def test_it_is_over_when_the_owner_ends_whatever_else_they_began(
        self, platform: Platform, door: Door, way: str
    ) -> None:
        entered = await platform.impersonate(door.account())
        passwords = {"current_password": PASSWORD, "new_password": "another horse battery"}

        if way == "new password":
            done = await platform.ask("POST", "/api/user/change-password", passwords)
        else:
            done = await platform.ask("DELETE", "/api/user/sessions")

        assert done.status < 300, done.text
        assert (await door.ask(entered)).status == 401
        assert (await door.refresh(entered.refresh_token)).status == 401
        assert (await door.ask(platform.owner)).status == 200

    async def test_selecting_an_organization_makes_it_no_longer(
        self, platform: Platform, door: Door, clock: SettableClock
    ) -> None:
        user_id = door.account()
        door.member(door.organization(), user_id)
        acting = await platform.impersonate(user_id)
        clock.advance(timedelta(minutes=50))

        selected = await platform.ask("POST", "/api/organizations/acme/select", by=await refreshed(door, acting))

        assert selected.status == 200, selected.text
        assert claims_of(selected.json["access_token"])["impersonator"] == str(platform.owner_id)
        clock.advance(timedelta(minutes=10))
        assert (await door.refresh(selected.json["refresh_token"])).status == 401


class TestDeeds:
    """What is done in somebody's name is written down with who really did it (identity 4.8, decisions 5.8)."""

    async def test_in_an_organization_its_own_log_says_so(self, platform: Platform, door: Door) -> None:
        acme, user_id = door.organization(), door.account()
        door.member(acme, user_id, "owner")
        acting = await platform.impersonate(user_id)

        answer = await platform.ask("PATCH", "/api/organizations/acme", {"name": "Acme Ltd"}, by=acting)

        assert answer.status == 200, answer.text
        [(organization_id, actor, _, details)] = platform.audited("organization.updated")
        assert (organization_id, actor) == (acme, user_id)
        assert details["impersonator_id"] == str(platform.owner_id)
        assert details["impersonation_session"] == claims_of(acting.access_token)["sid"]

    @pytest.mark.parametrize("deed", ["organization.created", "sessions.ended", "device.renamed"])
    async def test_what_no_organization_writes_down_is_in_the_platforms_log(
        self, platform: Platform, door: Door, deed: str
    ) -> None:
        acme, user_id = door.organization(), door.account()
        door.member(acme, user_id, "owner")
        await self.use_the_shop(door, acme)
        acting = await platform.impersonate(user_id)
        device = door.value("SELECT id FROM devices WHERE user_id = %s", user_id)
        method, route, body, told = {
            "organization.created": ("POST", "/api/organizations", {"slug": "bolt", "name": "Bolt"}, {"slug": "bolt"}),
            "sessions.ended": (
                *("DELETE", f"/api/organizations/acme/users/{user_id}/sessions", None),
                {"user_id": str(user_id), "sessions": 1},
            ),
            "device.renamed": ("PATCH", f"/api/user/devices/{device}", {"name": "Old"}, {"device_id": str(device)}),
        }[deed]

        answer = await platform.ask(method, route, body, by=acting)

        assert answer.status == 200, answer.text
        session = {"impersonation_session": claims_of(acting.access_token)["sid"]}
        assert platform.log("impersonation.acted") == [
            (platform.owner_id, str(user_id), {"deed": deed, **session, **told})
        ]

    async def test_what_people_do_themselves_is_not(self, platform: Platform, door: Door) -> None:
        door.account()
        entered = await door.enter()

        answer = await platform.ask("POST", "/api/organizations", {"slug": "bolt", "name": "Bolt"}, by=entered)

        assert answer.status == 200, answer.text
        assert platform.log("impersonation.acted") == []

    async def use_the_shop(self, door: Door, organization_id: UUID) -> None:
        door.service(organization_id)
        await door.enter(org_slug="acme", service_slug="shop")


async def refreshed(door: Door, acting: Entered) -> Entered:
    tokens = (await door.refresh(acting.refresh_token)).json
    return Entered(tokens["access_token"], tokens["refresh_token"], device_token="")


class TestLimit:
    """Ten a minute."""

    @pytest.fixture
    def settings(self) -> Settings:
        """With rate limits."""
        return Settings(dev=True)

    async def test_there_are_ten_a_minute(self, platform: Platform, door: Door) -> None:
        user_id = door.account()

        statuses = [
            (await door.client.post(path(user_id), body=REASON, token=platform.owner.access_token)).status
            for _ in range(11)
        ]

        assert statuses == [200] * 10 + [429]
