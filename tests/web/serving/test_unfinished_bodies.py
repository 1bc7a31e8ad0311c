"""Bodies that are not complete: their room is shared, no sender takes all of it, and all of it comes back."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from core.limits import BODY_BYTES_MAX, LARGE_BODY_BYTES_MAX
from core.rate_limits import RateLimit
from entrypoints.server import FLOOD_ENDS_SECONDS, RETURNED_AGAIN_SECONDS_MIN, Server, listen
from entrypoints.setting_kinds import Bind
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.unfinished_bodies import (
    BYTES_MAX,
    FLOOD_BYTES_MIN,
    UNCOUNTED_BYTES_MAX,
    UNCOUNTED_OF_LARGE_BYTES_MAX,
    Flood,
    UnfinishedBodies,
)
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.waiting import WAIT_SECONDS_MAX
from tests.web.probe import serving
from tests.web.serving.connections.wires import Note, routes, running

SMALL = 1_000
HEAD = b"POST /notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n\r\n"
PART = b" " * 30_000
LARGE_BYTES = 200_000
LARGE_HEAD = b"POST /large HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 400_000), st.booleans()), max_size=60))
def test_no_sender_has_more_than_is_free_and_everything_comes_back(steps: list[tuple[int, int, bool]]) -> None:
    bodies = UnfinishedBodies(bytes_max=2**21, uncounted_bytes_max=0)
    kept = {number: bodies.begin(f"network {number}") for number in range(6)}
    counted = dict.fromkeys(kept, 0)
    for number, size, is_over in steps:
        if is_over:
            kept[number].end()
            counted[number] = 0
        elif kept[number].grow(size):
            counted[number] += size
            assert counted[number] <= 2**20 - sum(counted.values())
        assert bodies.bytes_kept == sum(counted.values())

    assert sum(counted.values()) < 2**20
    newcomer = bodies.begin("a newcomer")
    assert newcomer.grow((2**20 - sum(counted.values())) // 2)
    for body in (*kept.values(), newcomer):
        body.end()
        body.end()
    assert bodies.bytes_kept == 0


def test_a_verified_sender_has_the_other_half() -> None:
    bodies = UnfinishedBodies(bytes_max=100 * SMALL, uncounted_bytes_max=0)
    stranger, known = bodies.begin("network"), bodies.begin("network")
    assert stranger.grow(20 * SMALL)
    assert known.grow(5 * SMALL)
    assert not known.grow(SMALL)

    assert known.belongs_to("organization")
    assert known.grow(20 * SMALL)
    assert not known.grow(SMALL)
    assert bodies.begin("another network").grow(10 * SMALL)


def test_a_large_body_counts_until_it_is_answered() -> None:
    bodies = UnfinishedBodies(uncounted_bytes_max=0)
    small, large = bodies.begin("network"), bodies.begin("network")
    assert small.grow(BODY_BYTES_MAX)
    assert large.grow(BODY_BYTES_MAX + 1)

    small.complete()
    large.complete()

    assert bodies.bytes_kept == BODY_BYTES_MAX + 1
    large.end()
    assert bodies.bytes_kept == 0


def fill(bodies: UnfinishedBodies) -> int:
    """Begin bodies of a few networks until no other one has room for more; return how many bodies there are."""
    begun = 0
    for number in range(30):
        size = BODY_BYTES_MAX - 1
        while size:
            body = bodies.begin(f"network {number}")
            if body.grow(UNCOUNTED_BYTES_MAX) and body.grow(size):
                begun += 1
            else:
                size //= 2
    return begun


def test_a_few_hundred_bodies_do_not_stop_small_ones_of_others() -> None:
    bodies = UnfinishedBodies()

    assert fill(bodies) < 1_000
    assert bodies.bytes_kept > BYTES_MAX // 2 - SMALL
    newcomer, larger = bodies.begin("a newcomer"), bodies.begin("another newcomer")
    assert newcomer.grow(SMALL)
    assert newcomer.grow(UNCOUNTED_BYTES_MAX - SMALL)
    assert not larger.grow(UNCOUNTED_BYTES_MAX + SMALL)


def test_a_verified_body_that_has_not_begun_is_counted_for_its_sender() -> None:
    bodies = UnfinishedBodies(bytes_max=100 * SMALL, uncounted_bytes_max=0)
    body = bodies.begin("network")

    assert body.belongs_to("organization")
    assert body.grow(20 * SMALL)
    assert bodies.share(is_verified=False).free == 50 * SMALL
    body.end()
    assert bodies.bytes_kept == 0


class Verifying:
    """A route with a large body, which verifies its sender when the test lets it."""

    def __init__(self) -> None:
        self.routes = Routes("large", "A route of this test.")
        self.begun = trio.Event()
        self.may_end = trio.Event()

        async def verify(_call: Call, _words: object) -> None:
            self.begun.set()
            await self.may_end.wait()

        @self.routes.post("/large", body_bytes_max=LARGE_BODY_BYTES_MAX, verify_sender=verify)
        @public
        async def take(call: Call, body: Note) -> Note:
            """Take a body."""
            return Note(text="taken")


async def test_a_large_body_is_taken_of_a_verified_sender_while_strangers_have_all_their_room() -> None:
    verifying = Verifying()
    application = serving(verifying.routes)
    fill(application.unfinished_bodies)
    async with running(application) as server:
        length = b"Content-Length: %d\r\n\r\n" % LARGE_BYTES
        wire = await server.connect()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wire.send, LARGE_HEAD + length + b" " * (LARGE_BYTES - 2) + b"{}")
            await verifying.begun.wait()
            await trio.testing.wait_all_tasks_blocked()
            verifying.may_end.set()
            answer = await wire.answer()

    assert answer.status == 200


@pytest.mark.parametrize("head", [b"Content-Length: %d\r\n\r\n", b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n"])
async def test_a_body_that_comes_after_its_sender_is_verified_is_none_of_a_stranger(head: bytes) -> None:
    verifying = Verifying()
    application = serving(verifying.routes)
    bodies = application.unfinished_bodies
    async with running(application) as server:
        wire = await server.connect()
        await wire.send(LARGE_HEAD + head % LARGE_BYTES)
        verifying.may_end.set()
        await verifying.begun.wait()
        await trio.testing.wait_all_tasks_blocked()
        await wire.send(b" " * (LARGE_BYTES - 2))
        await until_kept(bodies, LARGE_BYTES - 2 - UNCOUNTED_OF_LARGE_BYTES_MAX)

        assert bodies.share(is_verified=False).free == BYTES_MAX // 2


async def test_a_large_body_that_is_verified_by_its_content_is_counted_as_any_other() -> None:
    messages = Routes("messages", "A route of this test.")

    @messages.post("/large", body_bytes_max=LARGE_BODY_BYTES_MAX, is_verified_by_content=True, limits=(RateLimit.SAML,))
    @public
    async def take(call: Call, body: Note) -> Note:
        """Take a message."""
        return Note(text="taken")

    application = serving(messages)
    bodies = application.unfinished_bodies
    async with running(application) as server:
        wire = await server.connect()
        await wire.send(LARGE_HEAD + b"Content-Length: %d\r\n\r\n" % LARGE_BYTES + PART)
        await until_kept(bodies, len(PART) - UNCOUNTED_BYTES_MAX)
        await wire.send(b" " * (LARGE_BYTES - len(PART) - 2) + b"{}")

        assert (await wire.answer()).status == 200
    assert bodies.bytes_kept == 0


async def test_a_flood_is_over_once_when_a_quarter_is_left() -> None:
    flood, ends = Flood(least=100), list[int]()

    async def count_ends() -> None:
        while True:
            await flood.is_over()
            ends.append(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count_ends)
        for number in (99, 10, 0, 100, 26, 25, 24, 0, 400, 100):
            flood.note(number)
            await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()

    assert len(ends) == 2


async def test_bodies_without_room_are_refused_and_others_are_answered() -> None:
    application = serving(routes)
    application.unfinished_bodies = UnfinishedBodies(bytes_max=4 * len(PART), uncounted_bytes_max=0)
    async with running(application) as server:
        first, second = await server.connect(), await server.connect()
        await first.send(HEAD + PART)
        await until_kept(application.unfinished_bodies, len(PART))
        await second.send(HEAD + PART)
        refused = await second.answer()

        assert refused.status == 503
        assert refused.headers["retry-after"] == "5"
        assert refused.headers["connection"] == "close"
        elsewhere = await server.connect(from_address="127.0.0.2")
        await elsewhere.send(HEAD[:-10] + b"2\r\n\r\n{}")
        await until_kept(application.unfinished_bodies, len(PART))
        await first.send(b" " * 9_998 + b"{}")
        assert (await first.answer()).status == 200
        assert application.unfinished_bodies.bytes_kept == 0


async def test_a_body_whose_client_leaves_is_forgotten() -> None:
    application = serving(routes)
    application.unfinished_bodies = UnfinishedBodies(uncounted_bytes_max=0)
    async with running(application) as server:
        wire = await server.connect()
        await wire.send(HEAD + PART)
        await until_kept(application.unfinished_bodies, len(PART))
        await wire.stream.aclose()

        await until_kept(application.unfinished_bodies, 0)


async def test_memory_is_returned_when_a_flood_of_bodies_has_ended(autojump_clock: Any) -> None:
    returned, stopping = trio.Event(), trio.Event()
    token = trio.lowlevel.current_trio_token()

    def note() -> None:
        trio.from_thread.run_sync(returned.set, trio_token=token)

    application = serving(routes)
    with listen(Bind("127.0.0.1", 0)) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Server(application, listener, 5.0, return_memory=note).serve, stopping)
            body = application.unfinished_bodies.begin("network")
            assert body.grow(FLOOD_BYTES_MIN + UNCOUNTED_BYTES_MAX)
            assert not returned.is_set()
            body.end()

            with trio.fail_after(WAIT_SECONDS_MAX):
                await returned.wait()
            nursery.cancel_scope.cancel()


async def test_floods_one_after_the_other_collect_garbage_once_a_minute(autojump_clock: Any) -> None:
    returned_at, stopping = list[float](), trio.Event()
    token = trio.lowlevel.current_trio_token()

    def note() -> None:
        trio.from_thread.run_sync(lambda: returned_at.append(trio.current_time()), trio_token=token)

    application = serving(routes)
    with listen(Bind("127.0.0.1", 0)) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Server(application, listener, 5.0, return_memory=note).serve, stopping)
            for _ in range(40):
                body = application.unfinished_bodies.begin("network")
                assert body.grow(FLOOD_BYTES_MIN + UNCOUNTED_BYTES_MAX)
                body.end()
                await trio.sleep(FLOOD_ENDS_SECONDS + 1)
            nursery.cancel_scope.cancel()

    pauses = [later - earlier for earlier, later in itertools.pairwise(returned_at)]
    assert len(pauses) == 1
    assert pauses[0] >= RETURNED_AGAIN_SECONDS_MIN


async def until_kept(bodies: UnfinishedBodies, number: int) -> None:
    """Wait until so many bytes are kept."""
    with trio.fail_after(WAIT_SECONDS_MAX):
        while bodies.bytes_kept != number:
            await trio.lowlevel.checkpoint()
