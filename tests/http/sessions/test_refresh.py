"""Going on with a session by its refresh token (decisions 2.4)."""

from __future__ import annotations

import base64
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from core.sessions.refresh import GRACE
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from tests.concurrency import at_once
from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from tests.clock import SettableClock

SECOND = timedelta(seconds=1)
ROUNDS = 50


@pytest.fixture
async def ada(world: World) -> Tokens:
    """Somebody who is signed in."""
    world.user()
    return await world.sign_in()


class TestExchange:
    """A refresh token is exchanged for the next one."""

    async def test_it_answers_a_fresh_access_token_and_the_next_refresh_token(self, world: World, ada: Tokens) -> None:
        answer = await world.refresh(ada.refresh_token)

        assert answer.status == 200
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type"}
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.json["refresh_token"] != ada.refresh_token
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_the_access_token_is_of_the_same_session(
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

    async def test_it_goes_on_as_long_as_it_is_used(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(days=15))
            answer = await world.refresh(token)
            assert answer.status == 200
            token = answer.json["refresh_token"]

    async def test_it_is_two_statements(self, world: World, ada: Tokens) -> None:
        with recorded_statements() as statements:
            await world.refresh(ada.refresh_token)

        assert [statement.split()[0] for statement in statements] == ["SELECT", "UPDATE"]

    async def test_only_the_hash_of_the_newest_is_stored(self, world: World, ada: Tokens) -> None:
        newest = (await world.refresh(ada.refresh_token)).json["refresh_token"]

        assert world.value("SELECT refresh_hash = sha256(%s) FROM sessions", newest.encode())
        stored = world.value("SELECT sessions::text FROM sessions")
        for token in (ada.refresh_token, newest):
            assert token not in stored
            assert base64.urlsafe_b64decode(token)[16:48].hex() not in stored


class TestGrace:
    """Repeating is forgiven for half a minute: two tabs, or an answer that got lost."""

    async def test_of_two_uses_at_once_both_get_the_same_successor(self, world: World, ada: Tokens) -> None:
        token = ada.refresh_token
        for _ in range(ROUNDS):
            answers = await at_once(*[partial(world.refresh, token)] * 2)

            assert [answer.status for answer in answers] == [200, 200]
            [token] = {answer.json["refresh_token"] for answer in answers}

        assert world.events("session.revoked") == []

    async def test_a_repetition_gets_the_same_successor_until_the_half_minute_is_over(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        successor = (await world.refresh(ada.refresh_token)).json["refresh_token"]
        clock.advance(GRACE)

        again = await world.refresh(ada.refresh_token)

        assert (again.status, again.json["refresh_token"]) == (200, successor)

    async def test_a_repetition_does_not_make_the_half_minute_longer(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE)
        await world.refresh(ada.refresh_token)

        clock.advance(SECOND)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_a_late_tab_gets_the_token_that_is_good_now_when_the_others_went_on_meanwhile(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        second = (await world.refresh(ada.refresh_token)).json["refresh_token"]
        third = (await world.refresh(second)).json["refresh_token"]
        clock.advance(GRACE)

        late = await world.refresh(ada.refresh_token)

        assert (late.status, late.json["refresh_token"]) == (200, third)
        assert (await world.refresh(third)).status == 200


class TestBetrayal:
    """A token that is used again later was copied, and the session ends (pitfall 10)."""

    async def test_a_used_token_after_half_a_minute_ends_the_session(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        successor = (await world.refresh(ada.refresh_token)).json
        clock.advance(GRACE + SECOND)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        # Whoever has the successor, and be it the person, is out as well.
        assert_refused(await world.refresh(successor["refresh_token"]), 401, "UNAUTHORIZED")
        for access_token in (ada.access_token, successor["access_token"]):
            answer = await world.client.get("/api/user/sessions", token=access_token)
            assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_any_ancestor_does(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(minutes=15))
            token = (await world.refresh(token)).json["refresh_token"]

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        assert_refused(await world.refresh(token), 401, "UNAUTHORIZED")

    async def test_it_is_an_event_with_its_reason_and_in_the_security_log(
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

    async def test_it_is_told_once(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        answers = await at_once(*[partial(world.refresh, ada.refresh_token)] * 5)

        assert [answer.status for answer in answers] == [401] * 5
        assert len(world.events("session.revoked")) == 1

    async def test_other_sessions_of_the_person_go_on(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        other = await world.sign_in()
        await world.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        await world.refresh(ada.refresh_token)

        assert (await world.refresh(other.refresh_token)).status == 200


class TestInvention:
    """Nobody can end or enter a session by inventing tokens for it."""

    async def test_an_invented_token_for_a_known_session_harms_nothing(self, world: World, ada: Tokens) -> None:
        raw = bytearray(base64.urlsafe_b64decode(ada.refresh_token))
        inventions = [base64.urlsafe_b64encode(raw[:16] + bytes(50)).decode()]
        for position in range(0, len(raw), 7):
            altered = raw.copy()
            altered[position] ^= 1
            inventions.append(base64.urlsafe_b64encode(altered).decode())

        for invention in inventions:
            assert_refused(await world.refresh(invention), 401, "UNAUTHORIZED")

        assert world.events("session.revoked") == []
        assert (await world.refresh(ada.refresh_token)).status == 200

    @pytest.mark.parametrize("spelling", ["{0}=", " {0}", "{0}\n", "{0}{0}", "", "no token", "ä" * 88])
    async def test_other_spellings_of_a_good_token_are_none(self, world: World, ada: Tokens, spelling: str) -> None:
        assert_refused(await world.refresh(spelling.format(ada.refresh_token)), 401, "UNAUTHORIZED")

        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_the_signs_of_another_base64_are_not_taken(self, world: World) -> None:
        world.user()
        token = "-"
        while not {"-", "_"} & set(token[1:]):
            token = (await world.sign_in()).refresh_token

        answer = await world.refresh(token.replace("-", "+").replace("_", "/"))

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert world.events("session.revoked") == []

    async def test_an_access_token_is_no_refresh_token(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.refresh(ada.access_token), 401, "UNAUTHORIZED")


class TestEnd:
    """A session ends, and its refresh token with it."""

    async def test_after_thirty_days_without_use(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        clock.advance(IDLE_LIFETIME)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_not_a_second_before(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        clock.advance(IDLE_LIFETIME - SECOND)

        assert (await world.refresh(ada.refresh_token)).status == 200

    async def test_after_ninety_days_however_much_it_is_used(
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

    async def test_by_signing_out(self, world: World, ada: Tokens) -> None:
        await world.client.post("/api/auth/logout", token=ada.access_token)

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")
        assert world.events("session.revoked") == []

    async def test_when_the_account_is_deactivated(self, world: World, ada: Tokens) -> None:
        world.rows("UPDATE users SET deactivated_at = now() RETURNING id")

        assert_refused(await world.refresh(ada.refresh_token), 401, "UNAUTHORIZED")


class TestRights:
    """A refresh looks anew at what somebody may do (decisions 2.4)."""

    @pytest.fixture
    async def member(self, world: World) -> Tokens:
        """A member who is signed in to the organization."""
        world.member(world.organization(), world.user(), "admin")
        return await world.sign_in(org_slug="acme")

    async def test_another_role_is_in_the_next_token(self, world: World, member: Tokens) -> None:
        world.rows("UPDATE memberships SET role = 'member' RETURNING id")

        answer = await world.refresh(member.refresh_token)

        assert (member.claims["role"], claims_of(answer.json["access_token"])["role"]) == ("admin", "member")

    async def test_a_demoted_platform_owner_is_none_in_the_next_token(self, world: World) -> None:
        world.user(is_platform_owner=True)
        tokens = await world.sign_in()
        world.rows("UPDATE users SET is_platform_owner = false RETURNING id")

        answer = await world.refresh(tokens.refresh_token)

        assert tokens.claims["is_platform_owner"] is True
        assert "is_platform_owner" not in claims_of(answer.json["access_token"])

    async def test_whoever_is_no_longer_a_member_does_not_go_on(self, world: World, member: Tokens) -> None:
        world.rows("DELETE FROM memberships RETURNING id")

        answer = await world.refresh(member.refresh_token)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"] == "You no longer belong to the organization of this session. Sign in again."

    async def test_whoever_is_no_longer_an_end_user_does_not_go_on(self, world: World) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")
        world.rows("DELETE FROM service_users RETURNING user_id")

        assert_refused(await world.refresh(tokens.refresh_token), 401, "UNAUTHORIZED")

    async def test_an_end_user_goes_on_with_a_token_for_the_service(self, world: World) -> None:
        world.user()
        client_id = world.service(world.organization()).client_id
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.refresh(tokens.refresh_token)

        assert claims_of(answer.json["access_token"])["aud"] == str(client_id)

    async def test_while_the_organization_is_suspended_nobody_goes_on_and_afterwards_everybody_does(
        self, world: World, member: Tokens, clock: SettableClock
    ) -> None:
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")
        assert_refused(await world.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")
        clock.advance(timedelta(days=1))
        assert_refused(await world.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")

        world.rows("UPDATE organizations SET status = 'active' RETURNING id")

        assert (await world.refresh(member.refresh_token)).status == 200

    async def test_what_concerns_the_person_alone_goes_on_without_the_organization(self, world: World) -> None:
        world.member(world.organization(), world.user())
        tokens = await world.sign_in()
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")

        assert (await world.refresh(tokens.refresh_token)).status == 200


@pytest.mark.parametrize("body", [{}, {"refresh_token": None}, {"refresh_token": 5}])
async def test_a_body_without_the_token_is_refused_by_name(world: World, body: dict[str, object]) -> None:
    answer = await world.client.post("/api/auth/refresh", body=body)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [detail["field"] for detail in answer.json["details"]] == ["refresh_token"]
