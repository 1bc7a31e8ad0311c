"""Selecting an organization, and the second factor that its settings require."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio

from core.sessions import refresh as sessions_refresh
from core.sessions.refresh import GRACE, SessionOver
from tests.application import Answer, Client
from tests.clock import SettableClock
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import SignedInUser, claims_of
from tests.world.world import World, assert_refused

SELECT = "/api/organizations/acme/select"
DAY = timedelta(days=1)
ROUNDS = 10


@pytest.fixture
def acme(world: World) -> UUID:
    """An active organization."""
    return world.organization()


@pytest.fixture
async def ada(world: World, acme: UUID) -> SignedInUser:
    """An admin of acme, signed in without selecting it."""
    return await world.signed_in_member(acme, "admin")


@pytest.fixture
async def grace(world: World, acme: UUID) -> Person:
    """A member of acme with a second factor."""
    person = insert_person(world, "grace@example.com")
    world.member(acme, person.id)
    await person.turn_mfa_on()
    person.next_step()
    return person


class TestSelect:
    """Selecting moves the session into the organization."""

    async def test_the_answer_has_the_user_the_membership_and_the_next_tokens(
        self, world: World, ada: SignedInUser
    ) -> None:
        answer = await ada.post(SELECT)

        assert answer.status == 200, answer.text
        assert set(answer.json) == {
            *("user", "membership", "access_token", "refresh_token", "expires_in", "token_type"),
        }
        assert answer.json["user"] == {
            "id": str(ada.id),
            "email": ada.email,
            "is_platform_owner": False,
            "created_at": "2026-02-03T04:05:06Z",
        }
        assert answer.json["membership"] == (await ada.get("/api/organizations")).json[0]["membership"]
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_the_access_token_has_the_same_session_and_adds_organization_and_role(
        self, ada: SignedInUser
    ) -> None:
        before = claims_of(ada.token)

        after = claims_of((await ada.post(SELECT)).json["access_token"])

        assert "org" not in before
        assert (after["org"], after["role"]) == ("acme", "admin")
        for name in ("sid", "sub", "amr", "auth_time", "aud"):
            assert after[name] == before[name]

    async def test_the_profile_shows_the_organization_also_to_the_earlier_token(self, ada: SignedInUser) -> None:
        await ada.post(SELECT)

        profile = (await ada.get("/api/user")).json

        assert (profile["org"], profile["role"]) == ("acme", "admin")

    async def test_a_session_can_select_another_organization(self, world: World, ada: SignedInUser) -> None:
        bolt = world.organization("bolt")
        world.member(bolt, ada.id)
        await ada.post(SELECT)

        answer = await ada.post("/api/organizations/bolt/select")

        assert claims_of(answer.json["access_token"])["org"] == "bolt"
        assert world.value("SELECT organization_id FROM sessions") == bolt

    async def test_a_session_with_a_service_cannot_select(self, world: World, acme: UUID, ada: SignedInUser) -> None:
        # Otherwise the service could exchange a user's token for one that manages the organization.
        world.service(acme)
        buyer = await world.sign_in_as(ada.id, ada.email, org_slug="acme", service_slug="shop")

        answer = await buyer.post(SELECT)

        assert_refused(answer, 403, "FORBIDDEN")
        assert answer.json["error"].startswith("This token was issued to a service")
        assert (await buyer.get("/api/user")).json["service"] == "shop"

    async def test_only_members_select_an_organization(self, world: World, acme: UUID) -> None:
        assert_refused(await (await world.signed_in_platform_owner()).post(SELECT), 403, "FORBIDDEN")

    async def test_an_unknown_organization_is_not_found(self, ada: SignedInUser) -> None:
        assert_refused(await ada.post("/api/organizations/bolt/select"), 404, "NOT_FOUND")

    async def test_selecting_requires_an_active_organization(
        self, world: World, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for status in ("pending", "suspended", "rejected"):
            with subtests.test(status=status):
                world.rows("UPDATE organizations SET status = %s RETURNING id", status)

                assert_refused(await ada.post(SELECT), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_selecting_does_not_change_when_the_session_expires(
        self, world: World, ada: SignedInUser, clock: SettableClock
    ) -> None:
        before = world.value("SELECT expires_at FROM sessions")
        clock.advance(timedelta(minutes=5))

        await ada.post(SELECT)

        assert world.value("SELECT expires_at FROM sessions") == before

    @pytest.mark.parametrize(
        "ending",
        ["UPDATE sessions SET revoked_at = now() RETURNING id", "UPDATE users SET deactivated_at = now() RETURNING id"],
    )
    async def test_a_session_that_ends_concurrently_is_not_revived(
        self, world: World, acme: UUID, ada: SignedInUser, transact: Callable[..., Any], ending: str
    ) -> None:
        session_id = world.value("SELECT id FROM sessions")
        world.rows(ending)

        with pytest.raises(SessionOver):
            transact(sessions_refresh.move, session_id, acme)


class TestRotation:
    """Selecting exchanges the refresh token."""

    async def test_the_new_refresh_token_stays_in_the_organization(self, world: World, ada: SignedInUser) -> None:
        selected = await ada.post(SELECT)

        refreshed = await world.refresh(selected.json["refresh_token"])

        assert selected.json["refresh_token"] != ada.refresh_token
        assert refreshed.status == 200
        assert claims_of(refreshed.json["access_token"])["org"] == "acme"

    async def test_the_old_refresh_token_returns_the_new_one_for_half_a_minute(
        self, world: World, ada: SignedInUser, clock: SettableClock
    ) -> None:
        selected = await ada.post(SELECT)
        clock.advance(GRACE)

        refreshed = await world.refresh(ada.refresh_token)

        assert (refreshed.status, refreshed.json["refresh_token"]) == (200, selected.json["refresh_token"])

    async def test_the_old_refresh_token_ends_the_session_after_half_a_minute(
        self, world: World, ada: SignedInUser, clock: SettableClock
    ) -> None:
        selected = await ada.post(SELECT)
        clock.advance(GRACE + timedelta(seconds=1))

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")
        assert_refused(await world.refresh(selected.json["refresh_token"]), 401, "UNAUTHORIZED")

    async def test_concurrent_selecting_and_refreshing_keeps_the_session(self, world: World, ada: SignedInUser) -> None:
        token = ada.refresh_token
        for _ in range(ROUNDS):
            answers: list[Answer] = []

            async def select(answers: list[Answer] = answers) -> None:
                answers.append(await ada.post(SELECT))

            async def refresh(answers: list[Answer] = answers, token: str = token) -> None:
                answers.append(await world.refresh(token))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(select)
                nursery.start_soon(select)
                nursery.start_soon(refresh)
            assert {answer.status for answer in answers} == {200}
            for answer in answers:
                # Each of the refresh tokens is exchanged for the newest one.
                token = (await world.refresh(answer.json["refresh_token"])).json["refresh_token"]
            world.clock.advance(GRACE + timedelta(seconds=1))

        assert world.events("session.revoked") == []


class TestSecondFactor:
    """An organization that requires multi-factor authentication of its members."""

    @pytest.fixture
    def acme(self, world: World) -> UUID:
        """An organization that requires multi-factor authentication."""
        return world.organization(mfa_required=True)

    async def test_a_session_with_one_factor_cannot_select_it(self, world: World, ada: SignedInUser) -> None:
        answer = await ada.post(SELECT)

        assert_refused(answer, 403, "FORBIDDEN")
        assert answer.json["error"].startswith(
            "This organization requires multi-factor authentication. If your account has no MFA"
        )
        assert world.value("SELECT organization_id FROM sessions") is None

    async def test_a_session_with_one_factor_cannot_use_it_without_selecting_it(
        self, world: World, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for method, path, body in (
            ("GET", "/members", None),
            ("GET", "/audit-log", None),
            ("POST", "/invitations", {"email": "eve@example.com", "role": "member"}),
            ("POST", "/roles", {"slug": "auditor", "name": "Auditor"}),
        ):
            with subtests.test(method=method, path=path, body=body):
                answer = await ada.client.request(method, f"/api/organizations/acme{path}", token=ada.token, body=body)

                assert_refused(answer, 403, "FORBIDDEN")
                assert answer.json["error"].startswith(
                    "This organization requires multi-factor authentication. If your account has no MFA"
                )
                assert world.value("SELECT mfa_required FROM organizations") is True

    async def test_a_session_with_one_factor_can_read_the_requirement(self, ada: SignedInUser) -> None:
        answer = await ada.get("/api/organizations/acme")

        assert (answer.status, answer.json["organization"]["mfa_required"]) == (200, True)

    async def test_a_missing_capability_is_reported_before_the_missing_factor(self, world: World, acme: UUID) -> None:
        bob = await world.signed_in_member(acme, "member", "bob@example.com")

        answer = await bob.get("/api/organizations/acme/audit-log")

        assert_refused(answer, 403, "FORBIDDEN")
        assert "audit_logs.view" in answer.json["error"]

    async def test_a_sign_in_to_it_with_one_factor_is_refused(self, world: World, ada: SignedInUser) -> None:
        answer = await world.log_in(ada.email, org_slug="acme")

        assert_refused(answer, 403, "FORBIDDEN")
        assert "If your account has no MFA yet" in answer.json["error"]

    async def test_a_session_with_two_factors_can_use_and_select_it(self, grace: Person, client: Client) -> None:
        await grace.sign_in_with_second_factor()

        assert (await client.get("/api/organizations/acme/members", token=grace.token)).status == 200
        assert (await client.post(SELECT, token=grace.token)).status == 200

    async def test_a_device_that_remembers_the_factor_does_not_end_the_requirement(
        self, world: World, grace: Person, acme: UUID
    ) -> None:
        world.connection.execute("UPDATE memberships SET role = 'admin' WHERE organization_id = %s", (acme,))
        device = await grace.verify(await grace.preauth_token(), grace.code(), trust_device=True)
        proved = device.json["access_token"]
        remembered = await grace.log_in(headers={"X-Device-Token": device.json["device_token"]})
        body = {"mfa_required": False}

        refused = await world.client.patch("/api/organizations/acme", token=remembered.json["access_token"], body=body)

        assert_refused(refused, 403, "FORBIDDEN")
        assert (await world.client.patch("/api/organizations/acme", token=proved, body=body)).status == 200

    async def test_a_session_in_it_that_began_with_one_factor_is_not_refreshed(
        self, world: World, ada: SignedInUser
    ) -> None:
        world.rows("UPDATE organizations SET mfa_required = false RETURNING id")
        inside = await world.sign_in_as(ada.id, ada.email, org_slug="acme")
        world.rows("UPDATE organizations SET mfa_required = true RETURNING id")

        answer = await world.refresh(inside.refresh_token)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"] == ("This organization now requires multi-factor authentication. Sign in again.")
        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_a_session_in_it_that_began_with_two_factors_is_refreshed(
        self, world: World, grace: Person, client: Client
    ) -> None:
        preauth = await grace.preauth_token(org_slug="acme")
        inside = await grace.verify(preauth, grace.code(), org_slug="acme")

        assert (await world.refresh(inside.json["refresh_token"])).status == 200

    async def test_end_users_of_its_services_who_are_no_members_need_no_second_factor(
        self, world: World, acme: UUID
    ) -> None:
        world.service(acme)
        user_id = world.user("buyer@example.com")
        buyer = await world.sign_in_as(user_id, "buyer@example.com", org_slug="acme", service_slug="shop")

        assert (await world.refresh(buyer.refresh_token)).status == 200

    async def test_a_platform_owner_who_impersonates_a_member_needs_no_second_factor(
        self, world: World, ada: SignedInUser
    ) -> None:
        root = await world.signed_in_platform_owner()
        world.rows("UPDATE sessions SET impersonator_id = %s WHERE user_id = %s RETURNING id", root.id, ada.id)

        listed = await ada.get("/api/organizations/acme/members")
        selected = await ada.post(SELECT)

        assert listed.status == 200, listed.text
        assert selected.status == 200, selected.text
        assert (await world.refresh(selected.json["refresh_token"])).status == 200


class TestDeviceTrust:
    """The organization limits how long a trusted device replaces the second factor, at sign-in and at selecting."""

    @pytest.fixture
    async def trusted_device(self, grace: Person) -> dict[str, str]:
        """The headers of a device that was trusted with a code ten days ago."""
        verified = await grace.verify(await grace.preauth_token(), grace.code(), trust_device=True)
        grace.world.clock.advance(10 * DAY)
        return {"X-Device-Token": verified.json["device_token"]}

    @pytest.mark.parametrize(("days", "is_required"), [(0, True), (9, True), (10, True), (11, False), (30, False)])
    async def test_a_device_is_trusted_at_sign_in_for_less_than_the_organizations_days(
        self, world: World, acme: UUID, grace: Person, trusted_device: dict[str, str], days: int, is_required: bool
    ) -> None:
        world.rows("UPDATE organizations SET device_trust_days = %s RETURNING id", days)

        answer = await grace.log_in(headers=trusted_device, org_slug="acme")

        assert answer.json.get("mfa_required", False) is is_required

    @pytest.mark.parametrize(("days", "status"), [(0, 403), (9, 403), (10, 403), (11, 200), (30, 200)])
    async def test_the_same_limit_applies_at_selecting(
        self, world: World, grace: Person, client: Client, trusted_device: dict[str, str], days: int, status: int
    ) -> None:
        world.rows("UPDATE organizations SET device_trust_days = %s RETURNING id", days)
        session = (await grace.log_in(headers=trusted_device)).json

        answer = await client.post(SELECT, token=session["access_token"])

        assert claims_of(session["access_token"])["amr"] == ["pwd", "trusted"]
        assert answer.status == status
        if status == 403:
            assert answer.json["error"].startswith("Your device was trusted longer ago than this organization allows.")

    @pytest.mark.parametrize(
        ("is_required", "days", "status"), [(True, 0, 403), (True, 10, 403), (True, 11, 200), (False, 0, 200)]
    )
    async def test_the_same_limit_applies_without_selecting_where_two_factors_are_required(
        self,
        world: World,
        grace: Person,
        client: Client,
        trusted_device: dict[str, str],
        is_required: bool,
        days: int,
        status: int,
    ) -> None:
        world.rows("UPDATE organizations SET mfa_required = %s, device_trust_days = %s RETURNING id", is_required, days)
        session = (await grace.log_in(headers=trusted_device)).json

        answer = await client.get("/api/organizations/acme/members", token=session["access_token"])

        assert answer.status == status, answer.text

    async def test_a_session_of_a_device_that_is_no_longer_trusted_cannot_select(
        self, world: World, grace: Person, client: Client, trusted_device: dict[str, str]
    ) -> None:
        session = (await grace.log_in(headers=trusted_device)).json
        world.rows("UPDATE device_tokens SET mfa_trusted_at = NULL RETURNING device_id")

        assert_refused(await client.post(SELECT, token=session["access_token"]), 403, "FORBIDDEN")

    async def test_a_session_of_a_deleted_device_cannot_select(
        self, world: World, grace: Person, client: Client, trusted_device: dict[str, str]
    ) -> None:
        session = (await grace.log_in(headers=trusted_device)).json
        world.rows("DELETE FROM devices RETURNING id")

        assert_refused(await client.post(SELECT, token=session["access_token"]), 403, "FORBIDDEN")
