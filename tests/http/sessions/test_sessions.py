"""Listing and ending sessions, and changes that take effect with the next request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from core.sessions import sessions
from core.sessions.origins import BACKGROUND
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from entrypoints.installation import Installation
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

SECOND = timedelta(seconds=1)


@pytest.fixture
async def ada(world: World) -> Tokens:
    """A signed-in user."""
    world.user()
    return await world.sign_in(headers={"User-Agent": "curl/8.5.0"})


class TestList:
    """The list of the caller's live sessions."""

    async def test_a_session_is_listed_with_its_origin_and_its_expiry(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        answer = await world.list_sessions(ada)

        assert answer.status == 200
        [session] = answer.json["sessions"]
        assert session == {
            "id": str(ada.session_id),
            "provider": "password",
            "ip_address": "10.0.0.1",
            "user_agent": "curl/8.5.0",
            "device_id": str(world.value("SELECT id FROM devices")),
            "created_at": formatted(clock),
            "last_used_at": formatted(clock),
            "expires_at": formatted(clock, IDLE_LIFETIME),
            "is_current": True,
        }
        assert answer.json["total"] == 1

    async def test_the_session_used_last_comes_first_and_the_current_one_is_marked(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(SECOND)
        second = await world.sign_in()
        clock.advance(SECOND)
        await world.refresh(ada.refresh_token)

        sessions = (await world.list_sessions(second)).json["sessions"]

        assert [session["id"] for session in sessions] == [str(ada.session_id), str(second.session_id)]
        assert [session["is_current"] for session in sessions] == [False, True]

    async def test_the_listed_expiry_is_at_most_the_absolute_end(self, world: World, clock: SettableClock) -> None:
        world.user()
        began_at = clock.now
        tokens = {"refresh_token": (await world.sign_in()).refresh_token}
        for _ in range(4):
            clock.advance(timedelta(days=20))
            tokens = (await world.refresh(tokens["refresh_token"])).json

        listed = await world.client.get("/api/user/sessions", token=tokens["access_token"])

        [session] = listed.json["sessions"]
        assert session["expires_at"] == (began_at + ABSOLUTE_LIFETIME).isoformat().replace("+00:00", "Z")

    async def test_ended_sessions_and_those_of_other_users_are_not_listed(
        self, world: World, clock: SettableClock
    ) -> None:
        world.user()
        world.user("bob@example.com")
        await world.sign_in()
        clock.advance(IDLE_LIFETIME)
        await world.sign_in("bob@example.com")
        gone = await world.sign_in()
        await world.client.post("/api/auth/logout", token=gone.access_token)
        present = await world.sign_in()

        answer = await world.list_sessions(present)

        assert [session["id"] for session in answer.json["sessions"]] == [str(present.session_id)]

    async def test_the_list_is_one_transaction_of_two_statements(
        self, world: World, ada: Tokens, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        transactions = recorded_transactions(monkeypatch)

        with recorded_statements() as statements:
            await world.list_sessions(ada)

        assert len(transactions) == 1
        assert [statement.partition("FROM sessions")[1] for statement in statements] == ["FROM sessions"] * 2

    async def test_no_hash_is_shown(self, world: World, ada: Tokens) -> None:
        assert not shows((await world.list_sessions(ada)).text, "hash")


class TestEnd:
    """Ending the caller's sessions."""

    async def test_an_ended_session_is_refused_from_the_next_request_on(self, world: World, ada: Tokens) -> None:
        other = await world.sign_in()

        answer = await world.client.delete(f"/api/user/sessions/{other.session_id}", token=ada.access_token)

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await world.list_sessions(other), 401, "UNAUTHORIZED")
        assert_refused(await world.refresh(other.refresh_token), 401, "UNAUTHORIZED")
        assert (await world.list_sessions(ada)).status == 200

    async def test_the_caller_can_end_the_current_session(self, world: World, ada: Tokens) -> None:
        answer = await world.client.delete(f"/api/user/sessions/{ada.session_id}", token=ada.access_token)

        assert answer.status == 204
        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_the_session_of_another_user_is_not_found_and_continues(self, world: World, ada: Tokens) -> None:
        world.user("bob@example.com")
        bob = await world.sign_in("bob@example.com")

        answer = await world.client.delete(f"/api/user/sessions/{bob.session_id}", token=ada.access_token)

        assert_refused(answer, 404, "NOT_FOUND")
        assert (await world.list_sessions(bob)).status == 200

    @pytest.mark.parametrize("named", ["0191d3c1-0000-7000-8000-00000000000f", "no-id"])
    async def test_an_unknown_session_is_not_found(self, world: World, ada: Tokens, named: str) -> None:
        answer = await world.client.delete(f"/api/user/sessions/{named}", token=ada.access_token)

        assert_refused(answer, 404, "NOT_FOUND")

    @pytest.mark.parametrize("over", ["ended", "idle"])
    async def test_an_ended_session_is_not_found(
        self, world: World, ada: Tokens, clock: SettableClock, over: str
    ) -> None:
        present = ada
        if over == "ended":
            other = await world.sign_in()
            await world.client.post("/api/auth/logout", token=other.access_token)
        else:
            other = ada
            clock.advance(IDLE_LIFETIME)
            present = await world.sign_in()

        answer = await world.client.delete(f"/api/user/sessions/{other.session_id}", token=present.access_token)

        assert_refused(answer, 404, "NOT_FOUND")
        assert world.events("session.revoked") == []

    async def test_all_other_sessions_end_and_the_current_one_continues(self, world: World, ada: Tokens) -> None:
        others = [await world.sign_in() for _ in range(3)]

        answer = await world.client.delete("/api/user/sessions", token=ada.access_token)

        assert answer.status == 204
        assert [(await world.list_sessions(other)).status for other in others] == [401, 401, 401]
        assert (await world.list_sessions(ada)).status == 200

    async def test_without_other_sessions_nothing_is_revoked(self, world: World, ada: Tokens) -> None:
        answer = await world.client.delete("/api/user/sessions", token=ada.access_token)

        assert answer.status == 204
        assert world.events("session.revoked") == []

    async def test_each_organization_receives_the_number_of_its_own_ended_sessions(self, world: World) -> None:
        user_id = world.user()
        acme, bolt, shop_owner = (world.organization(slug) for slug in ("acme", "bolt", "market"))
        for organization_id in (acme, bolt):
            world.member(organization_id, user_id)
        world.service(shop_owner)
        present = await world.sign_in()
        for _ in range(2):
            await world.sign_in(org_slug="acme")
        await world.sign_in(org_slug="market", service_slug="shop")

        await world.client.delete("/api/user/sessions", token=present.access_token)

        events = world.events("session.revoked")
        assert {organization_id: data for organization_id, _, data in events} == {
            acme: {"sessions": 2},
            shop_owner: {"sessions": 1},
        }
        assert {email for _, email, _ in events} == {EMAIL}

    async def test_of_two_concurrent_requests_to_end_a_session_one_succeeds(self, world: World, ada: Tokens) -> None:
        other = await world.sign_in()

        async def end() -> Answer:
            path = f"/api/user/sessions/{other.session_id}"
            return await world.client.delete(path, token=ada.access_token)

        answers = await at_once(end, end)

        assert statuses_of(answers) == [204, 404]
        assert len(world.events("session.revoked")) == 1


class TestLogout:
    """Signing out."""

    async def test_signing_out_ends_the_session(self, world: World, ada: Tokens) -> None:
        answer = await world.client.post("/api/auth/logout", token=ada.access_token)

        assert (answer.status, answer.json) == (200, {"message": "You are signed out."})
        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_the_organization_of_the_session_receives_the_event(self, world: World) -> None:
        user_id, organization_id = world.user(), world.organization()
        world.member(organization_id, user_id)
        world.member(world.organization("bolt"), user_id)
        tokens = await world.sign_in(org_slug="acme")

        await world.client.post("/api/auth/logout", token=tokens.access_token)

        assert world.events("user.logout") == [(organization_id, EMAIL, {})]
        assert world.events("session.revoked") == []

    async def test_two_concurrent_sign_outs_are_published_once(self, world: World, ada: Tokens) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(lambda: world.client.post("/api/auth/logout", token=ada.access_token))

        assert len(world.events("user.logout")) == 1

    async def test_a_session_that_has_ended_meanwhile_publishes_no_sign_out(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        def log_out_late(uow: UnitOfWork) -> None:
            uow.sessions.revoke(uow.caller.session.id, user_id=uow.caller.account.id)
            sessions.log_out(uow)

        await installation.database.on_behalf_of(BACKGROUND, ada.session_id).transact(log_out_late)

        assert world.events("user.logout") == []

    async def test_signing_out_works_without_membership_in_a_suspended_organization(self, world: World) -> None:
        world.member(world.organization(), world.user())
        tokens = await world.sign_in(org_slug="acme")
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")
        world.rows("DELETE FROM memberships RETURNING id")

        assert (await world.client.post("/api/auth/logout", token=tokens.access_token)).status == 200


class TestNextRequest:
    """The caller's state is read again with every request, whatever the token says."""

    async def test_a_session_ends_after_thirty_days_without_a_refresh(
        self, world: World, ada: Tokens, installation: Installation, clock: SettableClock
    ) -> None:
        clock.advance(IDLE_LIFETIME - timedelta(minutes=5))
        token = (await world.refresh(ada.refresh_token)).json["access_token"]
        world.rows("UPDATE sessions SET refreshed_at = refreshed_at - %s RETURNING id", IDLE_LIFETIME)

        answer = await world.client.get("/api/user/sessions", token=token)

        assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_a_session_ends_ninety_days_after_the_sign_in(self, world: World, ada: Tokens) -> None:
        world.rows("UPDATE sessions SET expires_at = created_at RETURNING id")

        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_a_deactivated_user_is_refused(self, world: World, ada: Tokens) -> None:
        world.rows("UPDATE users SET deactivated_at = now() RETURNING id")

        answer = await world.list_sessions(ada)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert answer.json["error"] == "This session is over. Sign in again."

    async def test_a_deleted_user_is_refused(self, world: World, ada: Tokens) -> None:
        world.rows("DELETE FROM users RETURNING id")

        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_an_impersonator_who_is_no_longer_a_platform_owner_is_refused(
        self, world: World, ada: Tokens
    ) -> None:
        owner = world.user("owner@example.com", is_platform_owner=True)
        world.rows("UPDATE sessions SET impersonator_id = %s RETURNING id", owner)
        assert (await world.list_sessions(ada)).status == 200

        world.rows("UPDATE users SET is_platform_owner = false WHERE id = %s RETURNING id", owner)

        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_a_deactivated_impersonator_is_refused(self, world: World, ada: Tokens) -> None:
        owner = world.user("owner@example.com", is_platform_owner=True, is_active=False)
        world.rows("UPDATE sessions SET impersonator_id = %s RETURNING id", owner)

        assert_refused(await world.list_sessions(ada), 401, "UNAUTHORIZED")

    async def test_a_removed_membership_and_a_lost_platform_role_take_effect_at_once(
        self, world: World, installation: Installation
    ) -> None:
        world.member(world.organization(), world.user(is_platform_owner=True), "admin")
        tokens = await world.sign_in(org_slug="acme")
        before = await caller_of(installation, tokens)

        world.rows("UPDATE users SET is_platform_owner = false RETURNING id")
        world.rows("DELETE FROM memberships RETURNING id")
        after = await caller_of(installation, tokens)

        assert (before.place.role, before.belongs_to_context, before.account.is_platform_owner) == ("admin", True, True)
        assert (after.place.role, after.belongs_to_context, after.account.is_platform_owner) == (None, False, False)
        assert claims_of(tokens.access_token)["is_platform_owner"] is True


def recorded_transactions(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list to which every transaction from now on is added."""
    transactions: list[object] = []
    run_with_retries: Any = PostgresDatabase._run_with_retries

    async def recorded(database: PostgresDatabase, run: Any, share: Any) -> Any:
        transactions.append(run)
        return await run_with_retries(database, run, share)

    monkeypatch.setattr(PostgresDatabase, "_run_with_retries", recorded)
    return transactions


async def caller_of(installation: Installation, tokens: Tokens) -> Any:
    """Load the caller of a session."""
    return await installation.database.read(lambda uow: uow.callers.of_session(tokens.session_id))


def formatted(clock: SettableClock, later: timedelta = timedelta()) -> str:
    """Return a moment in the format of the API."""
    return (clock.now + later).isoformat().replace("+00:00", "Z")
