"""Shares of what organizations use together: of places, of the connections of a client, of requests to providers."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from ipaddress import ip_network
from uuid import UUID

import httpx
import pytest
import trio

from adapters.gateways.name_lookups import Shares
from adapters.gateways.outbound import of, outbound_client
from adapters.gateways.upstream_requests import REQUESTS_OF_AN_ORGANIZATION_MAX, UpstreamRequests
from core.sign_in.upstream.provider_answers import UpstreamFailed
from tests.receiver import Receiver, open_receiver
from tests.waiting import eventually

LOOPBACK = (ip_network("127.0.0.0/8"),)
ORGANIZATION, OTHER = UUID(int=1), UUID(int=2)
HOSTS = 10


async def never(_stream: trio.abc.Stream) -> None:
    """Give no answer."""
    await trio.sleep_forever()


async def are_connected(receivers: list[Receiver], count: int) -> bool:
    """Return whether the receivers have so many connections together."""
    return sum(receiver.connections for receiver in receivers) >= count


async def test_a_key_without_a_free_place_waits_and_others_do_not() -> None:
    shares = Shares(2)
    order: list[str] = []

    async def take(key: str, until: trio.Event) -> None:
        async with shares.place(key):
            order.append(key)
            await until.wait()

    done = trio.Event()
    async with trio.open_nursery() as nursery:
        for key in ("acme", "acme", "acme", "globex"):
            nursery.start_soon(take, key, done)
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(order) == ["acme", "acme", "globex"]
        done.set()

    assert sorted(order) == ["acme", "acme", "acme", "globex"]


async def test_a_key_is_forgotten_when_none_of_its_places_is_taken_or_awaited() -> None:
    shares = Shares(1)
    async with trio.open_nursery() as nursery:
        async with shares.place("acme"):
            nursery.start_soon(partial(_take_and_leave, shares))
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert shares.keys_count <= 1

    assert shares.keys_count == 0


async def _take_and_leave(shares: Shares) -> None:
    async with shares.place("acme"):
        """It waits for the place until it is cancelled."""


async def test_an_organization_has_a_share_of_the_connections_whatever_hosts_it_names() -> None:
    async with (
        open_receiver() as first,
        open_receiver() as second,
        open_receiver() as alive,
        outbound_client(LOOPBACK, connections_max=4, of_an_organization_max=2) as client,
        trio.open_nursery() as nursery,
    ):
        first.answering = second.answering = never
        for receiver in (first, second, first, second):
            nursery.start_soon(partial(client.get, receiver.url, extensions=of(ORGANIZATION)))
        await eventually(partial(are_connected, [first, second], 2))
        await trio.testing.wait_all_tasks_blocked(0.05)

        for _ in range(3):
            assert (await client.get(alive.url, extensions=of(OTHER))).is_success
        assert first.connections + second.connections == 2
        nursery.cancel_scope.cancel()


async def test_a_share_is_given_back_with_the_answer_and_when_a_request_fails() -> None:
    async with open_receiver() as closed:
        gone = closed.url
    async with (
        open_receiver() as receiver,
        outbound_client(LOOPBACK, of_an_organization_max=1) as client,
    ):
        for _ in range(2):
            with pytest.raises(httpx.ConnectError):
                await client.get(gone, extensions=of(ORGANIZATION))
            assert (await client.get(receiver.url, extensions=of(ORGANIZATION))).is_success
            async with client.stream("GET", receiver.url, extensions=of(ORGANIZATION)) as unread:
                assert unread.is_success


async def test_a_request_that_names_no_organization_is_a_defect() -> None:
    async with open_receiver() as receiver, outbound_client(LOOPBACK) as client:
        with pytest.raises(KeyError):
            await client.get(receiver.url)
        assert (await client.get(receiver.url, extensions=of(None))).is_success


async def test_ten_silent_providers_of_an_organization_leave_requests_to_those_of_others() -> None:
    refused: list[str] = []

    async def ask(requests: UpstreamRequests, url: str) -> None:
        try:
            await requests.get_bytes(ORGANIZATION, url)
        except UpstreamFailed as failed:
            refused.append(failed.problem)

    async with AsyncExitStack() as opened:
        silent = [await opened.enter_async_context(open_receiver()) for _ in range(HOSTS)]
        alive = await opened.enter_async_context(open_receiver())
        client = await opened.enter_async_context(outbound_client(LOOPBACK))
        nursery = await opened.enter_async_context(trio.open_nursery())
        requests = UpstreamRequests(client, version="1.2.3")
        for number in range(2 * REQUESTS_OF_AN_ORGANIZATION_MAX):
            receiver = silent[number % HOSTS]
            receiver.answering = never
            nursery.start_soon(ask, requests, receiver.url)
        await eventually(partial(are_connected, silent, REQUESTS_OF_AN_ORGANIZATION_MAX))

        assert (await requests.get_bytes(OTHER, alive.url))[0] == 200
        assert len(refused) == REQUESTS_OF_AN_ORGANIZATION_MAX
        assert set(refused) == {
            "Too many requests wait for answers of your organization's providers. Try again in a moment."
        }
        nursery.cancel_scope.cancel()
