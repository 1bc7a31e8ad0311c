"""Every end of a session of a service posts a logout token to the service, on the schedule of webhooks."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
import trio

from actors.dispatching import Capacity
from actors.logout_dispatcher import LogoutDispatcher
from adapters.gateways.attempts import HttpLogoutSender
from adapters.gateways.outbound import outbound_client
from core.attempts import ATTEMPTS_MAX, JITTER, POSTPONEMENT, RETRY_DELAYS
from core.openid import logout
from core.openid.logout import EVENT, LogoutNotice
from ports.mailboxes import Drain
from tests.mailboxes import RecordedMailboxes
from tests.receiver import Receiver, open_receiver
from tests.waiting import eventually
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.world import World

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
BACK = "https://shop.example/back"


@asynccontextmanager
async def dispatching(world: World, *, allowed: Any = LOOPBACK) -> AsyncGenerator[LogoutDispatcher]:
    """Return a dispatcher that sends over HTTP."""
    installation = world.installation
    async with outbound_client(allowed) as client:
        yield LogoutDispatcher(
            sender=HttpLogoutSender(client, version="1"),
            tokens=installation.tokens,
            database=installation.database,
            mailboxes=RecordedMailboxes(),
            metrics=installation.metrics,
            clock=installation.clock,
        )


async def dispatch(dispatcher: LogoutDispatcher, world: World) -> None:
    """Send everything that is due, and return when it is recorded."""
    database = world.installation.database
    leased = await database.transact(dispatcher.lease, Capacity(targets_max=10, items_max=10))
    for service in leased:
        await dispatcher.serve(service)


async def due(world: World) -> list[LogoutNotice]:
    """Return the notices that are due now, and leave them so."""
    database = world.installation.database
    leased = await database.transact(logout.lease_service, 10, 10)
    for service in leased:
        await database.transact(logout.release_service, service)
    return [notice for service in leased for notice in service.notices]


async def is_empty(world: World) -> bool:
    """Return whether every notice was sent."""
    return world.value("SELECT count(*) FROM logout_notices") == 0


def token_of(receiver: Receiver) -> str:
    """Return the logout token of the last request."""
    [token] = parse_qs(receiver.received[-1].body.decode())["logout_token"]
    return token


async def test_a_service_hears_that_a_session_has_ended(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher:
        shop.set(backchannel_logout_uri=receiver.url)
        tokens = await shop.tokens()
        await shop.post("/auth/revoke", {"token": tokens["refresh_token"]})

        await dispatch(dispatcher, world)
        await dispatch(dispatcher, world)

        [received] = receiver.received
        assert received.headers["content-type"] == "application/x-www-form-urlencoded"
        claims, access = claims_of(token_of(receiver)), claims_of(tokens["access_token"])
        assert jwt.get_unverified_header(token_of(receiver))["typ"] == "logout+jwt"
        assert (claims["sub"], claims["sid"], claims["aud"]) == (access["sub"], access["sid"], str(shop.client_id))
        assert claims["events"] == {EVENT: {}}
        assert claims["exp"] - claims["iat"] == 120
        assert "nonce" not in claims


async def test_a_logout_token_names_the_host_under_which_the_sign_in_began(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher:
        shop.set(backchannel_logout_uri=receiver.url)
        tokens = await shop.tokens()
        world.connection.execute("UPDATE client_grants SET host = 'id.acme.example'")
        await shop.post("/auth/revoke", {"token": tokens["refresh_token"]})

        await dispatch(dispatcher, world)

        assert claims_of(token_of(receiver))["iss"] == "http://id.acme.example:8000"


@pytest.mark.parametrize("way", ["log_out", "end_all", "password", "organization", "removed", "anonymized", "reuse"])
async def test_every_way_to_end_a_session_tells_its_service(shop: RelyingParty, world: World, way: str) -> None:
    shop.set(backchannel_logout_uri=BACK)
    owner = await world.signed_in_member(shop.organization_id, email="owner@example.com")
    user_id = world.user_id(EMAIL)
    tokens = await shop.tokens()
    mine = await world.sign_in()
    client = world.client

    match way:
        case "log_out":
            answer = await client.post("/api/auth/logout", token=tokens["access_token"])
        case "end_all":
            answer = await client.delete("/api/user/sessions", token=mine.access_token)
        case "password":
            answer = await client.post(
                "/api/user/change-password",
                token=mine.access_token,
                body={"current_password": PASSWORD, "new_password": "another good password"},
            )
        case "organization":
            answer = await owner.delete(f"/api/organizations/acme/users/{user_id}/sessions")
        case "removed":
            answer = await client.delete(
                f"/api/user/sessions/{claims_of(tokens['access_token'])['sid']}", token=mine.access_token
            )
        case "anonymized":
            root = await world.signed_in_platform_owner()
            answer = await root.delete(f"/api/privacy/forget/{user_id}")
        case _:
            await shop.token("refresh_token", refresh_token=tokens["refresh_token"])
            world.clock.advance(timedelta(seconds=31))
            answer = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])
            assert answer.status == 400

    assert answer.status < 400 or way == "reuse", answer.text
    assert [str(notice.session_id) for notice in await due(world)] == [claims_of(tokens["access_token"])["sid"]]


async def test_a_refused_transaction_tells_nobody(shop: RelyingParty, world: World) -> None:
    shop.set(backchannel_logout_uri=BACK)
    tokens = await shop.tokens()
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    await other.post("/auth/revoke", {"token": tokens["refresh_token"]})

    assert await due(world) == []


async def test_a_session_that_merely_expires_tells_nobody(shop: RelyingParty, world: World) -> None:
    shop.set(backchannel_logout_uri=BACK)
    await shop.tokens()
    world.clock.advance(timedelta(days=200))
    world.connection.execute("DELETE FROM sessions")

    assert await due(world) == []


async def test_a_failed_attempt_is_repeated_on_the_schedule_and_then_given_up(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher:
        receiver.answers(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        shop.set(backchannel_logout_uri=receiver.url)
        await shop.post("/auth/revoke", {"token": (await shop.tokens())["refresh_token"]})

        await dispatch(dispatcher, world)
        for attempts, delay in enumerate(RETRY_DELAYS, start=1):
            world.clock.advance(delay * (1 - JITTER) - timedelta(seconds=1))
            await dispatch(dispatcher, world)
            assert len(receiver.received) == attempts
            world.clock.advance(delay * 2 * JITTER + timedelta(seconds=2))
            await dispatch(dispatcher, world)

        assert len(receiver.received) == ATTEMPTS_MAX
        assert world.value("SELECT count(*) FROM logout_notices") == 0


async def test_a_private_address_is_not_connected_to(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world, allowed=()) as dispatcher:
        shop.set(backchannel_logout_uri=receiver.url)
        await shop.post("/auth/revoke", {"token": (await shop.tokens())["refresh_token"]})

        await dispatch(dispatcher, world)

        assert receiver.connections == 0


async def test_a_service_that_wants_to_hear_no_more_is_told_nothing(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher:
        shop.set(backchannel_logout_uri=receiver.url)
        await shop.post("/auth/revoke", {"token": (await shop.tokens())["refresh_token"]})
        shop.set(backchannel_logout_uri=None)

        await dispatch(dispatcher, world)

        assert receiver.received == []
        assert world.value("SELECT count(*) FROM logout_notices") == 0


async def test_a_dispatcher_sends_by_itself_and_drains(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher, trio.open_nursery() as nursery:
        shop.set(backchannel_logout_uri=receiver.url)
        await shop.post("/auth/revoke", {"token": (await shop.tokens())["refresh_token"]})
        nursery.start_soon(dispatcher.run)

        await eventually(partial(is_empty, world))
        dispatcher.box.send(Drain())

    assert len(receiver.received) == 1


async def test_a_suspended_organization_is_told_when_it_is_active_again(shop: RelyingParty, world: World) -> None:
    shop.set(backchannel_logout_uri=BACK)
    await shop.post("/auth/revoke", {"token": (await shop.tokens())["refresh_token"]})
    world.set_organization_status(shop.organization_id, "suspended")

    while_suspended = await due(world)
    world.set_organization_status(shop.organization_id, "active")
    world.clock.advance(POSTPONEMENT)

    assert (while_suspended, len(await due(world))) == ([], 1)
