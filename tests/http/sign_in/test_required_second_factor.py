"""An organization that requires a second factor of its members requires it at its own services too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of an organization that requires two factors, of which a user without one is an admin."""
    party = insert_relying_party(world)
    require(world)
    world.member(party.organization_id, world.user(EMAIL), "admin")
    return party


@pytest.fixture
def admin(world: World, shop: RelyingParty) -> Person:
    """The admin."""
    return Person(world, world.user_id(EMAIL), EMAIL)


def require(world: World, *, is_required: bool = True) -> None:
    world.connection.execute("UPDATE organizations SET mfa_required = %s", (is_required,))


def assert_due(answer: Answer) -> None:
    assert_refused(answer, 403, "FORBIDDEN")
    assert "multi-factor" in answer.json["error"]


async def with_magic_link(world: World, **where: str) -> Answer:
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **where})
    token = (await world.mails())[-1].values["token"]
    return await world.client.post("/api/auth/magic-link/verify", body={"token": token})


class TestOneFactor:
    """A member who has proved one factor gets no token of the service, in any way."""

    async def test_a_password_alone_is_refused(self, world: World, admin: Person) -> None:
        assert_due(await admin.log_in(**AT_SHOP))
        assert world.value("SELECT count(*) FROM sessions") == 0
        assert world.value("SELECT count(*) FROM service_users") == 0

    async def test_a_magic_link_alone_is_refused(self, world: World, admin: Person) -> None:
        assert_due(await with_magic_link(world, **AT_SHOP))

    @pytest.mark.parametrize(("is_user_verified", "status"), [(False, 403), (True, 200)])
    async def test_a_passkey_that_verifies_no_user_is_refused(
        self, world: World, admin: Person, *, is_user_verified: bool, status: int
    ) -> None:
        await admin.sign_in()
        keyring = Keyring(world, admin.token)
        authenticator = await keyring.registered()
        authenticator.is_user_verified = is_user_verified

        assert (await keyring.sign_in(authenticator, **AT_SHOP)).status == status

    async def test_a_suspended_member_reads_that_the_membership_is_deactivated(
        self, world: World, admin: Person
    ) -> None:
        world.connection.execute("UPDATE memberships SET suspended_at = now()")

        answer = await admin.log_in(**AT_SHOP)

        assert_refused(answer, 403, "FORBIDDEN")
        assert "deactivated" in answer.json["error"]

    async def test_without_the_requirement_one_factor_will_do(self, world: World, admin: Person) -> None:
        require(world, is_required=False)

        assert claims_of((await admin.log_in(**AT_SHOP)).json["access_token"])["role"] == "admin"


class TestTwoFactors:
    """A member who has a second factor is asked for it, or comes with a trusted device."""

    async def test_a_code_opens_the_service(self, admin: Person) -> None:
        await admin.turn_mfa_on()

        verified = await admin.verify(await admin.preauth_token(**AT_SHOP), admin.code())

        assert claims_of(verified.json["access_token"])["role"] == "admin"

    async def test_a_magic_link_is_followed_by_a_code(self, world: World, admin: Person) -> None:
        await admin.turn_mfa_on()

        asked = await with_magic_link(world, **AT_SHOP)

        assert (await admin.verify(asked.json["preauth_token"], admin.code())).status == 200

    @pytest.mark.parametrize(("days", "is_asked"), [(30, False), (0, True)])
    async def test_a_trusted_device_counts_for_as_long_as_the_organization_says(
        self, world: World, admin: Person, days: int, *, is_asked: bool
    ) -> None:
        await admin.turn_mfa_on()
        trusted = await admin.verify(await admin.preauth_token(), admin.code(), trust_device=True)
        world.connection.execute("UPDATE organizations SET device_trust_days = %s", (days,))

        answer = await admin.log_in(headers={"X-Device-Token": trusted.json["device_token"]}, **AT_SHOP)

        assert answer.json.get("mfa_required", False) is is_asked


class TestSessionsThatGoOn:
    """The organization begins to require it, or the user becomes a member, after the session began."""

    async def begun(self, world: World, shop: RelyingParty) -> dict[str, Any]:
        """Return the tokens of a session that began before the organization required two factors."""
        require(world, is_required=False)
        tokens = await shop.tokens()
        require(world)
        return tokens

    async def test_the_session_is_not_refreshed(self, world: World, shop: RelyingParty) -> None:
        tokens = await self.begun(world, shop)

        refreshed = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])

        assert (refreshed.status, refreshed.json["error"]) == (400, "invalid_grant")

    async def test_introspection_says_that_its_tokens_are_not_active(self, world: World, shop: RelyingParty) -> None:
        tokens = await self.begun(world, shop)

        for token in (tokens["access_token"], tokens["refresh_token"]):
            assert (await shop.post("/auth/introspect", {"token": token})).json == {"active": False}

    async def test_a_code_is_not_exchanged(self, world: World, shop: RelyingParty) -> None:
        require(world, is_required=False)
        code = await shop.code()
        require(world)

        answer = await shop.redeem(code)

        assert (answer.status, answer.json["error"]) == (400, "invalid_grant")

    async def test_a_session_of_the_json_interface_is_not_refreshed(self, world: World, admin: Person) -> None:
        require(world, is_required=False)
        tokens = await world.sign_in(EMAIL, **AT_SHOP)
        require(world)

        assert_refused(await world.refresh(tokens.refresh_token), 401, "UNAUTHORIZED")

    async def test_an_end_user_who_becomes_a_member_signs_in_again(self, world: World, shop: RelyingParty) -> None:
        user_id = world.user("buyer@example.com")
        tokens = await world.sign_in("buyer@example.com", **AT_SHOP)
        refreshed = await world.refresh(tokens.refresh_token)
        world.member(shop.organization_id, user_id)

        assert refreshed.status == 200
        assert (await world.refresh(refreshed.json["refresh_token"])).status == 401
