"""Impersonating a user."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.database import PostgresDatabase
from core.errors import Forbidden
from core.mail.mail import MailTemplate
from core.platform import impersonation
from core.platform.impersonation import ImpersonationTarget
from core.sessions.origins import BACKGROUND
from entrypoints.settings import Settings
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
REASON = {"reason": " a question "}


def path(user_id: UUID | str) -> str:
    return f"/api/platform/impersonate/{user_id}"


class TestStart:
    """Starting an impersonation."""

    async def test_the_answer_is_a_session_of_the_user_for_an_hour(
        self, platform: Platform, world: World, clock: SettableClock
    ) -> None:
        user_id = world.user()

        answer = await platform.request("POST", path(user_id), REASON)

        assert answer.status == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        body = answer.json
        assert set(body) == {
            *("access_token", "refresh_token", "expires_in", "token_type"),
            *("impersonated_user", "session_id", "expires_at", "audit_log_id"),
        }
        assert body["impersonated_user"] == {"id": str(user_id), "email": EMAIL}
        assert body["expires_at"] == (clock.now + HOUR).isoformat().replace("+00:00", "Z")
        profile = await world.client.get("/api/user", token=body["access_token"])
        assert (profile.status, profile.json["id"]) == (200, str(user_id))

    async def test_a_deactivated_membership_is_named_as_such(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        world.member(world.organization("acme"), user_id)
        world.rows("UPDATE memberships SET suspended_at = now() RETURNING id")

        answer = await platform.request("POST", path(user_id), REASON | {"org_slug": "acme"})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert "deactivated" in answer.text

    async def test_the_token_names_the_impersonator_and_the_session(self, platform: Platform, world: World) -> None:
        user_id = world.user()

        body = (await platform.request("POST", path(user_id), REASON)).json

        claims = claims_of(body["access_token"])
        assert (claims["sub"], claims["sid"]) == (str(user_id), body["session_id"])
        assert claims["impersonator"] == str(platform.owner_id)
        assert claims["impersonation_session"] == body["session_id"]
        assert "is_platform_owner" not in claims

    async def test_the_platform_log_records_impersonator_user_and_reason(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()

        body = (await platform.request("POST", path(user_id), REASON)).json

        assert platform.world.platform_audit_entries("impersonation.started") == [
            (
                platform.owner_id,
                str(user_id),
                {"reason": "a question", "impersonation_session": body["session_id"], "service_id": None},
            )
        ]
        assert world.value("SELECT id FROM platform_audit_entries") == UUID(body["audit_log_id"])

    async def test_the_user_is_told_by_mail_of_neither_the_owner_nor_the_reason(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()

        await platform.impersonate(user_id)
        refused = await platform.request("POST", path(user_id), REASON | {"org_slug": "nowhere"})

        assert refused.status == 404
        mails = [one for one in await world.mails() if one.template is MailTemplate.IMPERSONATION_STARTED]
        assert [(one.to, {**one.values, "lock_token": ""}) for one in mails] == [
            (EMAIL, {"at": "2026-02-03 04:05 UTC", "until": "2026-02-03 05:05 UTC", "lock_token": ""})
        ]

    async def test_it_is_not_recorded_as_a_sign_in_of_the_user(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        world.member(world.organization(), user_id)

        await platform.impersonate(user_id)

        assert world.rows("SELECT FROM login_events WHERE user_id = %s", user_id) == []
        assert world.rows("SELECT FROM devices WHERE user_id = %s", user_id) == []
        assert world.rows("SELECT FROM audit_entries") == []
        assert [email for _, email, _ in world.events("user.login.success")] == [PLATFORM_OWNER]

    async def test_the_user_sees_it_among_their_sessions_and_can_end_it(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        ada = await world.sign_in()

        acting = await platform.impersonate(user_id)

        [theirs] = [one for one in (await world.list_sessions(ada)).json["sessions"] if not one["is_current"]]
        assert (theirs["id"], theirs["provider"]) == (str(acting.session_id), "impersonation")
        # The user does not learn the platform owner's network address and user agent.
        assert (theirs["ip_address"], theirs["user_agent"]) == (None, None)
        await world.client.delete(f"/api/user/sessions/{acting.session_id}", token=ada.access_token)
        assert (await world.list_sessions(acting)).status == 401

    async def test_in_an_organization_the_token_is_that_of_a_member(self, platform: Platform, world: World) -> None:
        user_id, acme = world.user(), world.organization()
        world.member(acme, user_id, "admin")

        acting = await platform.impersonate(user_id, org_slug="acme")

        assert (acting.claims["org"], acting.claims["role"]) == ("acme", "admin")
        assert world.value("SELECT organization_id FROM platform_audit_entries") == acme

    async def test_with_a_service_the_token_is_that_of_an_end_user(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        client_id = world.service(world.organization()).client_id
        await world.sign_in(org_slug="acme", service_slug="shop")

        acting = await platform.impersonate(user_id, org_slug="acme", service_slug="shop")

        assert (acting.claims["service"], acting.claims["aud"]) == ("shop", str(client_id))
        assert (await world.list_sessions(acting)).status == 200

    async def test_an_organization_that_requires_two_factors_does_not_require_them_of_an_impersonator(
        self, platform: Platform, world: World
    ) -> None:
        user_id, acme = world.user(), world.organization(mfa_required=True)
        world.member(acme, user_id)

        acting = await platform.impersonate(user_id, org_slug="acme")

        assert (await world.client.get("/api/user", token=acting.access_token)).status == 200


class TestRefused:
    """Impersonations that are refused."""

    async def test_a_platform_owner_cannot_be_impersonated_not_even_by_themselves(
        self, platform: Platform, world: World
    ) -> None:
        other_id = world.user(is_platform_owner=True)

        for user_id in (platform.owner_id, other_id):
            assert_refused(await platform.request("POST", path(user_id), REASON), 400, "BAD_REQUEST")
        assert platform.world.platform_audit_entries("impersonation.started") == []

    async def test_an_unknown_or_deactivated_user_is_not_found(self, platform: Platform, world: World) -> None:
        user_id = world.user(is_active=False)

        for named in (UNKNOWN, "ada", user_id):
            assert_refused(await platform.request("POST", path(named), REASON), 404, "NOT_FOUND")

    async def test_an_anonymized_user_is_not_found(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        assert (await platform.request("DELETE", f"/api/privacy/forget/{user_id}")).status == 200

        assert_refused(await platform.request("POST", path(user_id), REASON), 404, "NOT_FOUND")

    async def test_only_a_platform_owner_who_is_not_impersonating_can_impersonate(
        self, platform: Platform, world: World
    ) -> None:
        user_id, other_id = world.user(), world.user("bob@example.com")
        acting = await platform.impersonate(user_id)

        for caller in (await world.sign_in(), acting):
            assert_refused(await platform.request("POST", path(other_id), REASON, by=caller), 403, "FORBIDDEN")

    async def test_an_impersonator_does_not_gain_the_power_of_a_user_who_is_promoted(
        self, platform: Platform, world: World
    ) -> None:
        user_id, other_id = world.user(), world.user("bob@example.com")
        acting = await platform.impersonate(user_id)
        world.connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (user_id,))

        assert_refused(await platform.request("POST", path(other_id), REASON, by=acting), 403, "FORBIDDEN")
        assert_refused(await platform.request("GET", "/api/platform/mfa/metrics", by=acting), 403, "FORBIDDEN")
        assert_refused(await platform.request("GET", f"/api/privacy/export/{other_id}", by=acting), 403, "FORBIDDEN")

    @pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": 7}, {"reason": "a" * 1001}])
    async def test_a_reason_is_required(self, platform: Platform, world: World, body: dict[str, Any]) -> None:
        assert_refused(await platform.request("POST", path(world.user()), body), 400, "BAD_REQUEST")

    async def test_the_user_must_belong_to_the_organization_and_the_service(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()
        world.service(world.organization())

        for where in ({"org_slug": "acme"}, {"org_slug": "acme", "service_slug": "shop"}, {"service_slug": "shop"}):
            assert_refused(await platform.request("POST", path(user_id), {**REASON, **where}), 400, "BAD_REQUEST")
        for where in ({"org_slug": "bolt"}, {"org_slug": "acme", "service_slug": "till"}):
            assert_refused(await platform.request("POST", path(user_id), {**REASON, **where}), 404, "NOT_FOUND")
        assert world.rows("SELECT FROM sessions WHERE user_id = %s", user_id) == []

    async def test_an_organization_that_is_not_active_refuses_impersonation(
        self, platform: Platform, world: World
    ) -> None:
        user_id = world.user()
        world.member(world.organization(status="suspended"), user_id)

        answer = await platform.request("POST", path(user_id), {**REASON, "org_slug": "acme"})

        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_platform_owner_who_is_demoted_during_the_request_is_refused(
        self, platform: Platform, world: World, database: PostgresDatabase
    ) -> None:
        user_id = world.user()

        def start_late(uow: UnitOfWork) -> None:
            assert uow.caller.account.is_platform_owner
            world.connection.execute("UPDATE users SET is_platform_owner = false")
            impersonation.start(uow, user_id, ImpersonationTarget(reason="a question"))

        with pytest.raises(Forbidden):
            await database.on_behalf_of(BACKGROUND, platform.owner.session_id).transact(start_late)

        assert world.rows("SELECT FROM sessions WHERE user_id = %s", user_id) == []


class TestEnd:
    """Ending an impersonation, after an hour at the latest."""

    async def test_it_ends_after_an_hour_despite_refreshes(
        self, platform: Platform, world: World, clock: SettableClock
    ) -> None:
        acting = await platform.impersonate(world.user())
        ends_at = clock.now + HOUR
        refresh_token, left = acting.refresh_token, HOUR
        for minutes in (20, 20, 15):
            clock.advance(timedelta(minutes=minutes))
            left -= timedelta(minutes=minutes)
            answer = await world.refresh(refresh_token)
            assert answer.status == 200, answer.text
            refresh_token = answer.json["refresh_token"]
            assert answer.json["expires_in"] == min(900, left.total_seconds())
            assert world.value("SELECT expires_at FROM sessions WHERE id = %s", acting.session_id) == ends_at
            claims = claims_of(answer.json["access_token"])
            assert claims["impersonator"] == str(platform.owner_id)
            assert claims["impersonation_session"] == str(acting.session_id)

        newest = answer.json["access_token"]
        clock.advance(left - SECOND)
        assert (await world.client.get("/api/user", token=newest)).status == 200
        clock.advance(SECOND)

        assert_refused(await world.client.get("/api/user", token=newest), 401, "TOKEN_EXPIRED")
        assert_refused(await world.refresh(refresh_token), 401, "UNAUTHORIZED")

    async def test_signing_out_ends_it(self, platform: Platform, world: World) -> None:
        user_id = world.user()
        ada = await world.sign_in()
        acting = await platform.impersonate(user_id)

        answer = await world.client.post("/api/auth/logout", token=acting.access_token)

        assert answer.status == 200
        assert (await world.list_sessions(acting)).status == 401
        assert (await world.list_sessions(ada)).status == 200
        assert (await world.list_sessions(platform.owner)).status == 200

    @pytest.mark.parametrize("change", ["is_platform_owner = false", "deactivated_at = now()"])
    async def test_it_ends_when_the_owner_is_demoted_or_deactivated(
        self, platform: Platform, world: World, change: str
    ) -> None:
        acting = await platform.impersonate(world.user())

        world.connection.execute(f"UPDATE users SET {change} WHERE email = '{PLATFORM_OWNER}'".encode())

        assert (await world.list_sessions(acting)).status == 401
        assert (await world.refresh(acting.refresh_token)).status == 401

    @pytest.mark.parametrize("way", ["new password", "all other sessions"])
    async def test_it_ends_when_the_owner_ends_their_other_sessions(
        self, platform: Platform, world: World, way: str
    ) -> None:
        tokens = await platform.impersonate(world.user())
        passwords = {"current_password": PASSWORD, "new_password": "another horse battery"}

        if way == "new password":
            done = await platform.request("POST", "/api/user/change-password", passwords)
        else:
            done = await platform.request("DELETE", "/api/user/sessions")

        assert done.status < 300, done.text
        assert (await world.list_sessions(tokens)).status == 401
        assert (await world.refresh(tokens.refresh_token)).status == 401
        assert (await world.list_sessions(platform.owner)).status == 200

    async def test_selecting_an_organization_does_not_extend_it(
        self, platform: Platform, world: World, clock: SettableClock
    ) -> None:
        user_id = world.user()
        world.member(world.organization(), user_id)
        acting = await platform.impersonate(user_id)
        clock.advance(timedelta(minutes=50))

        selected = await platform.request("POST", "/api/organizations/acme/select", by=await refreshed(world, acting))

        assert selected.status == 200, selected.text
        assert claims_of(selected.json["access_token"])["impersonator"] == str(platform.owner_id)
        clock.advance(timedelta(minutes=10))
        assert (await world.refresh(selected.json["refresh_token"])).status == 401


class TestDeeds:
    """The logs name the impersonator of every action."""

    async def test_the_log_of_the_organization_names_the_impersonator(self, platform: Platform, world: World) -> None:
        acme, user_id = world.organization(), world.user()
        world.member(acme, user_id, "owner")
        acting = await platform.impersonate(user_id)

        answer = await platform.request("PATCH", "/api/organizations/acme", {"name": "Acme Ltd"}, by=acting)

        assert answer.status == 200, answer.text
        [(organization_id, actor, _, details)] = platform.world.audit_entries("organization.updated")
        assert (organization_id, actor) == (acme, user_id)
        assert details["impersonator_id"] == str(platform.owner_id)
        assert details["impersonation_session"] == claims_of(acting.access_token)["sid"]

    @pytest.mark.parametrize("deed", ["organization.created", "sessions.ended", "device.renamed"])
    async def test_actions_that_no_organization_logs_are_in_the_platform_log(
        self, platform: Platform, world: World, deed: str
    ) -> None:
        acme, user_id = world.organization(), world.user()
        world.member(acme, user_id, "owner")
        await self.use_the_shop(world, acme)
        acting = await platform.impersonate(user_id)
        device = world.value("SELECT id FROM devices WHERE user_id = %s", user_id)
        method, route, body, details = {
            "organization.created": ("POST", "/api/organizations", {"slug": "bolt", "name": "Bolt"}, {"slug": "bolt"}),
            "sessions.ended": (
                *("DELETE", f"/api/organizations/acme/users/{user_id}/sessions", None),
                {"user_id": str(user_id), "sessions": 1},
            ),
            "device.renamed": ("PATCH", f"/api/user/devices/{device}", {"name": "Old"}, {"device_id": str(device)}),
        }[deed]

        answer = await platform.request(method, route, body, by=acting)

        assert answer.status == 200, answer.text
        session = {
            "impersonator_id": str(platform.owner_id),
            "impersonation_session": claims_of(acting.access_token)["sid"],
        }
        assert platform.world.platform_audit_entries("impersonation.acted") == [
            (platform.owner_id, str(user_id), {"deed": deed, **session, **details})
        ]

    async def test_actions_without_impersonation_are_not_in_the_platform_log(
        self, platform: Platform, world: World
    ) -> None:
        world.user()
        tokens = await world.sign_in()

        answer = await platform.request("POST", "/api/organizations", {"slug": "bolt", "name": "Bolt"}, by=tokens)

        assert answer.status == 200, answer.text
        assert platform.world.platform_audit_entries("impersonation.acted") == []

    async def use_the_shop(self, world: World, organization_id: UUID) -> None:
        world.service(organization_id)
        await world.sign_in(org_slug="acme", service_slug="shop")


async def refreshed(world: World, acting: Tokens) -> Tokens:
    tokens = (await world.refresh(acting.refresh_token)).json
    return Tokens(tokens["access_token"], tokens["refresh_token"], device_token="")


class TestLimit:
    """The limit of ten impersonations a minute."""

    @pytest.fixture
    def settings(self) -> Settings:
        """The settings with rate limits."""
        return Settings(dev=True)

    async def test_the_eleventh_within_a_minute_is_refused(self, platform: Platform, world: World) -> None:
        user_id = world.user()

        statuses = [
            (await world.client.post(path(user_id), body=REASON, token=platform.owner.access_token)).status
            for _ in range(11)
        ]

        assert statuses == [200] * 10 + [429]
