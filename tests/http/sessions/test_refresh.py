"""Continuing a session by its refresh token."""

from __future__ import annotations

import base64
from datetime import timedelta
from functools import partial

import pytest

from core.sessions.refresh import GRACE
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

SECOND = timedelta(seconds=1)
ROUNDS = 50


@pytest.fixture
async def ada(world: World) -> Tokens:
    """A signed-in user."""
    world.user()
    return await world.sign_in()


class TestExchange:
    """A refresh token is exchanged for the next one."""

    async def test_a_refresh_returns_a_new_access_token_and_the_next_refresh_token(
        self, world: World, ada: Tokens
    ) -> None:
        answer = await world.refresh(ada.refresh_token)

        assert answer.status == 200
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type"}
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.json["refresh_token"] != ada.refresh_token
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_the_new_access_token_belongs_to_the_same_session(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(timedelta(hours=1))

        answer = await world.refresh(ada.refresh_token)

        before, after = ada.claims, claims_of(answer.json["access_token"])
        for name in ("sid", "sub", "amr", "auth_time", "email", "aud", "iss"):
            assert after[name] == before[name]
        assert after["jti"] != before["jti"]
        assert after["iat"] == before["iat"] + 3600
        assert (await world.client.get("/api/user/sessions", token=answer.json["access_token"])).status == 200

    async def test_a_session_that_is_refreshed_regularly_continues(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(days=15))
            answer = await world.refresh(token)
            assert answer.status == 200
            token = answer.json["refresh_token"]

    async def test_a_refresh_costs_one_statement(self, world: World, ada: Tokens) -> None:
        with recorded_statements() as statements:
            await world.refresh(ada.refresh_token)

        assert [statement.split()[0] for statement in statements] == ["UPDATE"]

    async def test_only_the_hash_of_the_newest_refresh_token_is_stored(self, world: World, ada: Tokens) -> None:
        newest = (await world.refresh(ada.refresh_token)).json["refresh_token"]

        assert world.value("SELECT refresh_hash = sha256(%s) FROM sessions", newest.encode())
        stored = world.value("SELECT sessions::text FROM sessions")
        for token in (ada.refresh_token, newest):
            assert token not in stored
            assert base64.urlsafe_b64decode(token)[16:48].hex() not in stored


class TestGrace:
    """A used token is accepted again for half a minute: for two browser tabs, or a lost response."""

    async def test_two_concurrent_uses_get_the_same_successor(self, world: World, ada: Tokens) -> None:
        token = ada.refresh_token
        for _ in range(ROUNDS):
            answers = await at_once(*[partial(world.refresh, token)] * 2)

            assert [answer.status for answer in answers] == [200, 200]
            [token] = {answer.json["refresh_token"] for answer in answers}

        assert world.events("session.revoked") == []

    async def test_a_repeated_use_gets_the_same_successor_during_the_grace_period(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        successor = (await world.refresh(ada.refresh_token)).json["refresh_token"]
        clock.advance(GRACE)

        again = await world.refresh(ada.refresh_token)

        assert (again.status, again.json["refresh_token"]) == (200, successor)

    async def test_a_repeated_use_does_not_extend_the_grace_period(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE)
        await world.refresh(ada.refresh_token)

        clock.advance(SECOND)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_a_repeated_use_after_further_refreshes_gets_the_newest_token(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        second = (await world.refresh(ada.refresh_token)).json["refresh_token"]
        third = (await world.refresh(second)).json["refresh_token"]
        clock.advance(GRACE)

        late = await world.refresh(ada.refresh_token)

        assert (late.status, late.json["refresh_token"]) == (200, third)
        assert (await world.refresh(third)).status == 200


class TestReuse:
    """A token that is used again after the grace period was copied, and the session ends."""

    async def test_reusing_a_token_after_the_grace_period_ends_the_session(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        successor = (await world.refresh(ada.refresh_token)).json
        clock.advance(GRACE + SECOND)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        # The holder of the successor loses the session as well, even if that is the user.
        assert_refused(await world.refresh(successor["refresh_token"]), 401, "UNAUTHORIZED")
        for access_token in (ada.access_token, successor["access_token"]):
            answer = await world.client.get("/api/user/sessions", token=access_token)
            assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_reusing_any_earlier_token_ends_the_session(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(minutes=15))
            token = (await world.refresh(token)).json["refresh_token"]

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        assert_refused(await world.refresh(token), 401, "UNAUTHORIZED")

    async def test_a_reuse_is_published_with_its_reason_and_written_to_the_security_log(
        self, world: World, clock: SettableClock
    ) -> None:
        user_id = world.user()
        organization_id = world.organization()
        world.member(organization_id, user_id)
        tokens = await world.sign_in()
        await world.refresh(tokens.refresh_token)
        clock.advance(GRACE + SECOND)

        await world.refresh(tokens.refresh_token)

        assert world.events("session.revoked") == [
            (organization_id, EMAIL, {"sessions": 1, "reason": "refresh_token_reused"})
        ]
        assert world.rows("SELECT user_id, event_type, success, details FROM mfa_events") == [
            (user_id, "refresh_token_reused", False, {"session_id": str(tokens.session_id)})
        ]

    async def test_concurrent_reuses_are_published_once(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        answers = await at_once(*[partial(world.refresh, ada.refresh_token)] * 5)

        assert [answer.status for answer in answers] == [401] * 5
        assert len(world.events("session.revoked")) == 1

    async def test_other_sessions_of_the_user_continue(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        other = await world.sign_in()
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        await world.refresh(ada.refresh_token)

        assert (await world.refresh(other.refresh_token)).status == 200


class TestForgery:
    """Forged tokens can neither end nor continue a session."""

    async def test_a_forged_token_for_a_known_session_has_no_effect(self, world: World, ada: Tokens) -> None:
        raw = bytearray(base64.urlsafe_b64decode(ada.refresh_token))
        forgeries = [base64.urlsafe_b64encode(raw[:16] + bytes(50)).decode()]
        for position in range(0, len(raw), 7):
            altered = raw.copy()
            altered[position] ^= 1
            forgeries.append(base64.urlsafe_b64encode(altered).decode())

        for forged in forgeries:
            assert_refused(await world.refresh(forged), 401, "UNAUTHORIZED")

        assert world.events("session.revoked") == []
        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_other_spellings_of_a_valid_token_are_refused(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        for spelling in ("{0}=", " {0}", "{0}\n", "{0}{0}", "", "no token", "ä" * 88):
            with subtests.test(spelling=spelling):
                assert_refused(await world.refresh(spelling.format(ada.refresh_token)), 401, "UNAUTHORIZED")

        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_the_characters_of_another_base64_alphabet_are_refused(self, world: World) -> None:
        world.user()
        token = "-"
        while not {"-", "_"} & set(token[1:]):
            token = (await world.sign_in()).refresh_token

        answer = await world.refresh(token.replace("-", "+").replace("_", "/"))

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert world.events("session.revoked") == []

    async def test_an_access_token_is_refused_as_a_refresh_token(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.refresh(ada.access_token), 401, "UNAUTHORIZED")


class TestEnd:
    """When a session ends, its refresh token is refused."""

    async def test_a_session_ends_after_thirty_days_without_use(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(IDLE_LIFETIME)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_a_session_continues_until_the_last_second_of_its_idle_lifetime(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(IDLE_LIFETIME - SECOND)

        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_a_session_ends_after_ninety_days_even_if_it_is_refreshed(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        token, began_at = ada.refresh_token, clock.now
        while (clock.now - began_at) < ABSOLUTE_LIFETIME - timedelta(days=15):
            clock.advance(timedelta(days=15))
            token = (await world.refresh(token)).json["refresh_token"]
        clock.advance(timedelta(days=15) - timedelta(minutes=5))
        answer = await world.refresh(token)
        assert answer.status == 200

        # The last access token ends with the session.
        assert answer.json["expires_in"] == 300
        clock.advance(timedelta(minutes=5))
        assert_refused(await world.refresh(answer.json["refresh_token"]), 401, "UNAUTHORIZED")

    async def test_signing_out_ends_the_session(self, world: World, ada: Tokens) -> None:
        await world.client.post("/api/auth/logout", token=ada.access_token)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")
        assert world.events("session.revoked") == []

    async def test_a_deactivated_user_cannot_refresh(self, world: World, ada: Tokens) -> None:
        world.rows("UPDATE users SET deactivated_at = now() RETURNING id")

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")


class TestRights:
    """A refresh reads the user's permissions again."""

    @pytest.fixture
    async def member(self, world: World) -> Tokens:
        """A member who is signed in to the organization."""
        world.member(world.organization(), world.user(), "admin")
        return await world.sign_in(org_slug="acme")

    async def test_a_changed_role_is_in_the_next_token(self, world: World, member: Tokens) -> None:
        world.rows("UPDATE memberships SET role = 'member' RETURNING id")

        answer = await world.refresh(member.refresh_token)

        assert (member.claims["role"], claims_of(answer.json["access_token"])["role"]) == ("admin", "member")

    async def test_the_next_token_of_a_demoted_platform_owner_lacks_the_claim(self, world: World) -> None:
        world.user(is_platform_owner=True)
        tokens = await world.sign_in()
        world.rows("UPDATE users SET is_platform_owner = false RETURNING id")

        answer = await world.refresh(tokens.refresh_token)

        assert tokens.claims["is_platform_owner"] is True
        assert "is_platform_owner" not in claims_of(answer.json["access_token"])

    @pytest.mark.parametrize("status", ["active", "suspended"])
    async def test_the_next_token_of_a_removed_member_names_no_organization(
        self, world: World, member: Tokens, status: str
    ) -> None:
        world.rows("DELETE FROM memberships RETURNING id")
        world.rows("UPDATE organizations SET status = %s RETURNING id", status)

        answer = await world.refresh(member.refresh_token)

        assert answer.status == 200
        assert member.claims["org"] == "acme"
        assert not {"org", "role"} & claims_of(answer.json["access_token"]).keys()
        assert world.value("SELECT organization_id FROM sessions") is None

    async def test_a_removed_end_user_cannot_refresh(self, world: World) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")
        world.rows("DELETE FROM service_users RETURNING user_id")

        assert_refused(await world.refresh(tokens.refresh_token), 401, "UNAUTHORIZED")

    async def test_an_end_user_gets_the_next_token_for_the_service(self, world: World) -> None:
        world.user()
        client_id = world.service(world.organization()).client_id
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.refresh(tokens.refresh_token)

        assert claims_of(answer.json["access_token"])["aud"] == str(client_id)

    async def test_members_cannot_refresh_during_a_suspension_of_the_organization_and_can_afterwards(
        self, world: World, member: Tokens, clock: SettableClock
    ) -> None:
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")
        assert_refused(await world.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")
        clock.advance(timedelta(days=1))
        assert_refused(await world.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")

        world.rows("UPDATE organizations SET status = 'active' RETURNING id")

        assert (await world.refresh(member.refresh_token)).status == 200

    async def test_a_session_without_an_organization_survives_its_suspension(self, world: World) -> None:
        world.member(world.organization(), world.user())
        tokens = await world.sign_in()
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")

        assert (await world.refresh(tokens.refresh_token)).status == 200


async def test_a_missing_or_invalid_token_field_is_named_in_the_refusal(
    world: World, subtests: pytest.Subtests
) -> None:
    for body in ({}, {"refresh_token": None}, {"refresh_token": 5}):
        with subtests.test(body=body):
            answer = await world.client.post("/api/auth/refresh", body=body)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert [detail["field"] for detail in answer.json["details"]] == ["refresh_token"]
