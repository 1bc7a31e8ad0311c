"""Turns: whether this process does the periodic work of the installation."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from actors.turns import MemoryTurns


async def test_a_turn_is_waited_for_begins_and_ends(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    turns = MemoryTurns()
    with trio.move_on_after(10) as before:
        await turns.wait()
    turns.give(is_ours=True)
    turns.give(is_ours=True)
    await turns.wait()
    was_ours = turns.is_ours

    turns.give(is_ours=False)
    turns.give(is_ours=False)

    assert (before.cancelled_caught, was_ours, turns.is_ours) == (True, True, False)
