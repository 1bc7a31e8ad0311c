"""Going on with a session by its refresh token (decisions 2.4)."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import trio

from core.sessions.refresh import GRACE
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from tests.sign_ins import EMAIL, Door, Entered, assert_refused, claims_of, door
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.clock import SettableClock

__all__ = ["door"]

SECOND = timedelta(seconds=1)
ROUNDS = 50


@pytest.fixture
async def ada(door: Door) -> Entered:
    """Somebody who is signed in."""
    door.account()
    return await door.enter()


async def at_once(door: Door, *refresh_tokens: str) -> list[Answer]:
    """Send these tokens at once."""
    answers: list[Answer] = []

    async def send(refresh_token: str) -> None:
        answers.append(await door.refresh(refresh_token))

    async with trio.open_nursery() as nursery:
        for refresh_token in refresh_tokens:
            nursery.start_soon(send, refresh_token)
    return answers


class TestExchange:
    """A refresh token is exchanged for the next one."""

    async def test_it_answers_a_fresh_access_token_and_the_next_refresh_token(self, door: Door, ada: Entered) -> None:
        answer = await door.refresh(ada.refresh_token)

        assert answer.status == 200
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type"}
        assert (answer.json["expires_in"], answer.json["token_type"]) == (900, "Bearer")
        assert answer.json["refresh_token"] != ada.refresh_token
        assert answer.headers["Cache-Control"] == "no-store"

    async def test_the_access_token_is_of_the_same_session(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        clock.advance(timedelta(hours=1))

        answer = await door.refresh(ada.refresh_token)

        before, after = ada.claims, claims_of(answer.json["access_token"])
        for name in ("sid", "sub", "amr", "auth_time", "email", "aud", "iss"):
            assert after[name] == before[name]
        assert after["jti"] != before["jti"]
        assert after["iat"] == before["iat"] + 3600
        assert (await door.client.get("/api/user/sessions", token=answer.json["access_token"])).status == 200

    async def test_it_goes_on_as_long_as_it_is_used(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(days=15))
            answer = await door.refresh(token)
            assert answer.status == 200
            token = answer.json["refresh_token"]

    async def test_it_is_two_statements(self, door: Door, ada: Entered) -> None:
        with recorded_statements() as statements:
            await door.refresh(ada.refresh_token)

        assert [statement.split()[0] for statement in statements] == ["SELECT", "UPDATE"]

    async def test_only_the_hash_of_the_newest_is_stored(self, door: Door, ada: Entered) -> None:
        newest = (await door.refresh(ada.refresh_token)).json["refresh_token"]

        assert door.value("SELECT refresh_hash = sha256(%s) FROM sessions", newest.encode())
        stored = door.value("SELECT sessions::text FROM sessions")
        for token in (ada.refresh_token, newest):
            assert token not in stored
            assert base64.urlsafe_b64decode(token)[16:48].hex() not in stored


class TestGrace:
    """Repeating is forgiven for half a minute: two tabs, or an answer that got lost."""

    async def test_of_two_uses_at_once_both_get_the_same_successor(self, door: Door, ada: Entered) -> None:
        token = ada.refresh_token
        for _ in range(ROUNDS):
            answers = await at_once(door, token, token)

            assert [answer.status for answer in answers] == [200, 200]
            [token] = {answer.json["refresh_token"] for answer in answers}

        assert door.events("session.revoked") == []

    async def test_a_repetition_gets_the_same_successor_until_the_half_minute_is_over(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        successor = (await door.refresh(ada.refresh_token)).json["refresh_token"]
        clock.advance(GRACE)

        again = await door.refresh(ada.refresh_token)

        assert (again.status, again.json["refresh_token"]) == (200, successor)

    async def test_a_repetition_does_not_make_the_half_minute_longer(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        await door.refresh(ada.refresh_token)
        clock.advance(GRACE)
        await door.refresh(ada.refresh_token)

        clock.advance(SECOND)

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_a_late_tab_gets_the_token_that_is_good_now_when_the_others_went_on_meanwhile(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        second = (await door.refresh(ada.refresh_token)).json["refresh_token"]
        third = (await door.refresh(second)).json["refresh_token"]
        clock.advance(GRACE)

        late = await door.refresh(ada.refresh_token)

        assert (late.status, late.json["refresh_token"]) == (200, third)
        assert (await door.refresh(third)).status == 200


class TestBetrayal:
    """A token that is used again later was copied, and the session ends (pitfall 10)."""

    async def test_a_used_token_after_half_a_minute_ends_the_session(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        successor = (await door.refresh(ada.refresh_token)).json
        clock.advance(GRACE + SECOND)

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        # Whoever has the successor, and be it the person, is out as well.
        assert_refused(await door.refresh(successor["refresh_token"]), 401, "UNAUTHORIZED")
        for access_token in (ada.access_token, successor["access_token"]):
            answer = await door.client.get("/api/user/sessions", token=access_token)
            assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_any_ancestor_does(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        token = ada.refresh_token
        for _ in range(5):
            clock.advance(timedelta(minutes=15))
            token = (await door.refresh(token)).json["refresh_token"]

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

        assert_refused(await door.refresh(token), 401, "UNAUTHORIZED")

    async def test_it_is_an_event_with_its_reason_and_in_the_security_log(
        self, door: Door, clock: SettableClock
    ) -> None:
        user_id = door.account()
        organization_id = door.organization()
        door.member(organization_id, user_id)
        entered = await door.enter()
        await door.refresh(entered.refresh_token)
        clock.advance(GRACE + SECOND)

        await door.refresh(entered.refresh_token)

        assert door.events("session.revoked") == [
            (organization_id, EMAIL, {"sessions": 1, "reason": "refresh_token_reused"})
        ]
        assert door.rows("SELECT user_id, event_type, success, details FROM mfa_events") == [
            (user_id, "refresh_token_reused", False, {"session_id": str(entered.session_id)})
        ]

    async def test_it_is_told_once(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        await door.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        answers = await at_once(door, *[ada.refresh_token] * 5)

        assert [answer.status for answer in answers] == [401] * 5
        assert len(door.events("session.revoked")) == 1

    async def test_other_sessions_of_the_person_go_on(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        other = await door.enter()
        await door.refresh(ada.refresh_token)
        clock.advance(GRACE + SECOND)

        await door.refresh(ada.refresh_token)

        assert (await door.refresh(other.refresh_token)).status == 200


class TestInvention:
    """Nobody can end or enter a session by inventing tokens for it."""

    async def test_an_invented_token_for_a_known_session_harms_nothing(self, door: Door, ada: Entered) -> None:
        raw = bytearray(base64.urlsafe_b64decode(ada.refresh_token))
        inventions = [base64.urlsafe_b64encode(raw[:16] + bytes(50)).decode()]
        for position in range(0, len(raw), 7):
            altered = raw.copy()
            altered[position] ^= 1
            inventions.append(base64.urlsafe_b64encode(altered).decode())

        for invention in inventions:
            assert_refused(await door.refresh(invention), 401, "UNAUTHORIZED")

        assert door.events("session.revoked") == []
        assert (await door.refresh(ada.refresh_token)).status == 200

    @pytest.mark.parametrize("spelling", ["{0}=", " {0}", "{0}\n", "{0}{0}", "", "no token", "ä" * 88])
    async def test_other_spellings_of_a_good_token_are_none(self, door: Door, ada: Entered, spelling: str) -> None:
        assert_refused(await door.refresh(spelling.format(ada.refresh_token)), 401, "UNAUTHORIZED")

        assert (await door.refresh(ada.refresh_token)).status == 200

    async def test_the_signs_of_another_base64_are_not_taken(self, door: Door) -> None:
        door.account()
        token = "-"
        while not {"-", "_"} & set(token[1:]):
            token = (await door.enter()).refresh_token

        answer = await door.refresh(token.replace("-", "+").replace("_", "/"))

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert door.events("session.revoked") == []

    async def test_an_access_token_is_no_refresh_token(self, door: Door, ada: Entered) -> None:
        assert_refused(await door.refresh(ada.access_token), 401, "UNAUTHORIZED")


class TestEnd:
    """A session ends, and its refresh token with it."""

    async def test_after_thirty_days_without_use(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        clock.advance(IDLE_LIFETIME)

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")

    async def test_not_a_second_before(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        clock.advance(IDLE_LIFETIME - SECOND)

        assert (await door.refresh(ada.refresh_token)).status == 200

    async def test_after_ninety_days_however_much_it_is_used(
        self, door: Door, ada: Entered, clock: SettableClock
    ) -> None:
        token, began_at = ada.refresh_token, clock.now
        while (clock.now - began_at) < ABSOLUTE_LIFETIME - timedelta(days=15):
            clock.advance(timedelta(days=15))
            token = (await door.refresh(token)).json["refresh_token"]
        clock.advance(timedelta(days=15) - timedelta(minutes=5))
        answer = await door.refresh(token)
        assert answer.status == 200

        # The last access token ends with the session.
        assert answer.json["expires_in"] == 300
        clock.advance(timedelta(minutes=5))
        assert_refused(await door.refresh(answer.json["refresh_token"]), 401, "UNAUTHORIZED")

    async def test_by_signing_out(self, door: Door, ada: Entered) -> None:
        await door.client.post("/api/auth/logout", token=ada.access_token)

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")
        assert door.events("session.revoked") == []

    async def test_when_the_account_is_deactivated(self, door: Door, ada: Entered) -> None:
        door.rows("UPDATE users SET deactivated_at = now() RETURNING id")

        assert_refused(await door.refresh(ada.refresh_token), 401, "UNAUTHORIZED")


class TestRights:
    """A refresh looks anew at what somebody may do (decisions 2.4)."""

    @pytest.fixture
    async def member(self, door: Door) -> Entered:
        """A member who is signed in to the organization."""
        door.member(door.organization(), door.account(), "admin")
        return await door.enter(org_slug="acme")

    async def test_another_role_is_in_the_next_token(self, door: Door, member: Entered) -> None:
        door.rows("UPDATE memberships SET role = 'member' RETURNING id")

        answer = await door.refresh(member.refresh_token)

        assert (member.claims["role"], claims_of(answer.json["access_token"])["role"]) == ("admin", "member")

    async def test_a_demoted_platform_owner_is_none_in_the_next_token(self, door: Door) -> None:
        door.account(is_platform_owner=True)
        entered = await door.enter()
        door.rows("UPDATE users SET is_platform_owner = false RETURNING id")

        answer = await door.refresh(entered.refresh_token)

        assert entered.claims["is_platform_owner"] is True
        assert "is_platform_owner" not in claims_of(answer.json["access_token"])

    async def test_whoever_is_no_longer_a_member_does_not_go_on(self, door: Door, member: Entered) -> None:
        door.rows("DELETE FROM memberships RETURNING id")

        answer = await door.refresh(member.refresh_token)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"] == "You no longer belong to the organization of this session. Sign in again."

    async def test_whoever_is_no_longer_an_end_user_does_not_go_on(self, door: Door) -> None:
        door.account()
        door.service(door.organization())
        entered = await door.enter(org_slug="acme", service_slug="shop")
        door.rows("DELETE FROM service_users RETURNING user_id")

        assert_refused(await door.refresh(entered.refresh_token), 401, "UNAUTHORIZED")

    async def test_an_end_user_goes_on_with_a_token_for_the_service(self, door: Door) -> None:
        door.account()
        client_id = door.service(door.organization())
        entered = await door.enter(org_slug="acme", service_slug="shop")

        answer = await door.refresh(entered.refresh_token)

        assert claims_of(answer.json["access_token"])["aud"] == str(client_id)

    async def test_while_the_organization_is_suspended_nobody_goes_on_and_afterwards_everybody_does(
        self, door: Door, member: Entered, clock: SettableClock
    ) -> None:
        door.rows("UPDATE organizations SET status = 'suspended' RETURNING id")
        assert_refused(await door.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")
        clock.advance(timedelta(days=1))
        assert_refused(await door.refresh(member.refresh_token), 403, "ORGANIZATION_NOT_ACTIVE")

        door.rows("UPDATE organizations SET status = 'active' RETURNING id")

        assert (await door.refresh(member.refresh_token)).status == 200

    async def test_what_concerns_the_person_alone_goes_on_without_the_organization(self, door: Door) -> None:
        door.member(door.organization(), door.account())
        entered = await door.enter()
        door.rows("UPDATE organizations SET status = 'suspended' RETURNING id")

        assert (await door.refresh(entered.refresh_token)).status == 200


@pytest.mark.parametrize("body", [{}, {"refresh_token": None}, {"refresh_token": 5}])
async def test_a_body_without_the_token_is_refused_by_name(door: Door, body: dict[str, object]) -> None:
    answer = await door.client.post("/api/auth/refresh", body=body)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [detail["field"] for detail in answer.json["details"]] == ["refresh_token"]
