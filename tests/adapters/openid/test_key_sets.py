"""Key sets of clients over HTTP: remembered, fetched by one request at a time, and limited in size and place."""

from __future__ import annotations

import ipaddress
import json
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from adapters.gateways.key_sets import (
    ADDRESSES_MAX,
    ADDRESSES_OF_AN_ORGANIZATION_MAX,
    BYTES_MAX,
    KEPT_SECONDS,
    PAUSE_SECONDS,
    REMEMBERED_SECONDS,
    HttpKeySets,
)
from adapters.gateways.outbound import outbound_client
from tests.receiver import Receiver, open_receiver
from tests.waiting import eventually
from tests.world.workload_issuer import running_issuer

ORGANIZATION_ID = UUID(int=9)
KEYS = {"keys": [{"kty": "EC", "kid": "one"}]}
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


class Time:
    """The seconds that the key sets count."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def opened(
    receiver: Receiver, answer: Any, *, allowed: Any = LOOPBACK
) -> AsyncGenerator[tuple[HttpKeySets, Time]]:
    """Return the key sets, and the time; the receiver answers with this body."""
    answers(receiver, answer)
    time = Time()
    async with outbound_client(allowed) as client:
        yield HttpKeySets(client, monotonic_seconds=time), time


def answers(receiver: Receiver, answer: Any, status: str = "200 OK") -> None:
    """Let the receiver answer with this body."""
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    receiver.answers(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


async def test_a_key_set_is_fetched_once_and_remembered() -> None:
    async with open_receiver() as receiver, opened(receiver, KEYS) as (key_sets, time):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(key_sets.fetch, ORGANIZATION_ID, receiver.url)
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) == KEYS
        assert len(receiver.received) == 1

        time.now += REMEMBERED_SECONDS + 1
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) == KEYS
        assert len(receiver.received) == 2


async def test_an_unknown_key_asks_again_but_not_at_once() -> None:
    async with open_receiver() as receiver, opened(receiver, KEYS) as (key_sets, time):
        await key_sets.fetch(ORGANIZATION_ID, receiver.url)
        answers(receiver, {"keys": []})

        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url, is_fresh=True) == KEYS
        time.now += PAUSE_SECONDS + 1
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url, is_fresh=True) == {"keys": []}


@pytest.mark.parametrize("answer", [b"nonsense", [], {}, {"keys": {}}, b" " * (BYTES_MAX + 1), b"[" * 50_000], ids=str)
async def test_what_is_no_key_set_is_none(answer: Any) -> None:
    async with open_receiver() as receiver, opened(receiver, answer) as (key_sets, _):
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) is None


async def test_a_refusal_is_no_key_set_and_is_asked_again_later() -> None:
    async with open_receiver() as receiver, opened(receiver, KEYS) as (key_sets, time):
        answers(receiver, KEYS, "404 Not Found")
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) is None
        answers(receiver, KEYS)
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) is None
        time.now += PAUSE_SECONDS + 1

        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) == KEYS


async def test_a_private_address_is_not_asked() -> None:
    async with open_receiver() as receiver, opened(receiver, KEYS, allowed=()) as (key_sets, _):
        assert await key_sets.fetch(ORGANIZATION_ID, receiver.url) is None
        assert receiver.connections == 0


async def test_the_number_of_remembered_addresses_is_bounded() -> None:
    async with open_receiver() as receiver, opened(receiver, KEYS, allowed=()) as (key_sets, _):
        address = f"http://127.0.0.1:{receiver.port}"
        for number in range(ADDRESSES_OF_AN_ORGANIZATION_MAX + 10):
            await key_sets.fetch(ORGANIZATION_ID, f"{address}/{number}")
        assert key_sets.remembered_count == ADDRESSES_OF_AN_ORGANIZATION_MAX
        for number in range(ADDRESSES_MAX):
            await key_sets.fetch(UUID(int=10 + number), address)

        assert key_sets.remembered_count == ADDRESSES_MAX


class TestDiscovery:
    """The keys of issuers, found by their discovery documents."""

    async def test_the_keys_of_an_issuer_are_found_and_kept_for_a_day_while_it_is_away(self) -> None:
        with running_issuer() as issuer:
            async with outbound_client(LOOPBACK) as client:
                time = Time()
                key_sets = HttpKeySets(client, monotonic_seconds=time)
                discover = partial(key_sets.discover, ORGANIZATION_ID, issuer.url)
                fetch = partial(key_sets.fetch, ORGANIZATION_ID, f"{issuer.url}/keys")
                found = await discover()

                assert found is not None
                assert [one["kid"] for one in found["keys"]] == ["1"]
                assert [one.path for one in issuer.requests] == ["/.well-known/openid-configuration", "/keys"]
                assert await fetch(is_kept=True) == await fetch() == found
                issuer.is_away = True
                time.now = REMEMBERED_SECONDS + 1
                assert await discover() == await fetch(is_kept=True) == await discover(is_fresh=True) == found
                assert await fetch() is None
                asked = len(issuer.requests)
                assert await discover() == found
                assert len(issuer.requests) == asked
                time.now = KEPT_SECONDS
                assert await discover() == await fetch(is_kept=True) == found
                time.now = KEPT_SECONDS + PAUSE_SECONDS + 1
                assert await discover() is await fetch(is_kept=True) is None

    async def test_a_document_of_another_issuer_or_without_usable_keys_is_none(self, subtests: pytest.Subtests) -> None:
        with running_issuer() as issuer:
            async with outbound_client(LOOPBACK) as client:
                for document in (
                    {"issuer": f"{issuer.url}/"},
                    {"issuer": "https://token.actions.githubusercontent.com"},
                    {"jwks_uri": "http://other.example/keys"},
                    {"jwks_uri": 7},
                    {"jwks_uri": None},
                ):
                    with subtests.test(document=document):
                        issuer.document = document
                        assert await HttpKeySets(client).discover(ORGANIZATION_ID, issuer.url) is None
                issuer.document = {}
                issuer.body = b" " * (BYTES_MAX + 1)
                assert await HttpKeySets(client).discover(ORGANIZATION_ID, issuer.url) is None

    async def test_a_private_address_that_a_document_names_is_not_asked(self) -> None:
        with running_issuer() as issuer:
            async with outbound_client(LOOPBACK) as client:
                issuer.document = {"jwks_uri": "https://10.0.0.7/keys"}

                assert await HttpKeySets(client).discover(ORGANIZATION_ID, issuer.url) is None
                assert len(issuer.requests) == 1

    async def test_what_is_known_is_used_at_once_while_a_slow_issuer_is_asked_for_newer_keys(self) -> None:
        with running_issuer() as issuer:
            async with outbound_client(LOOPBACK) as client, trio.open_nursery() as nursery:
                time = Time()
                key_sets = HttpKeySets(client, monotonic_seconds=time)
                discover = partial(key_sets.discover, ORGANIZATION_ID, issuer.url)
                found = await discover()
                issuer.waiting = threading.Event()
                time.now = REMEMBERED_SECONDS + 1
                nursery.start_soon(partial(discover, is_fresh=True))

                async def is_asked() -> bool:
                    return len(issuer.requests) == 4

                await eventually(is_asked)

                assert await discover() == found
                issuer.waiting.set()
