"""Deliveries over real connections: signed, and limited in time and size."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections import Counter
from functools import partial

import pytest
import trio
from trio.testing import MockClock

from adapters.gateways.attempts import HttpWebhookSender
from adapters.gateways.outbound import outbound_client
from core.attempts import RESPONSE_CHARACTERS_MAX, Attempt
from tests.adapters.webhooks.sending import (
    DELIVERY,
    EVENT,
    KEYS,
    LOOPBACK,
    NOW,
    ORGANIZATION_ID,
    PAYLOAD,
    SECRETS,
    attempt,
)
from tests.receiver import Receiver, open_receiver


class TestRequest:
    """What a receiver gets."""

    async def test_the_body_is_the_payload_in_the_documented_order(self, receiver: Receiver) -> None:
        await attempt(receiver.url)

        [received] = receiver.received
        assert received.payload == PAYLOAD
        assert list(received.payload) == list(PAYLOAD)
        assert "größe".encode() in received.body
        assert received.headers["content-type"] == "application/json"
        assert received.headers["user-agent"] == "Gatehouse/1.2.3"
        assert received.target == "/hook"

    async def test_every_secret_signs_id_time_and_body(self, receiver: Receiver) -> None:
        await attempt(receiver.url, secrets=2)

        [received] = receiver.received
        headers = received.headers
        assert (headers["webhook-id"], headers["webhook-timestamp"]) == (EVENT, str(int(NOW.timestamp())))
        signed = f"{EVENT}.{int(NOW.timestamp())}.".encode() + received.body
        assert headers["webhook-signature"].split(" ") == [
            "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in KEYS
        ]

    async def test_every_attempt_has_the_same_body_and_id(self, receiver: Receiver) -> None:
        await attempt(receiver.url)
        await attempt(receiver.url)

        first, second = receiver.received
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"]


class TestAnswer:
    """What is kept of an answer."""

    async def test_a_success_is_kept_with_its_body(self, receiver: Receiver) -> None:
        assert await attempt(receiver.url) == Attempt(status_code=200, body="fine", error=None)

    @pytest.mark.parametrize("status", [400, 410, 500])
    async def test_another_status_is_a_failure_that_says_so(self, receiver: Receiver, status: int) -> None:
        receiver.answers(f"HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nno".encode())

        assert await attempt(receiver.url) == Attempt(
            status_code=status, body="no", error=f"The receiver answered {status}."
        )

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_a_redirect_is_not_followed(self, receiver: Receiver, status: int) -> None:
        async with open_receiver() as other:
            receiver.answers(f"HTTP/1.1 {status} Moved\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n".encode())

            found = await attempt(receiver.url)

        assert found.status_code == status
        assert "not followed" in (found.error or "")
        assert (len(receiver.received), other.received) == (1, [])

    async def test_the_first_10000_characters_of_the_body_are_kept(self, receiver: Receiver) -> None:
        body = ("ü" * (RESPONSE_CHARACTERS_MAX + 5)).encode()
        receiver.answers(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

        assert (await attempt(receiver.url)).body == "ü" * RESPONSE_CHARACTERS_MAX

    async def test_a_body_that_is_no_text_is_kept_as_far_as_it_can_be_stored(self, receiver: Receiver) -> None:
        receiver.answers(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na\0b\xff!")

        assert (await attempt(receiver.url)).body == "a\ufffdb\ufffd!"

    async def test_a_compressed_body_is_not_unpacked(self, receiver: Receiver) -> None:
        receiver.answers(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")

        assert (await attempt(receiver.url)).body == "abc"

    async def test_an_endless_body_is_not_read_to_its_end(self, receiver: Receiver) -> None:
        sent = Counter[str]()

        async def endless(stream: trio.abc.Stream) -> None:
            await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                await stream.send_all(b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n")
                sent["chunks"] += 1

        receiver.answering = endless

        found = await attempt(receiver.url)

        assert found == Attempt(status_code=200, body="x" * RESPONSE_CHARACTERS_MAX, error=None)

    @pytest.mark.parametrize(
        "answer",
        [
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfine",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\nzz",
        ],
    )
    async def test_the_status_counts_although_the_body_is_cut_off(self, receiver: Receiver, answer: bytes) -> None:
        async def cut_off(stream: trio.abc.Stream) -> None:
            await stream.send_all(answer)
            await stream.aclose()

        receiver.answering = cut_off

        assert await attempt(receiver.url) == Attempt(status_code=200, body="fine", error=None)

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"\0\0\0\0\r\n\r\n",
            b"HTTP/1.1 20",
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfine",
            b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
            b"HTTP/1.1 999999 OK\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.6\r\n",
        ],
        ids=["nothing", "nul", "half a line", "no length", "two lengths", "endless header", "no status", "ssh"],
    )
    async def test_an_answer_that_is_no_http_is_a_failure_that_says_why(
        self, receiver: Receiver, answer: bytes
    ) -> None:
        async def nonsense(stream: trio.abc.Stream) -> None:
            await stream.send_all(answer)
            await stream.aclose()

        receiver.answering = nonsense

        found = await attempt(receiver.url)

        assert (found.status_code, found.body) == (None, None)
        assert found.error

    async def test_a_closed_port_is_a_failure_that_says_why(self) -> None:
        async with open_receiver() as closed:
            url = closed.url

        found = await attempt(url)

        assert found.status_code is None
        assert found.error


class TestTime:
    """An attempt takes at most 15 seconds, whatever the receiver does."""

    async def test_a_receiver_that_never_answers_fails_after_15_seconds(self, autojump_clock: MockClock) -> None:
        async with open_receiver() as receiver:
            receiver.answering = _never
            began_at = trio.current_time()

            found = await attempt(receiver.url)

            assert trio.current_time() - began_at == pytest.approx(15, abs=4)
        assert found == Attempt(status_code=None, body=None, error="The receiver did not answer within 15 seconds.")

    async def test_headers_that_come_byte_by_byte_fail_after_15_seconds(self, autojump_clock: MockClock) -> None:
        async with open_receiver() as receiver:
            receiver.answering = partial(_drip, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100)
            began_at = trio.current_time()

            found = await attempt(receiver.url)

            assert trio.current_time() - began_at == pytest.approx(15, abs=4)
        assert found.status_code is None

    async def test_a_body_that_comes_byte_by_byte_ends_after_15_seconds_and_the_status_counts(
        self, autojump_clock: MockClock
    ) -> None:
        async with open_receiver() as receiver:

            async def slow_body(stream: trio.abc.Stream) -> None:
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                await _drip(b"x" * 1000, stream)

            receiver.answering = slow_body
            began_at = trio.current_time()

            found = await attempt(receiver.url)

            assert trio.current_time() - began_at == pytest.approx(15, abs=4)
        assert (found.status_code, found.error) == (200, None)
        assert set(found.body or "") == {"x"}


class TestConnections:
    """Connections are kept, and none of them is one that the receiver has closed."""

    async def test_a_connection_that_the_receiver_closed_is_replaced(self, receiver: Receiver) -> None:
        async def answer_and_close(stream: trio.abc.Stream) -> None:
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await stream.aclose()

        async with outbound_client(LOOPBACK) as client:
            sender = HttpWebhookSender(client, version="1.2.3")
            await sender.send(ORGANIZATION_ID, receiver.url, DELIVERY, SECRETS[:1], at=NOW)
            await sender.send(ORGANIZATION_ID, receiver.url, DELIVERY, SECRETS[:1], at=NOW)
            assert receiver.connections == 1
            receiver.answering = answer_and_close
            for _ in range(3):
                assert (await sender.send(ORGANIZATION_ID, receiver.url, DELIVERY, SECRETS[:1], at=NOW)).is_success
                await trio.testing.wait_all_tasks_blocked(0.01)

        assert receiver.connections == 3

    async def test_a_receiver_that_never_answers_leaves_connections_to_others(self, autojump_clock: MockClock) -> None:
        async with (
            open_receiver() as dead,
            open_receiver() as alive,
            outbound_client(LOOPBACK, connections_max=3) as client,
        ):
            dead.answering = _never
            sender = HttpWebhookSender(client, version="1.2.3")
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(partial(sender.send, ORGANIZATION_ID, dead.url, DELIVERY, SECRETS[:1], at=NOW))
                await trio.sleep(1)
                began_at = trio.current_time()
                assert (await sender.send(ORGANIZATION_ID, alive.url, DELIVERY, SECRETS[:1], at=NOW)).is_success
                assert trio.current_time() - began_at < 1


async def _never(stream: trio.abc.Stream) -> None:
    await trio.sleep_forever()


async def _drip(data: bytes, stream: trio.abc.Stream) -> None:
    for byte in data:
        await stream.send_all(bytes([byte]))
        await trio.sleep(1)
