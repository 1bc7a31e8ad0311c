"""An impersonation ends with the platform owner's session that began it, however that session ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest

from adapters.postgres.database import PostgresDatabase
from core.platform import impersonation
from core.platform.impersonation import ImpersonationTarget
from core.sessions.origins import BACKGROUND
from core.sessions.refresh import SessionOver
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.world import World

ROUNDS = 10


async def log_out(platform: Platform, _clock: SettableClock) -> None:
    assert (await platform.request("POST", "/api/auth/logout")).status == 200


async def end_by_list(platform: Platform, _clock: SettableClock) -> None:
    other = await platform.world.sign_in(PLATFORM_OWNER)
    path = f"/api/user/sessions/{platform.owner.session_id}"
    assert (await platform.request("DELETE", path, by=other)).status == 204


async def end_from_elsewhere(platform: Platform, _clock: SettableClock) -> None:
    other = await platform.world.sign_in(PLATFORM_OWNER)
    assert (await platform.request("DELETE", "/api/user/sessions", by=other)).status == 204


async def reuse_refresh_token(platform: Platform, clock: SettableClock) -> None:
    assert (await platform.world.refresh(platform.owner.refresh_token)).status == 200
    clock.advance(timedelta(minutes=1))
    assert (await platform.world.refresh(platform.owner.refresh_token)).status == 401


@pytest.mark.parametrize("end", [log_out, end_by_list, end_from_elsewhere, reuse_refresh_token])
async def test_it_ends_with_the_session_that_began_it(
    platform: Platform, world: World, clock: SettableClock, end: Callable[[Platform, SettableClock], Awaitable[None]]
) -> None:
    acting = await platform.impersonate(world.user())

    await end(platform, clock)

    assert (await world.list_sessions(acting)).status == 401
    assert (await world.refresh(acting.refresh_token)).status == 401


async def test_the_user_no_longer_sees_it_among_their_sessions(platform: Platform, world: World) -> None:
    user_id = world.user()
    ada = await world.sign_in()
    await platform.impersonate(user_id)

    await platform.request("POST", "/api/auth/logout")

    assert len((await world.list_sessions(ada)).json["sessions"]) == 1


async def test_signing_out_elsewhere_does_not_end_it(platform: Platform, world: World) -> None:
    acting = await platform.impersonate(world.user())
    other = await world.sign_in(PLATFORM_OWNER)

    await platform.request("POST", "/api/auth/logout", by=other)

    assert (await world.list_sessions(acting)).status == 200


async def test_none_begins_beside_a_sign_out_that_it_survives(platform: Platform, world: World) -> None:
    for number in range(ROUNDS):
        user_id = world.user(f"ada+{number}@example.com")
        owner = await world.sign_in(PLATFORM_OWNER)
        path = f"/api/platform/impersonate/{user_id}"
        await at_once(
            partial(platform.request, "POST", path, {"reason": "a question"}, by=owner),
            partial(platform.request, "POST", "/api/auth/logout", by=owner),
        )

        assert world.rows("SELECT FROM sessions WHERE user_id = %s AND revoked_at IS NULL", user_id) == []


async def test_none_begins_in_a_session_that_ends_during_the_request(
    platform: Platform, world: World, database: PostgresDatabase
) -> None:
    user_id = world.user()

    def start_late(uow: UnitOfWork) -> None:
        assert uow.caller.account.is_platform_owner
        world.connection.execute("UPDATE sessions SET revoked_at = now()")
        impersonation.start(uow, user_id, ImpersonationTarget(reason="a question"))

    with pytest.raises(SessionOver):
        await database.on_behalf_of(BACKGROUND, platform.owner.session_id).transact(start_late)
