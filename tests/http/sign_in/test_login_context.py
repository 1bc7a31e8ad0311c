"""Signing in to an organization or to a service with a password."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from tests.clock import SettableClock


class TestOrganization:
    """A sign-in may name an organization, whose member somebody has to be (decisions 3.3)."""

    async def test_a_member_signs_in_to_it(self, world: World) -> None:
        organization_id = world.organization()
        world.member(organization_id, world.user(), "admin")

        tokens = await world.sign_in(org_slug="acme")

        assert (tokens.claims["org"], tokens.claims["role"]) == ("acme", "admin")
        assert world.value("SELECT organization_id FROM sessions") == organization_id
        assert [organization for organization, _, _ in world.events("user.login.success")] == [organization_id]
        assert world.value("SELECT organization_id FROM login_events") == organization_id

    async def test_an_unknown_one_is_not_found_whoever_asks(self, world: World) -> None:
        world.user()

        for email, password in ((EMAIL, PASSWORD), (EMAIL, "wrong"), ("nobody@example.com", "wrong")):
            assert_refused(await world.log_in(email, password, org_slug="nowhere"), 404, "NOT_FOUND")

    async def test_whoever_is_no_member_is_forbidden(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_whether_somebody_is_a_member_is_told_to_whoever_knows_the_password(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(password="wrong", org_slug="acme"), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
    async def test_one_that_is_not_active_takes_nobody_in(self, world: World, status: str) -> None:
        world.member(world.organization(status=status), world.user())

        assert_refused(await world.log_in(org_slug="acme"), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_stranger_does_not_learn_that_it_is_suspended(self, world: World) -> None:
        world.user()
        world.organization(status="suspended")

        assert_refused(await world.log_in(org_slug="acme"), 403, "FORBIDDEN")

    async def test_whoever_is_refused_there_gets_no_session(self, world: World) -> None:
        world.user()
        world.organization()

        await world.log_in(org_slug="acme")

        assert world.value("SELECT count(*) FROM sessions") == 0
        assert world.value("SELECT count(*) FROM sign_in_failures") == 1

    async def test_one_that_asks_for_two_factors_refuses_one(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user())

        answer = await world.log_in(org_slug="acme")

        assert_refused(answer, 403, "FORBIDDEN")
        assert "multi-factor" in answer.json["error"]
        assert (await world.log_in()).status == 200

    async def test_one_that_asks_for_two_factors_asks_whoever_has_a_second(self, world: World) -> None:
        world.member(world.organization(mfa_required=True), world.user(has_mfa=True))

        answer = await world.log_in(org_slug="acme")

        assert (answer.status, answer.json["mfa_required"]) == (200, True)


class TestService:
    """A sign-in may name a service, whose end user everybody becomes (decisions 3.3)."""

    async def test_whoever_signs_in_becomes_an_end_user(self, world: World, clock: SettableClock) -> None:
        user_id, organization_id = world.user(), world.organization()
        world.service(organization_id)

        await world.sign_in(org_slug="acme", service_slug="shop")

        query = "SELECT user_id, organization_id, first_login_at, last_login_at FROM service_users"
        assert world.rows(query) == [(user_id, organization_id, clock.now, clock.now)]

    async def test_who_was_one_already_is_seen_again(self, world: World, clock: SettableClock) -> None:
        world.user()
        world.service(world.organization())
        await world.sign_in(org_slug="acme", service_slug="shop")
        first = clock.now
        clock.advance(timedelta(days=1))

        await world.sign_in(org_slug="acme", service_slug="shop")

        assert world.rows("SELECT first_login_at, last_login_at FROM service_users") == [(first, clock.now)]

    async def test_the_token_is_for_the_service(self, world: World) -> None:
        world.user()
        client_id = world.service(world.organization()).client_id

        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        claims = tokens.claims
        assert (claims["org"], claims["service"], claims["aud"]) == ("acme", "shop", str(client_id))
        assert "role" not in claims
        assert (await world.list_sessions(tokens)).status == 200

    async def test_an_unknown_one_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_one_of_another_organization_is_not_found(self, world: World) -> None:
        world.user()
        world.organization()
        world.service(world.organization("bolt"))

        assert_refused(await world.log_in(org_slug="acme", service_slug="shop"), 404, "NOT_FOUND")

    async def test_one_of_a_suspended_organization_takes_nobody_in(self, world: World) -> None:
        world.user()
        world.service(world.organization(status="suspended"))

        answer = await world.log_in(org_slug="acme", service_slug="shop")

        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_what_an_organization_asks_of_its_members_it_does_not_ask_of_end_users(self, world: World) -> None:
        world.user()
        world.service(world.organization(mfa_required=True))

        assert (await world.log_in(org_slug="acme", service_slug="shop")).status == 200
