"""Places: how they are shared out, who waits behind how many others, and that none is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from adapters.postgres.driver.places import Claim, Places, Share

TOTALS = [1, 2, 3, 4, 10]


@dataclass
class Desk:
    """Tasks that claim places and keep them until the test lets them go on, and the order in which they got them."""

    places: Places
    nursery: trio.Nursery
    granted: list[Share] = field(default_factory=list[Share])
    _doors: list[tuple[Share, trio.Event]] = field(default_factory=list[tuple[Share, trio.Event]])

    async def claim(self, *shares: Share) -> list[trio.CancelScope]:
        """Claim places in this order; return what cancels each claim."""
        scopes = [trio.CancelScope() for _ in shares]
        for share, scope in zip(shares, scopes, strict=True):
            self.nursery.start_soon(self._hold, share, scope)
            await trio.testing.wait_all_tasks_blocked()
        return scopes

    async def release(self, share: Share | None = None) -> None:
        """Give back the oldest place, or the oldest of a share."""
        index = next(at for at, (held, _) in enumerate(self._doors) if share in {None, held})
        _, door = self._doors.pop(index)
        door.set()
        await trio.testing.wait_all_tasks_blocked()

    async def release_all(self) -> None:
        """Give back every place, also those that are granted meanwhile."""
        while self._doors:
            await self.release()

    @property
    def held(self) -> Counter[Share]:
        """How many places each share has."""
        return Counter(share for share, _ in self._doors)

    async def _hold(self, share: Share, scope: trio.CancelScope) -> None:
        with scope:
            claim = self.places.claim(share)
            await claim.acquire()
            door = trio.Event()
            self.granted.append(share)
            self._doors.append((share, door))
            with trio.CancelScope(shield=True):
                await door.wait()
            claim.release()


def other(key: object) -> Share:
    return Share(key)


def sign_in(key: object) -> Share:
    return Share(key, is_sign_in=True)


def assert_is_empty(places: Places) -> None:
    assert places.statistics() == (0, 0, 0)
    assert places.keys_count == 0


@pytest.mark.parametrize(("total", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (10, 5), (11, 5)])
async def test_one_share_has_at_most_half_of_the_places(total: int, expected: int) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(total), nursery)

        await desk.claim(*[other("busy")] * 64)

        assert desk.held == {other("busy"): expected}
        assert desk.places.statistics() == (expected, 64 - expected, 0)
        await desk.release_all()
    assert_is_empty(desk.places)


@pytest.mark.parametrize(("total", "expected"), [(1, 1), (2, 1), (3, 2), (4, 3), (10, 8), (100, 75)])
async def test_a_quarter_of_the_places_is_for_sign_ins(total: int, expected: int) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(total), nursery)

        await desk.claim(*[other(number) for number in range(2 * total)])
        assert sum(desk.held.values()) == expected
        await desk.claim(*[sign_in(number) for number in range(2 * total)])

        assert sum(desk.held.values()) == total
        await desk.release_all()
    assert_is_empty(desk.places)


@pytest.mark.parametrize(("total", "expected"), [(2, 1), (4, 1), (8, 1), (16, 2), (40, 5)])
async def test_one_share_has_at_most_half_of_what_is_for_sign_ins(total: int, expected: int) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(total), nursery)
        await desk.claim(*[other(number) for number in range(total)])

        await desk.claim(*[sign_in("busy")] * 64)

        assert desk.held[sign_in("busy")] == expected
        await desk.claim(sign_in("stranger"))
        # Of a single reserved place nothing is left, so the stranger has the next turn.
        if not desk.held[sign_in("stranger")]:
            await desk.release(sign_in("busy"))
        assert desk.held[sign_in("stranger")] == 1
        await desk.release_all()
    assert_is_empty(desk.places)


@pytest.mark.parametrize("total", TOTALS)
async def test_a_share_waits_behind_one_claim_of_each_other_share(total: int) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(total), nursery)
        await desk.claim(*[other(name) for _ in range(64) for name in "abc"])

        await desk.claim(other("stranger"))
        before = len(desk.granted)
        while other("stranger") not in desk.granted:
            await desk.release()

        assert Counter(desk.granted[before:-1]) <= Counter(map(other, "abc"))
        await desk.release_all()
    assert_is_empty(desk.places)


async def test_the_claims_of_a_share_are_served_in_their_order() -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(2), nursery)

        await desk.claim(*[Share("one", row=number) for number in range(5)])
        await desk.release_all()

    assert [share.row for share in desk.granted] == [0, 1, 2, 3, 4]


async def test_a_place_that_is_free_is_taken_without_switching_tasks() -> None:
    places, others = Places(10), list[str]()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_note, others)
        claim = places.claim(other("one"))
        claim.acquire_nowait()
        claim.release()
        await claim.acquire()
        claim.release()
        assert others == []
    assert_is_empty(places)


async def _note(others: list[str]) -> None:
    others.append("ran")


async def test_claims_for_one_row_have_one_place_and_others_go_past_them() -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(10), nursery)
        writing, reading, elsewhere = Share("org", row="org"), Share("org"), Share("network", row="token")

        await desk.claim(*[writing] * 48, *[reading] * 3, *[elsewhere] * 2)

        assert desk.held == {writing: 1, reading: 3, elsewhere: 1}
        await desk.release(writing)
        assert desk.held == {writing: 1, reading: 3, elsewhere: 1}
        assert desk.granted.count(writing) == 2
        await desk.release_all()
    assert_is_empty(desk.places)


async def test_a_claim_for_a_row_that_is_cancelled_lets_the_next_one_pass() -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(Places(2), nursery)
        await desk.claim(other("busy"))
        writing = Share("org", row="org")
        # The first waits for a place, the others for the row.
        first, second, _third = await desk.claim(writing, writing, writing)

        second.cancel()
        first.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert desk.places.statistics().waiting == 1
        await desk.release()

        assert desk.held == {writing: 1}
        await desk.release_all()
    assert_is_empty(desk.places)


async def test_a_claim_that_is_cancelled_when_it_has_its_place_gives_it_back() -> None:
    places = Places(1)
    first = places.claim(other("first"))
    await first.acquire()

    async def wait(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            task_status.started(scope)
            claim = places.claim(other("second"))
            await claim.acquire()
            try:
                await trio.lowlevel.checkpoint()
            finally:
                claim.release()

    async with trio.open_nursery() as nursery:
        scope = await nursery.start(wait)
        await trio.testing.wait_all_tasks_blocked()
        first.release()
        # The place was granted before, so it is taken all the same.
        scope.cancel()

    assert scope.cancelled_caught
    assert_is_empty(places)


SHARES = st.builds(
    Share,
    st.sampled_from("abc"),
    is_sign_in=st.booleans(),
    row=st.sampled_from([None, None, "x", "y"]),
)


@given(
    total=st.sampled_from(TOTALS),
    steps=st.lists(st.one_of(SHARES, st.integers(min_value=0, max_value=30)), max_size=60),
    cancels=st.booleans(),
)
def test_whatever_is_claimed_released_and_cancelled_no_limit_is_exceeded_and_no_place_lost(
    total: int, steps: list[Share | int], cancels: bool
) -> None:
    async def run() -> None:
        async with trio.open_nursery() as nursery:
            desk = Desk(Places(total), nursery)
            scopes: list[trio.CancelScope] = []
            for step in steps:
                if isinstance(step, Share):
                    scopes += await desk.claim(step)
                elif cancels and step < len(scopes):
                    scopes[step].cancel()
                    await trio.testing.wait_all_tasks_blocked()
                elif desk.held:
                    await desk.release()
                _assert_is_shared_out(desk, total)
            await desk.release_all()
        assert_is_empty(desk.places)
        assert _free_places(desk.places, total) == total

    trio.run(run)


def _assert_is_shared_out(desk: Desk, total: int) -> None:
    held, half, reserved = desk.held, max(1, total // 2), min(max(1, total // 4), total - 1)
    assert desk.places.statistics().taken == sum(held.values()) <= total
    by_key = Counter[tuple[object, bool]]()
    by_row = Counter[object]()
    for share, number in held.items():
        by_key[share.key, share.is_sign_in] += number
        by_row[share.row] += number
    assert max(by_key.values(), default=0) <= half
    assert all(number == 1 for row, number in by_row.items() if row is not None)
    assert sum(number for (_, is_sign_in), number in by_key.items() if not is_sign_in) <= total - reserved


def _free_places(places: Places, total: int) -> int:
    claims: list[Claim] = []
    for number in range(total):
        claim = places.claim(sign_in(number))
        claim.acquire_nowait()
        claims.append(claim)
    with pytest.raises(trio.WouldBlock):
        places.claim(sign_in("one more")).acquire_nowait()
    for claim in claims:
        claim.release()
    return len(claims)
