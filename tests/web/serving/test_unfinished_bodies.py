"""Bodies that are not complete: their room is shared, nobody takes all of it, and all of it comes back."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from core.limits import BODY_BYTES_MAX
from entrypoints.server import Server, listen
from entrypoints.setting_kinds import Bind
from entrypoints.web.serving.floods import Flood
from entrypoints.web.serving.unfinished_bodies import FLOOD_BYTES_MIN, UnfinishedBodies
from tests.waiting import WAIT_SECONDS_MAX
from tests.web.probe import serving
from tests.web.serving.connections.wires import routes, running

SMALL = 1_000
HEAD = b"POST /notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 40000\r\n\r\n"
PART = b" " * 30_000


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 400_000), st.booleans()), max_size=60))
def test_no_sender_has_more_than_is_free_and_everything_comes_back(steps: list[tuple[int, int, bool]]) -> None:
    bodies = UnfinishedBodies(bytes_max=2**21)
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
    bodies = UnfinishedBodies(bytes_max=100 * SMALL)
    stranger, known = bodies.begin("network"), bodies.begin("network")
    assert stranger.grow(20 * SMALL)
    assert known.grow(5 * SMALL)
    assert not known.grow(SMALL)

    assert known.belongs_to("organization")
    assert known.grow(20 * SMALL)
    assert not known.grow(SMALL)
    assert bodies.begin("another network").grow(10 * SMALL)


def test_a_large_body_counts_until_it_is_answered() -> None:
    bodies = UnfinishedBodies()
    small, large = bodies.begin("network"), bodies.begin("network")
    assert small.grow(BODY_BYTES_MAX)
    assert large.grow(BODY_BYTES_MAX + 1)

    small.complete()
    large.complete()

    assert bodies.bytes_kept == BODY_BYTES_MAX + 1
    large.end()
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
    application.unfinished_bodies = UnfinishedBodies(bytes_max=4 * len(PART))
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
    async with running(application) as server:
        wire = await server.connect()
        await wire.send(HEAD + PART)
        await until_kept(application.unfinished_bodies, len(PART))
        await wire.stream.aclose()

        await until_kept(application.unfinished_bodies, 0)


@pytest.mark.usefixtures("autojump_clock")
async def test_memory_is_returned_when_a_flood_of_bodies_has_ended() -> None:
    returned, stopping = trio.Event(), trio.Event()
    token = trio.lowlevel.current_trio_token()

    def note() -> None:
        trio.from_thread.run_sync(returned.set, trio_token=token)

    application = serving(routes)
    with listen(Bind("127.0.0.1", 0)) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Server(application, listener, 5.0, return_memory=note).serve, stopping)
            body = application.unfinished_bodies.begin("network")
            assert body.grow(FLOOD_BYTES_MIN)
            assert not returned.is_set()
            body.end()

            with trio.fail_after(WAIT_SECONDS_MAX):
                await returned.wait()
            nursery.cancel_scope.cancel()


async def until_kept(bodies: UnfinishedBodies, number: int) -> None:
    """Wait until so many bytes are kept."""
    with trio.fail_after(WAIT_SECONDS_MAX):
        while bodies.bytes_kept != number:
            await trio.lowlevel.checkpoint()
