"""Signing in to an organization or to a service with a password."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.clock import SettableClock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World, assert_refused


class TestOrganization:
    """A sign-in may name an organization, and then requires a membership in it."""

    async def test_a_member_signs_in_to_the_organization(self, world: World) -> None:
        organization_id = world.organization()
        world.member(organization_id, world.user(), "admin")

        tokens = await world.sign_in(org_slug="acme")

        assert (tokens.claims["org"], tokens.claims["role"]) == ("acme", "admin")
        assert world.value("SELECT organization_id FROM sessions") == organization_id
        assert [organization for organization, _, _ in world.events("user.login.success")] == [organization_id]
        assert world.value("SELECT organization_id FROM login_events") == organization_id

    async def test_an_unknown_organization_is_not_found_with_any_credentials(self, world: World) -> None:
        world.user()

        for email, password in ((EMAIL, PASSWORD), (EMAIL, "wrong"), ("nobody@example.com", "wrong")):
            assert_refused(await world.log_in(email, password, org_slug="nowhere"), 404, "NOT_FOUND")

    async def test_a_user_who_is_not_a_member_is_forbidden(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_a_wrong_password_does_not_reveal_the_membership(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(password="wrong", org_slug="acme"), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
    async def test_an_inactive_organization_refuses_its_members(self, world: World, status: str) -> None:
        world.member(world.organization(status=status), world.user())

        assert_refused(await world.log_in(org_slug="acme"), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_user_who_is_not_a_member_does_not_learn_of_the_suspension(self, world: World) -> None:
        world.user()
        world.organization(status="suspended")

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_a_forbidden_sign_in_begins_no_session(self, world: World) -> None:
        world.user()
        world.organization()

        await world.log_in(org_slug="acme")

        assert world.value("SELECT count(*) FROM sessions") == 0
        assert world.value("SELECT count(*) FROM sign_in_failures") == 1

    async def test_an_organization_that_requires_mfa_refuses_a_password_alone(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user())

        answer = await world.log_in(org_slug="acme")

        assert_refused(answer, 403, "FORBIDDEN")
        assert "multi-factor" in answer.json["error"]
        assert (await world.log_in()).status == 200

    async def test_an_organization_that_requires_mfa_requests_the_second_factor(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user(has_mfa=True))

        answer = await world.log_in(org_slug="acme")

        assert (answer.status, answer.json["mfa_required"]) == (200, True)


class TestService:
    """A sign-in may name a service, which makes the user its end user."""

    async def test_a_user_who_signs_in_becomes_an_end_user(self, world: World, clock: SettableClock) -> None:
        user_id, organization_id = world.user(), world.organization()
        world.service(organization_id)

        await world.sign_in(org_slug="acme", service_slug="shop")

        query = "SELECT user_id, organization_id, first_login_at, last_login_at FROM service_users"
        assert world.rows(query) == [(user_id, organization_id, clock.now, clock.now)]

    async def test_an_existing_end_user_gets_a_new_last_login(self, world: World, clock: SettableClock) -> None:
        world.user()
        world.service(world.organization())
        await world.sign_in(org_slug="acme", service_slug="shop")
        first = clock.now
        clock.advance(timedelta(days=1))

        await world.sign_in(org_slug="acme", service_slug="shop")

        assert world.rows("SELECT first_login_at, last_login_at FROM service_users") == [(first, clock.now)]

    async def test_the_audience_of_the_token_is_the_service(self, world: World) -> None:
        world.user()
        client_id = world.service(world.organization()).client_id

        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        claims = tokens.claims
        assert (claims["org"], claims["service"], claims["aud"]) == ("acme", "shop", str(client_id))
        assert "role" not in claims
        assert (await world.list_sessions(tokens)).status == 200

    async def test_an_unknown_service_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_a_service_of_another_organization_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()
        world.service(world.organization("bolt"))

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_a_service_of_a_suspended_organization_refuses_its_end_users(self, world: World) -> None:
        world.user()
        world.service(world.organization(status="suspended"))

        answer = await world.log_in(org_slug="acme", service_slug="shop")

        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_the_mfa_requirement_for_members_does_not_apply_to_end_users(self, world: World) -> None:
        world.user()
        world.service(world.organization(mfa_required=True))

        assert (await world.log_in(org_slug="acme", service_slug="shop")).status == 200
