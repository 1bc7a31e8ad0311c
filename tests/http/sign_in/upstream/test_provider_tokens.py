"""The access tokens of users at their providers."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial

import pytest
import trio
from structlog.testing import capture_logs

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.http.sign_in.upstream.test_identities import link
from tests.upstream_provider import StandIn
from tests.world.signing_in import SignedInUser
from tests.world.upstream import Upstream
from tests.world.world import World, assert_refused

PATH = "/api/provider-token/websuite"


@pytest.fixture
async def user(world: World, upstream: Upstream) -> SignedInUser:
    """A user who has linked an account of websuite, whose token lives for an hour."""
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user, "websuite")
    return user


def refreshes(stand_in: StandIn) -> int:
    """Return how many requests have refreshed a token."""
    return sum(request.form.get("grant_type") == "refresh_token" for request in stand_in.requests)


async def test_the_token_of_the_provider_is_shown(user: SignedInUser) -> None:
    answer = await user.get(PATH)

    assert answer.json == {
        "provider": "websuite",
        "access_token": "at-websuite-0",
        "token_type": "Bearer",
        "expires_at": "2026-02-03T05:05:06Z",
        "scopes": ["openid", "email", "profile"],
    }
    assert answer.headers["Cache-Control"] == "no-store"


async def test_a_token_that_does_not_expire_is_shown_without_an_end(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)

    answer = await user.get("/api/provider-token/codehost")

    assert (answer.json["expires_at"], answer.json["scopes"]) == (None, ["read:user", "user:email"])


async def test_a_token_that_is_about_to_expire_is_refreshed(
    user: SignedInUser, stand_in: StandIn, clock: SettableClock
) -> None:
    clock.advance(timedelta(minutes=59, seconds=30))
    user = await _again(user)

    answer = await user.get(PATH)

    assert answer.json["access_token"] == "at-websuite-1"
    assert (await user.get(PATH)).json == answer.json
    assert refreshes(stand_in) == 1


async def test_two_concurrent_requests_refresh_once(
    user: SignedInUser, stand_in: StandIn, clock: SettableClock
) -> None:
    clock.advance(timedelta(hours=1))
    user = await _again(user)
    stand_in.waiting["/websuite/token"] = threading.Event()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(_let_go_when_both_ask, stand_in))
        answers = await at_once(*[partial(user.get, PATH)] * 2)

    assert {answer.json["access_token"] for answer in answers} == {"at-websuite-1"}
    assert refreshes(stand_in) == 1


async def test_an_access_that_the_provider_has_ended_must_be_linked_again(
    user: SignedInUser, stand_in: StandIn, clock: SettableClock
) -> None:
    clock.advance(timedelta(hours=1))
    user = await _again(user)
    stand_in.refresh_tokens.clear()

    assert_refused(await user.get(PATH), 409, "REAUTH_REQUIRED")
    assert_refused(await user.get(PATH), 409, "REAUTH_REQUIRED")
    assert refreshes(stand_in) == 1


async def test_a_refresh_token_is_sent_by_no_other_client_than_it_was_issued_to(
    world: World, user: SignedInUser, stand_in: StandIn, clock: SettableClock
) -> None:
    clock.advance(timedelta(hours=1))
    user = await _again(user)
    world.connection.execute("UPDATE identities SET client_id = 'the client before'")

    assert_refused(await user.get(PATH), 409, "REAUTH_REQUIRED")
    assert refreshes(stand_in) == 0


async def test_a_provider_without_refresh_tokens_must_be_linked_again(
    world: World, upstream: Upstream, stand_in: StandIn, clock: SettableClock
) -> None:
    stand_in.issues_refresh_tokens = False
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user, "websuite")
    clock.advance(timedelta(hours=1))
    user = await _again(user)

    assert_refused(await user.get(PATH), 409, "REAUTH_REQUIRED")


async def test_a_provider_that_fails_keeps_the_refresh_token(
    user: SignedInUser, stand_in: StandIn, clock: SettableClock
) -> None:
    clock.advance(timedelta(hours=1))
    user = await _again(user)
    stand_in.wrong["/websuite/token"] = (503, "text/plain", b"busy")

    with capture_logs() as logs:
        assert_refused(await user.get(PATH), 500, "OAUTH_ERROR")
    exposition = (await user.client.get("/metrics")).text
    stand_in.wrong.clear()
    assert {line["log_level"] for line in logs} == {"info"}
    assert [line["is_external"] for line in logs if line["event"] == "request"] == [True]
    assert 'status="external"} 1.0' in exposition
    assert 'status="5xx"' not in exposition
    assert (await user.get(PATH)).status == 200


async def test_a_refresh_that_has_crashed_is_made_again(world: World, user: SignedInUser, clock: SettableClock) -> None:
    clock.advance(timedelta(hours=1))
    user = await _again(user)
    world.connection.execute(
        "UPDATE identities SET refresh_claim = id, refresh_claimed_until = %s", (clock() - timedelta(seconds=1),)
    )

    assert (await user.get(PATH)).status == 200


async def test_what_is_not_linked_has_no_token(user: SignedInUser) -> None:
    assert_refused(await user.get("/api/provider-token/codehost"), 404, "NOT_FOUND")
    assert_refused(await user.get("/api/provider-token/unknown"), 404, "NOT_FOUND")


async def test_tokens_are_stored_encrypted(world: World, user: SignedInUser) -> None:
    token = (await user.get(PATH)).json["access_token"]

    [(access, refresh)] = world.rows("SELECT access_token_sealed, refresh_token_sealed FROM identities")

    assert token.encode() not in bytes(access)
    assert b"rt-websuite" not in bytes(refresh)


async def _again(user: SignedInUser) -> SignedInUser:
    """Return the user with a token that is valid now."""
    answer = await user.client.post("/api/auth/refresh", body={"refresh_token": user.refresh_token})
    tokens = type(user.tokens)(answer.json["access_token"], answer.json["refresh_token"], user.tokens.device_token)
    return type(user)(user.client, user.id, user.email, tokens)


async def _let_go_when_both_ask(stand_in: StandIn) -> None:
    # The other request has found the claim when it sleeps; more than one request at the provider would be counted.
    for _ in range(20):
        await trio.testing.wait_all_tasks_blocked(0.01)
    stand_in.waiting["/websuite/token"].set()
